"""Bad input: one line that says what, where, why and what next, exit code 2, and nothing half written is left behind."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import pty
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import rushlight as rl
from rushlight.target import BOARDS_DIR
from tests.e2e.command import Command, check_lines, images, listing, process, save, seeded

X = images(8)


def compile(
    rushlight: Command,
    program: str = "net.pt2",
    *more: str,
    data: str | None = "data.npz",
    target: str = "cortex-m4",
    lines: int = 1,
) -> str:
    """The refusal of ``rushlight compile``."""
    calibration = () if data is None else ("--calibration", data)
    return rushlight.refused("compile", program, *calibration, "--target", target, "-o", "new", *more, lines=lines)


def line(call: Callable[[], object]) -> str:
    """The refusal of a Python function."""
    with pytest.raises(rl.RushlightError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def compile_here(model: nn.Module, *shape: int, target: str = "cortex-m4") -> rl.CompiledModel:
    """The model in a few lines of Python."""
    torch.manual_seed(0)
    x = torch.rand(shape)
    return rl.compile(rl.quantize(model.eval(), (x,), [(x,)]), target=target)


# --- the model


class Sums(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cumsum(x, 1)


class Unsupported(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = seeded()
        self.sums = Sums()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.sums(self.net(x)) + torch.linalg.vector_norm(x)
        return y


def test_an_unsupported_operator_is_named_with_module_and_source_line(folder: Path, rushlight: Command) -> None:
    save("net.pt2", Unsupported())
    first, second = compile(rushlight, lines=2).splitlines()
    where = {c: inspect.getsourcelines(c.forward)[1] + 1 for c in (Sums, Unsupported)}
    assert first.startswith(
        f"aten.cumsum.default 'sums' (test_bad_input.py:{where[Sums]}): no kernel; take it outside "
    )
    assert f"vector_norm.default the model's forward (test_bad_input.py:{where[Unsupported]})" in second
    with pytest.raises(rl.UnsupportedError) as caught:
        compile_here(Unsupported(), 1, 1, 8, 8)
    assert caught.value.reasons == [first, second]


def test_a_dynamic_shape(folder: Path, rushlight: Command) -> None:
    save("net.pt2", seeded(), torch.rand(2, 1, 8, 8), dynamic_shapes=({0: torch.export.Dim("batch", min=2)},))
    assert re.match(
        r"input 'image' has a dynamic shape \['\w+', 1, 8, 8\]; export with fixed shapes", compile(rushlight)
    )


@pytest.mark.parametrize(("value", "word"), [(float("nan"), "NaN"), (float("inf"), "infinity")])
def test_a_weight_that_is_no_number(folder: Path, rushlight: Command, value: float, word: str) -> None:
    model = seeded()
    model.get_parameter("fc.weight").data[1, 2] = value
    save("net.pt2", model)
    said = f"parameter 'fc.weight' holds {word} (1 of 192); train again or load other weights"
    assert compile(rushlight) == line(lambda: compile_here(model, 1, 1, 8, 8)) == said


def test_a_model_in_another_type(folder: Path, rushlight: Command) -> None:
    save("net.pt2", seeded().double(), torch.rand(1, 1, 8, 8).double())
    assert "input 'image' is float64; use float32" in compile(rushlight)


def test_a_float_program_without_calibration_data(rushlight: Command) -> None:
    assert "the program is not quantised" in compile(rushlight, data=None)
    assert "the program is not quantised" in line(lambda: rl.compile("net.pt2", target="cortex-m4"))


def test_calibration_data_for_a_quantised_program(rushlight: Command) -> None:
    assert "the program is quantised already" in compile(rushlight, "quantized.pt2")


@pytest.mark.parametrize("name", ["2net", "my net", "", "int", "rl_net", "größe", "../net"])
def test_a_name_that_c_cannot_have(rushlight: Command, name: str) -> None:
    said = compile(rushlight, "quantized.pt2", "--name", name, data=None)
    assert said.startswith(f"model name {name!r} cannot be used in C: ") and said.endswith("; give another name")


# --- calibration data


DATA: dict[str, tuple[Callable[[], dict[str, Any]], str]] = {
    "empty": (lambda: {"image": X[:0]}, "data.npz: the inputs hold no sample"),
    "shape": (lambda: {"image": X[..., :7]}, "data.npz: input 'image' has shape [8, 1, 8, 7], not [1, 1, 8, 8]"),
    "rank": (lambda: {"image": X[0]}, "data.npz: input 'image' has shape [1, 8, 8], not [1, 1, 8, 8]"),
    "layout": (lambda: {"image": X.transpose(0, 2, 3, 1)}, "it looks like NHWC data for an NCHW input: transpose it"),
    "float64": (lambda: {"image": X.astype(float)}, "data.npz: input 'image' is of dtype float64, not float32"),
    "uint8": (lambda: {"image": X.astype(np.uint8)}, "data.npz: input 'image' is of dtype uint8, not float32"),
    "text": (lambda: {"image": np.array(["a"])}, "data.npz: input 'image' is of dtype <U1, not float32"),
    "names": (lambda: {"a": X, "b": X}, "data.npz has no array 'image': it holds a, b, the program takes image"),
    "nothing": (lambda: {}, "data.npz has no array 'image': it holds nothing, the program takes image"),
    "objects": (lambda: {"image": np.array([{}])}, "data.npz holds Python objects where arrays of numbers are wanted"),
    "NaN": (lambda: {"image": np.where(X > 0.99, np.float32(np.nan), X)}, "batch 0, input 0 holds NaN or infinity (1 of 64"),
    "infinity": (lambda: {"image": X / np.float32(0)}, "calibration batch 0, input 0 holds NaN or infinity (64 of 64"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("what", DATA)
def test_calibration_data_that_does_not_fit(folder: Path, rushlight: Command, what: str) -> None:
    arrays, message = DATA[what]
    np.savez("data.npz", **arrays())
    assert message in compile(rushlight)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "data.npz cannot be read: No such file or directory; write it with numpy.savez('data.npz', image=…)"),
        (b"", "data.npz is not an .npz file; write it with numpy.savez('data.npz', image=…)"),
        (b"some text", "data.npz is not an .npz file"),
        (pickle.dumps([1]), "data.npz is not an .npz file"),
        ("cut", "data.npz is damaged (File is not a zip file)"),
        ("flipped", "data.npz is damaged (Bad CRC-32 for file 'image.npy')"),
    ],
)
@pytest.mark.parametrize("command", ["compile", "run"])
def test_a_file_that_is_no_npz(
    folder: Path, rushlight: Command, content: bytes | str | None, message: str, command: str
) -> None:
    whole = Path("data.npz").read_bytes()
    changes = {"cut": whole[:-100], "flipped": whole[:2000] + bytes([whole[2000] ^ 255]) + whole[2001:]}
    Path("data.npz").unlink()
    if content is not None:
        Path("data.npz").write_bytes(changes[content] if isinstance(content, str) else content)
    said = compile(rushlight) if command == "compile" else rushlight.refused("run", "out", "--inputs", "data.npz")
    assert message in said


def test_inputs_that_are_not_as_many(folder: Path, rushlight: Command) -> None:
    class Two(nn.Module):
        def forward(self, a: Tensor, b: Tensor) -> Tensor:
            return torch.relu(a) + b

    save("net.pt2", Two(), torch.rand(1, 4), torch.rand(1, 4))
    np.savez("data.npz", a=np.ones((8, 4), np.float32), b=np.ones((7, 4), np.float32))
    assert "the inputs differ in their number of samples" in compile(rushlight)
    np.savez("data.npz", a=np.ones((8, 4), np.float32))
    assert "data.npz has no array 'b': it holds a, the program takes a, b" in compile(rushlight)


def test_calibration_that_never_reaches_a_tensor() -> None:
    x = (torch.from_numpy(X[:1]),)
    prepared = prepare_pt2e(rl.capture(seeded(), x).module(check_guards=False), rl.RushlightQuantizer())
    assert "calibration never reached it, so it has no range; run calibration data" in line(
        lambda: convert_pt2e(prepared)
    )


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "calibration_batches is empty"),
        ([(torch.from_numpy(X[..., :7]),)], "calibration batch 0, input 0 is [8, 1, 8, 7], example_inputs has [1, 1, 8, 8]"),
        ([(torch.from_numpy(X).double(),)], "is float64"),
        ([(torch.from_numpy(X) * float("nan"),)], "calibration batch 0, input 0 holds NaN or infinity"),
    ],
)  # fmt: skip
def test_calibration_batches_that_do_not_fit(batches: Any, message: str) -> None:
    assert message in line(lambda: rl.quantize(seeded(), (torch.from_numpy(X[:1]),), batches))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            X * 255,
            r"calibration data of input 0 lies in 0\.\d+\.\.25\d\.?\d*, example_inputs in 0\.0\d*\.\.0\.9\d*: is it",
        ),
        (X * 0 + np.float32(0.5), r"calibration data of input 0 is 0\.5 throughout: is it real input\?"),
        (X[:1], ""),
    ],
    ids=["0..255 for 0..1", "constant", "a single sample"],
)
def test_doubtful_calibration_data_is_warned_of(folder: Path, rushlight: Command, data: Any, message: str) -> None:
    np.savez("data.npz", image=data)
    said = rushlight("compile", "net.pt2", "--calibration", "data.npz", "--target", "cortex-m4", "-o", "new")
    assert said.code == 0
    assert len(said.err.splitlines()) == (1 if message else 0)
    if message:
        check_lines(said.err)
        assert re.match(f"rushlight: warning: {message}", said.err)
    assert rushlight("run", "new", "--inputs", "x.npz", "--on", "host").code == 0


def test_an_output_that_is_always_zero_is_warned_of(folder: Path, rushlight: Command) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    nn.init.zeros_(model.get_parameter("1.weight"))
    nn.init.zeros_(model.get_parameter("1.bias"))
    save("net.pt2", model)
    said = rushlight("compile", "net.pt2", "--calibration", "data.npz", "--target", "cortex-m4", "-o", "new")
    assert (said.code, len(said.err.splitlines())) == (0, 1)
    assert said.err.startswith("rushlight: warning: output 0 is 0 for all calibration data")
    assert rushlight("run", "new", "--inputs", "x.npz", "--on", "host", "-o", "y.npz").code == 0
    with np.load("y.npz") as answers:
        assert not answers["output"].any()


# --- the target


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("cortex-m5", "unknown target 'cortex-m5': did you mean cortex-m"),
        ("", "unknown target ''"),
        ("cortex-m4@microbit", "board microbit does not run cortex-m4 code; it runs cortex-m0, cortex-m0plus"),
        ("none/board.toml", "none/board.toml: cannot read the board: No such file or directory"),
        ("out", "unknown target 'out'"),
    ],
)
def test_a_target_that_does_not_exist(rushlight: Command, target: str, message: str) -> None:
    assert message in compile(rushlight, target=target)
    assert message in line(lambda: rl.compile("quantized.pt2", target=target))


GOOD = (BOARDS_DIR / "mps2-an386" / "board.toml").read_text()
BOARDS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "key 'regions': is missing"),
    "no TOML": (b"title = [", "not a TOML file"),
    "no text": (b"\xff\xfe\x00", "cannot read the board"),
    "unknown core": (GOOD.replace('core = "cortex-m4"', 'core = "z80"').encode(), "key 'core': unknown core 'z80'"),
    "no size": (GOOD.replace("size", "sise").encode(), "key 'regions.code.size': is missing"),
    "text for a number": (GOOD.replace("stack = 8192", 'stack = "8K"').encode(), "key 'stack': must be of type int"),
    "negative": (GOOD.replace("stack = 8192", "stack = -1").encode(), "key 'stack': must be above 0"),
    "no such region": (GOOD.replace('ram = "ram"', 'ram = "sram"').encode(), "key 'ram': there is no region 'sram'"),
    "overlap": (GOOD.replace("0x20000000", "0x00000000").encode(), "overlaps region"),
}


@pytest.mark.parametrize("what", BOARDS)
def test_a_malformed_board(folder: Path, rushlight: Command, what: str) -> None:
    content, message = BOARDS[what]
    shutil.copytree(BOARDS_DIR / "mps2-an386", "board")
    Path("board/board.toml").write_bytes(content)
    said = compile(rushlight, target="board/board.toml")
    assert said.startswith("board/board.toml: ") and message in said


def test_a_board_that_lacks_a_file(folder: Path, rushlight: Command) -> None:
    shutil.copytree(BOARDS_DIR / "mps2-an386", "board")
    Path("board/link.ld").unlink()
    said = rushlight.refused("compile", "quantized.pt2", "--target", "board/board.toml", "-o", "deep/in/new")
    assert re.match(r"board 'board': .*link\.ld is missing; copy one from ", said)


def test_a_model_too_big_for_the_ram(folder: Path, rushlight: Command) -> None:
    big = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 2, 3))
    save("net.pt2", big, torch.rand(1, 1, 64, 64))
    np.savez("data.npz", image=np.random.default_rng(0).random((2, 1, 64, 64), dtype=np.float32))
    found = re.match(
        r"the model does not fit board microbit: it takes (\d+) bytes of region 'ram' \(arena (\d+), inputs and outputs "
        r"(\d+), stack (\d+)\), which has 16384: (\d+) too many; largest tensors: .*; choose a target with more RAM",
        said := compile(rushlight, target="microbit"),
    )
    assert found, said
    need, arena, io, stack, over = map(int, found.groups())
    assert need == arena + io + stack == 16384 + over
    assert said == line(lambda: compile_here(big, 1, 1, 64, 64, target="microbit"))


def test_a_model_too_big_for_the_flash(folder: Path, rushlight: Command) -> None:
    big = nn.Sequential(nn.Flatten(), nn.Linear(64, 4500))
    save("net.pt2", big)
    said = compile(rushlight, target="microbit")
    found = re.match(
        r"the model does not fit board microbit: its constants take (\d+) bytes of region 'flash', which has 262144: "
        r"(\d+) too many; largest: '1' (\d+) bytes.*; choose a target with more flash",
        said,
    )
    assert found, said
    need, over, layer = map(int, found.groups())
    assert need == 262144 + over > layer > 64 * 4500
    assert "does not fit board microbit" in line(lambda: compile_here(big, 1, 1, 8, 8, target="microbit"))


def test_a_program_whose_code_outgrows_the_flash(folder: Path, rushlight: Command) -> None:
    save("net.pt2", nn.Linear(512, 498), torch.rand(1, 512))
    np.savez("data.npz", image=np.random.default_rng(0).random((2, 512), dtype=np.float32))
    message = (
        r"the program does not fit board microbit: it exceeds region 'flash' by \d+ bytes; choose a target with more"
    )
    for toolchain in ("gcc", "clang"):
        assert re.match(message, compile(rushlight, "net.pt2", "--toolchain", toolchain, target="microbit"))
    model = compile_here(nn.Linear(512, 498), 1, 512, target="microbit")
    assert re.match(message, line(lambda: model.run(np.zeros((1, 512), np.float32))))


# --- tools that are not installed


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Leaves only these programs to be found, and no zig."""

    def leave(*names: str) -> None:
        (tmp_path / "bin").mkdir()
        for name in names:
            found = shutil.which(name)
            assert found, f"{name} is not installed"
            (tmp_path / "bin" / name).symlink_to(found)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    return leave


