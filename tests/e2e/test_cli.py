"""The command line: what its help shows works, and it is quick, quiet where no one looks, and needs no torch to run."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import rushlight as rl
from tests.e2e.command import Command, images, listing, process, save, seeded

COMMANDS = ("", "compile", "run", "report", "targets")
BIN = Path(sys.executable).parent
#: Makes ``import torch`` fail, and that of anything that comes with it.
WITHOUT_TORCH = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchao"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def words(text: str) -> str:
    """Text without frames and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page on which no line of help is broken."""
    monkeypatch.setenv("COLUMNS", "400")


# --- help


@pytest.mark.usefixtures("wide")
def test_the_examples_of_help_work_as_they_stand(folder: Path, rushlight: Command) -> None:
    for path in folder.iterdir():
        path.rename(folder.parent / path.name)
    (folder.parent / "x.npz").rename(folder / "x.npz")
    helps = {name: rushlight(*filter(None, (name, "--help"))) for name in COMMANDS}
    assert {(said.code, said.err) for said in helps.values()} == {(0, "")}
    files = [line for line in helps["compile"].out.splitlines() if "torch.export.save" in line]
    (statements,) = [re.findall(r"torch\.export\.save\(.*\.pt2\"\)|numpy\.savez\([^)]*\)", line) for line in files]
    assert len(statements) == 2
    for statement in statements:
        exec(
            statement,
            {"torch": torch, "numpy": np, "model": seeded(), "x": torch.rand(1, 1, 8, 8), "images": images(9)},
        )
    examples: dict[str, list[str]] = {}
    for name, said in helps.items():
        examples[name] = []
        for line in said.out.splitlines():
            if line.strip().startswith(("Example:", "then ", "or ")):
                examples[name] += re.findall(r"rushlight \w+(?: (?!and )\S+)*", line)
        assert examples[name], f"the help of {name} shows no example"
    assert examples[""] == [examples[name][0] for name in ("compile", "run", "report")]
    for example in (*examples[""], examples["report"][1], *examples["targets"]):
        environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(shlex.split(example), env=environment, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), example
        assert done.stdout
    assert [path.name for path in sorted(folder.iterdir())] == ["data.npz", "net.pt2", "out", "x.npz", "y.npz"]


def test_without_arguments_the_help_is_shown(rushlight: Command) -> None:
    assert rushlight() == rushlight("--help")


def test_help_fits_a_narrow_terminal(rushlight: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for name in COMMANDS:
        said = rushlight(*filter(None, (name, "--help")))
        assert said.code == 0 and max(map(len, said.out.splitlines())) <= 60


def test_python_m_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "rushlight", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"rushlight \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fly", "No such command 'fly'; `rushlight --help` says more"),
        ("--fly", "No such option: --fly; `rushlight --help` says more"),
        ("compile", "Missing argument 'program'; `rushlight compile --help` says more"),
        ("compile net.pt2 -o new", "Missing option '--target'; `rushlight compile --help` says more"),
        ("compile net.pt2 -o new --target", "Option '--target' requires an argument"),
        ("compile quantized.pt2 --target cortex-m4 -o new --io int4", "Invalid value for '--io': 'int4' is not one of"),
        ("run out --inputs x.npz --on moon", "Invalid value for '--on': 'moon' is not one of 'qemu', 'host'"),
        ("report out more", "Got unexpected extra argument"),
    ],
)
def test_wrong_options_are_one_line(rushlight: Command, arguments: str, message: str) -> None:
    assert message in rushlight.refused(*arguments.split())


# --- what the commands do


def test_a_quantised_file_is_compiled_as_it_is(folder: Path, rushlight: Command) -> None:
    said = rushlight("compile", "quantized.pt2", "--target", "cortex-m0", "-o", "new", "--name", "digits")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0].startswith("digits for cortex-m0 on")
    assert said.out.splitlines()[-1] == "written to new"
    assert (folder / "new" / "model" / "digits.c").is_file()


def test_a_float_file_is_quantised_as_rl_quantize_does_it(folder: Path, rushlight: Command) -> None:
    said = rushlight("compile", "net.pt2", "--calibration", "data.npz", "--target", "cortex-m4", "-o", "new")
    assert (said.code, said.err) == (0, "")
    for file in ("model/net.c", "model/net_data.c"):
        assert (folder / "new" / file).read_bytes() == (folder / "out" / file).read_bytes()


@pytest.mark.parametrize("on", ["qemu", "host"])
def test_run_writes_the_answers_of_the_reference(folder: Path, rushlight: Command, on: str) -> None:
    before = listing().keys()
    said = rushlight("run", "out", "--inputs", "x.npz", "--on", on, "-o", "answers")
    assert (said.code, said.err) == (0, "")
    assert "output: float32 [3, 3]" in said.out and "written to answers" in said.out
    assert ("3 runs, " in said.out) == (on == "qemu")
    with np.load(folder / "answers") as answers:
        assert answers.files == ["output"]
        expected = rl.compile(folder / "quantized.pt2", "cortex-m4").reference(images(3, seed=1))
        np.testing.assert_array_equal(answers["output"], expected)
    assert listing().keys() - before == {str(folder / "answers")}


def test_run_takes_an_npy_file_and_one_array_of_any_name(folder: Path, rushlight: Command) -> None:
    np.save(folder / "x.npy", images(2))
    np.savez(folder / "other.npz", pictures=images(2))
    for name in ("x.npy", "other.npz"):
        assert "output: float32 [2, 3]" in rushlight("run", "out", "--inputs", name, "--on", "host").out


def test_outputs_may_have_any_name(folder: Path, rushlight: Command) -> None:
    class Named(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"file": torch.relu(x), "allow_pickle": torch.tanh(x)}

    x = torch.linspace(-1, 1, 4).reshape(1, 4)
    rl.compile(rl.quantize(Named(), (x,), [(x,)]), target="cortex-m4").write_c("named")
    np.savez("four.npz", x=x.numpy())
    assert rushlight("run", "named", "--inputs", "four.npz", "--on", "host", "-o", "y.npz").code == 0
    with np.load("y.npz") as answers:
        assert sorted(answers.files) == ["allow_pickle", "file"]


@pytest.mark.usefixtures("wide")
def test_the_toolchain_is_chosen_and_named(rushlight: Command) -> None:
    run = rushlight("run", "out", "--inputs", "x.npz", "--toolchain", "clang")
    assert re.search(r"^built with .*clang version", run.out, re.MULTILINE)
    report = rushlight("report", "out", "--toolchain", "clang").out
    assert re.search(r"^built with .*clang version", report, re.MULTILINE)
    assert re.search(r"^built  [\d,]+ bytes of flash, [\d,]+ of RAM", report, re.MULTILINE)
    assert "built" not in rushlight("report", "out").out.replace("once built", "")
    compiled = rushlight("compile", "quantized.pt2", "--target", "cortex-m4", "-o", "new", "--toolchain", "gcc")
    assert (compiled.code, compiled.err) == (0, "")
    assert re.search(r"^built with arm-none-eabi-gcc .*\d+\.\d+", compiled.out, re.MULTILINE)


def test_report_as_json_is_json_and_nothing_else(rushlight: Command) -> None:
    said = rushlight("report", "out", "--json")
    facts = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert (facts["core"], facts["build"], len(facts["layers"])) == ("cortex-m4", None, 6)
    built = json.loads(rushlight("report", "out", "--json", "--toolchain", "gcc").out)["build"]
    assert built["flash"] > facts["flash"]["constants"]


@pytest.mark.usefixtures("wide")
def test_targets_lists_what_compile_takes(rushlight: Command) -> None:
    said = rushlight("targets")
    rows = [line.split() for line in said.out.splitlines()[1:]]
    assert {"cortex-m0", "cortex-m0plus", "cortex-m23", "cortex-m35p", "cortex-m85"} <= {row[0] for row in rows}
    assert {"microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"} <= {
        row[0] for row in rows
    }


def test_names_of_any_alphabet_are_taken(folder: Path, rushlight: Command) -> None:
    class Сеть(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.слой = torch.nn.Linear(4, 2)

        def forward(self, größe: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"größe": self.слой(größe)}

    save("größe.pt2", Сеть(), torch.rand(1, 4))
    np.savez("größe.npz", größe=np.random.default_rng(0).random((8, 4), dtype=np.float32))
    compiled = rushlight("compile", "größe.pt2", "--calibration", "größe.npz", "--target", "cortex-m4", "-o", "größe")
    assert (compiled.code, compiled.err) == (0, "")
    assert "| слой " in compiled.out
    run = rushlight("run", "größe", "--inputs", "größe.npz", "--on", "host")
    assert (run.code, run.err) == (0, "")
    western = process("report", "größe", environment=os.environ | {"PYTHONIOENCODING": "latin-1"})
    assert (western.returncode, western.stderr) == (0, "")
    assert r"| \u0441\u043b\u043e\u0439 " in western.stdout


# --- progress


def test_long_steps_show_progress_on_a_terminal(folder: Path) -> None:
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "rushlight", "compile", "net.pt2", "--calibration", "data.npz"]
    command += ["--target", "cortex-m4", "-o", "new"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=slave, env=os.environ | {"TERM": "xterm"}
    ) as compiling:
        os.close(slave)
        shown = bytearray()
        while chunk := _read(master):
            shown += chunk
        assert compiling.stdout is not None
        out = compiling.stdout.read().decode()
    os.close(master)
    assert compiling.returncode == 0
    assert "loading net.pt2" in (text := shown.decode())
    assert "calibrating with data.npz" in text and "compiling for cortex-m4" in text
    assert "calibrating" not in out and "written to new" in out


def _read(master: int) -> bytes:
    try:
        return os.read(master, 4096)
    except OSError:  # the other side is closed
        return b""


def test_nothing_is_shown_where_there_is_no_terminal(folder: Path) -> None:
    done = process("run", "out", "--inputs", "x.npz", environment=os.environ | {"TERM": "xterm", "FORCE_COLOR": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout and "\r" not in done.stdout


# --- speed, and what must not be needed


def test_running_a_compiled_folder_needs_no_torch(folder: Path) -> None:
    for arguments in ("run out --inputs x.npz -o y.npz", "run out --inputs x.npz --on host", "report out", "targets"):
        done = process(*arguments.split(), start=WITHOUT_TORCH)
        assert (done.returncode, done.stderr) == (0, ""), arguments
    assert (folder / "y.npz").is_file()


def test_compiling_without_torch_says_what_to_install(folder: Path) -> None:
    done = process("compile", "net.pt2", "--target", "cortex-m4", "-o", "new", start=WITHOUT_TORCH)
    assert done.returncode == 2
    assert done.stderr == "rushlight: torch is not installed, which compiling needs: pip install 'rushlight[torch]'\n"
    assert not (folder / "new").exists()


def quickest(*command: str) -> float:
    """Seconds of CPU that the command takes, the best of three: other work on this machine should not count."""
    times = []
    for _ in range(3):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def test_import_and_help_are_quick() -> None:
    assert quickest(sys.executable, "-c", "import rushlight") < 0.5
    assert quickest(sys.executable, "-m", "rushlight", "--help") < 1.0
    code = "import sys, rushlight, rushlight.cli; print([m for m in ('torch', 'torchao', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