RUN = ("run", "out", "--inputs", "x.npz")


@pytest.mark.parametrize(
    ("left", "arguments", "message"),
    [
        ([], RUN, "qemu-system-arm is not installed: apt install qemu-system-arm"),
        (["qemu-system-arm"], RUN, "no C compiler for Cortex-M is installed: apt install gcc-arm-none-eabi; or pip install"),
        (["qemu-system-arm"], (*RUN, "--toolchain", "gcc"), "toolchain 'gcc' is not installed: apt install gcc-arm-none-eabi"),
        (["qemu-system-arm"], (*RUN, "--toolchain", "clang"), "toolchain 'clang' is not installed: apt install clang-19"),
        (["qemu-system-arm", "clang-19"], (*RUN, "--toolchain", "clang"), "is not installed: apt install gcc-arm-none-eabi"),
        (["qemu-system-arm"], (*RUN, "--toolchain", "zig"), "toolchain 'zig' is not installed: pip install ziglang"),
        ([], (*RUN, "--on", "host"), "C compiler 'cc' is not installed: apt install gcc"),
        ([], ("report", "out", "--toolchain", "gcc"), "toolchain 'gcc' is not installed: apt install gcc-arm-none-eabi"),
        ([], (*RUN, "--toolchain", "tcc"), "unknown toolchain 'tcc': it is one of gcc, clang, zig"),
        ([], (*RUN, "--on", "host", "--toolchain", "gcc"), "toolchain 'gcc' is for on='qemu'"),
    ],
)  # fmt: skip
def test_a_tool_that_is_not_installed(
    rushlight: Command, tools: Callable[..., None], left: list[str], arguments: tuple[str, ...], message: str
) -> None:
    tools(*left)
    if "tcc" in arguments or "zig" in arguments:
        _pretend("qemu-system-arm")
    assert message in rushlight.refused(*arguments)


def _pretend(name: str) -> None:
    program = Path(os.environ["PATH"]) / name
    if not program.exists():
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)


def test_a_compiler_is_looked_for_before_the_long_steps(rushlight: Command, tools: Callable[..., None]) -> None:
    tools()
    assert "apt install gcc-arm-none-eabi" in compile(rushlight, "net.pt2", "--toolchain", "gcc", data="none.npz")


# --- .pt2 files


@pytest.mark.parametrize("tenths", range(10))
def test_a_pt2_file_that_is_cut_off(folder: Path, rushlight: Command, tenths: int) -> None:
    whole = Path("quantized.pt2").read_bytes()
    Path("net.pt2").write_bytes(whole[: len(whole) * tenths // 10 + 5])
    said = compile(rushlight, data=None)
    assert re.match(r"net\.pt2 is damaged or cut off \(.*\); write it again with torch\.export\.save", said)
    assert said == line(lambda: rl.compile("net.pt2", target="cortex-m4"))


def test_a_pt2_file_with_a_flipped_byte_is_refused_or_does_not_matter(folder: Path, rushlight: Command) -> None:
    whole = Path("quantized.pt2").read_bytes()
    refused = 0
    for place in range(7, len(whole), len(whole) // 40):
        Path("net.pt2").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        said = rushlight("compile", "net.pt2", "--target", "cortex-m4", "-o", "new")
        if said.code == 0:  # between the members of the zip
            for file in ("model/net.c", "model/net_data.c"):
                assert (folder / "new" / file).read_bytes() == (folder / "out" / file).read_bytes()
            shutil.rmtree("new")
        else:
            refused += 1
            assert (said.code, len(said.err.splitlines())) == (2, 1), said.err
            assert said.err.startswith("rushlight: net.pt2 ") and not Path("new").exists()
    assert refused > 20


def rewritten(change: Callable[[dict[str, bytes]], object]) -> None:
    """net.pt2 with other members, whose checksums are right."""
    with zipfile.ZipFile("quantized.pt2") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile("net.pt2", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _model(members: dict[str, bytes]) -> str:
    return next(name for name in members if name.endswith("models/model.json"))


CHANGES: dict[str, Callable[[dict[str, bytes]], object]] = {
    "no model": lambda m: m.pop(_model(m)),
    "empty model": lambda m: m.update({_model(m): b"{}"}),
    "cut model": lambda m: m.update({_model(m): m[_model(m)][:500]}),
    "other operator": lambda m: m.update({_model(m): m[_model(m)].replace(b"aten.conv2d", b"aten.conv9d")}),
    "other version": lambda m: m.update({_model(m): m[_model(m)].replace(b'"major": 8', b'"major": 99')}),
    "no weight": lambda m: m.pop(next(name for name in m if "data/weights/weight_" in name)),
    "short weight": lambda m: m.update({name: data[:10] for name, data in m.items() if "/weights/weight_" in name}),
    "no format": lambda m: m.pop(next(name for name in m if name.endswith("archive_format"))),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_pt2_file_of_other_content(folder: Path, rushlight: Command, what: str) -> None:
    rewritten(CHANGES[what])
    assert re.match(r"net\.pt2 cannot be loaded: .*; write it with torch\.export\.save", compile(rushlight, data=None))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "net.pt2 does not exist; give a .pt2 file"),
        ("folder", "net.pt2 is a folder; give a .pt2 file"),
        (b"", "net.pt2 is not a .pt2 file"),
        (b"some text", "net.pt2 is not a .pt2 file"),
        (pickle.dumps({"weights": [1, 2]}), "net.pt2 is not a .pt2 file"),
        ("state", "net.pt2 was written by torch.save or torch.jit.save; give a .pt2 file"),
        ("npz", "net.pt2 cannot be loaded"),
    ],
)
def test_a_file_that_is_no_pt2(folder: Path, rushlight: Command, content: bytes | str | None, message: str) -> None:
    Path("net.pt2").unlink()
    if content == "folder":
        Path("net.pt2").mkdir()
    elif content == "state":
        torch.save(seeded().state_dict(), "net.pt2")
    elif content == "npz":
        shutil.copy("data.npz", "net.pt2")
    elif isinstance(content, bytes):
        Path("net.pt2").write_bytes(content)
    assert compile(rushlight).startswith(message)
    assert line(lambda: rl.compile("net.pt2", target="cortex-m4")).startswith(message)


def test_torch_says_nothing_of_its_own_about_a_bad_file(folder: Path) -> None:
    rewritten(CHANGES["no format"])
    done = process("compile", "net.pt2", "--target", "cortex-m4", "-o", "new")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    check_lines(done.stderr)


# --- inputs and outputs of a run


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("what", [name for name in DATA if name not in ("NaN", "infinity")])
def test_run_inputs_that_do_not_fit(folder: Path, rushlight: Command, what: str) -> None:
    arrays, message = DATA[what]
    np.savez("data.npz", **arrays())
    assert message in rushlight.refused("run", "out", "--inputs", "data.npz", "--on", "host", "-o", "y.npz")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("out", "cannot write out: it is a folder; name another file"),
        ("none/y.npz", "cannot write none/y.npz: none is no folder; name another file"),
        ("net.pt2/y.npz", "cannot write net.pt2/y.npz: net.pt2 is no folder; name another file"),
        ("/dev/full", "cannot write /dev/full: No space left on device; name another file"),
    ],
)
def test_a_file_that_cannot_be_written(rushlight: Command, output: str, message: str) -> None:
    assert rushlight.refused("run", "out", "--inputs", "x.npz", "--on", "host", "-o", output) == message


def test_a_folder_that_cannot_be_written(folder: Path, rushlight: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    before = [
        "compile",
        "net.pt2",
        "--calibration",
        "none.npz",
        "--target",
        "cortex-m4",
        "-o",
    ]  # refused before it is read
    for output, message in {
        "mine": "cannot write mine: the folder has files that are not Rushlight's; choose another, or empty it",
        "x.npz": "cannot write x.npz: it is a file; choose another folder",
        "x.npz/new": f"cannot write x.npz/new: {folder / 'x.npz'} is a file; choose another folder",
        "a" * 300: f"cannot write {'a' * 300}: File name too long; choose another folder",
    }.items():
        assert rushlight.refused(*before, output) == message
        assert message == line(lambda output=output: compile_here(nn.Linear(4, 2), 1, 4).write_c(output))  # type: ignore[misc]
    said = rushlight.refused("compile", "quantized.pt2", "--target", "cortex-m4", "-o", "/proc/new/deep")
    assert said.startswith("cannot write /proc/new/deep: ") and said.endswith("; choose another folder")
    monkeypatch.setattr("os.access", lambda path, mode: not mode & os.W_OK)
    assert "may not be written to; choose another folder" in rushlight.refused(*before, "new")


# --- compiled folders


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "none": (lambda out: shutil.rmtree(out), "out is not a compiled folder: it has no program.json"),
    "a file": (lambda out: out.rename("elsewhere") and out.write_text("x"), "out is not a compiled folder"),
    "cut": (lambda out: _edit(out, lambda text: text[:500]), "out/program.json: cannot be read: "),
    "no text": (lambda out: (out / "program.json").write_bytes(b"\xff\xfe"), "out/program.json: cannot be read: "),
    "deep": (lambda out: _edit(out, lambda text: "[" * 100_000), "out/program.json: cannot be read: "),
    "list": (lambda out: _edit(out, lambda text: "[]"), "out/program.json: is not a JSON object"),
    "version": (lambda out: _set(out, format=2, rushlight="9.9"), "by Rushlight 9.9 in format 2, this version reads 1"),
    "no inputs": (lambda out: _set(out, inputs=None), "out/program.json: "),
    "odd outputs": (lambda out: _set(out, outputs=[{"name": "y"}]), "out/program.json: "),
}  # fmt: skip


def _edit(out: Path, change: Callable[[str], str]) -> None:
    (out / "program.json").write_text(change((out / "program.json").read_text()))


def _set(out: Path, **values: Any) -> None:
    _edit(out, lambda text: json.dumps(json.loads(text) | values))


@pytest.mark.parametrize("what", DAMAGE)
def test_a_folder_that_is_not_compiled_or_damaged(folder: Path, rushlight: Command, what: str) -> None:
    damage, message = DAMAGE[what]
    damage(folder / "out")
    for arguments in (("report", "out"), RUN, (*RUN, "--on", "host")):
        said = rushlight.refused(*arguments)
        assert message in said and (what in ("none", "a file") or said.endswith("compile the model again"))


@pytest.mark.parametrize("file", ["model/net_data.c", "board/link.ld", "board/board.toml", "kernels", "include"])
def test_a_folder_that_lacks_something(folder: Path, rushlight: Command, file: str) -> None:
    path = folder / "out" / file
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    rushlight.refused(*RUN)


def test_a_folder_whose_code_is_damaged(folder: Path, rushlight: Command) -> None:
    (folder / "out" / "model" / "net.c").write_text("int broken(void) { return nothing; }\n")
    for arguments in (RUN, (*RUN, "--on", "host"), (*RUN, "--toolchain", "clang")):
        assert re.match(r"building .* failed: .*net\.c:1:.*error: ", rushlight.refused(*arguments))


# --- the user or the program itself breaks off


def test_an_interrupt_while_writing_leaves_nothing(rushlight: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    before = listing()
    written: list[Path] = []

    def interrupted(file: Path, text: str) -> None:
        written.append(file)
        if len(written) > 3:
            raise KeyboardInterrupt
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    monkeypatch.setattr("rushlight.emit.folder._write", interrupted)
    said = rushlight("compile", "quantized.pt2", "--target", "cortex-m4", "-o", "deep/new")
    assert (said.code, said.err) == (130, "rushlight: interrupted\n")
    assert len(written) == 4 and listing() == before


def test_ctrl_c_during_calibration_is_one_line(folder: Path) -> None:
    np.savez("data.npz", image=images(100_000))
    before = listing()
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "rushlight", "compile", "net.pt2", "--calibration", "data.npz"]
    command += ["--target", "cortex-m4", "-o", "new"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=slave, env=os.environ | {"TERM": "xterm"}
    ) as compiling:
        os.close(slave)
        shown, sent = bytearray(), False
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
                if b"calibrating" in shown and not sent:
                    sent = True
                    compiling.send_signal(signal.SIGINT)
        except OSError:  # the other side is closed
            pass
        compiling.wait(timeout=60)
    os.close(master)
    assert sent and compiling.returncode == 130
    assert b"rushlight: interrupted" in shown and b"Traceback" not in shown
    assert listing() == before


def test_an_error_of_its_own_is_one_line_and_asks_to_be_reported(
    rushlight: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr("rushlight.report.Report.from_folder", broken)
    said = rushlight("report", "out")
    assert said.code == 1
    assert re.fullmatch(
        r"rushlight: internal error: ValueError: first line second line \(test_bad_input\.py:\d+\); please report it "
        r"\(RUSHLIGHT_DEBUG=1 shows more\)\n",
        said.err,
    )
    monkeypatch.setenv("RUSHLIGHT_DEBUG", "1")
    assert "Traceback (most recent call last):" in rushlight("report", "out").err


def test_a_full_disk_is_no_error_of_its_own(rushlight: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "/tmp/x")

    monkeypatch.setattr("rushlight.run.host.write_inputs", full)
    assert rushlight.refused(*RUN, "--on", "host") == "No space left on device: /tmp/x"
