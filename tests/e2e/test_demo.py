"""The demo keeps what it promises: shortened runs of `make demo`'s program, as a user starts it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
DEMO = CHECKOUT / "examples" / "digits" / "demo.py"
IMAGES = 60
ARGUMENTS = ("--epochs", "6", "--images", str(IMAGES))


@dataclass(frozen=True)
class Demo:
    out: Path
    text: str
    errors: str

    @property
    def results(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "results.json").read_text())
        return found


def start(*arguments: str, cwd: Path, terminal: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs the demo; with ``terminal`` it takes its pipes for one, as rich does with this variable set."""
    plain = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    environment = plain | ({"FORCE_COLOR": "1"} if terminal else {})
    command = [sys.executable, str(DEMO), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=170, check=False)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    done = start(*ARGUMENTS, cwd=folder)
    assert done.returncode == 0, done.stderr
    return Demo(folder / "build" / "demo", done.stdout, done.stderr)


def test_the_chips_are_about_as_right_as_the_float_net(demo: Demo) -> None:
    results = demo.results
    assert results["images"] == IMAGES
    assert results["float_right"] >= 0.9 * IMAGES
    for chip in results["chips"]:
        assert abs(chip["right"] - results["float_right"]) <= 2
        assert chip["as_float"] >= IMAGES - 2


def test_three_chips_answer_identically(demo: Demo) -> None:
    results = demo.results
    assert results["values"] == 3 * IMAGES * 10
    assert results["differing"] == 0
    assert [chip["target"] for chip in results["chips"]] == ["cortex-m0", "cortex-m4", "cortex-m55"]
    first, *others = (chip["answers"] for chip in results["chips"])
    assert len(first) == IMAGES
    assert len(set(first)) == 10
    assert others == [first, first]


def test_it_fits_the_microbit_and_better_cores_need_fewer_instructions(demo: Demo) -> None:
    m0, m4, m55 = demo.results["chips"]
    assert m0["board"] == "BBC micro:bit"
    assert 4_000 < m0["flash"] < 64 * 1024
    assert 0 < m0["arena"] + m0["stack"] < 8 * 1024
    assert m0["instructions"] > m4["instructions"] > m55["instructions"] > 10_000


def test_the_table_says_what_was_measured_and_nothing_else_is_printed(demo: Demo) -> None:
    results = demo.results
    assert demo.errors == ""
    assert f"{results['values']:,} values compared" in demo.text
    for chip in results["chips"]:
        assert chip["target"].title() in demo.text
        assert f"{chip['right']} of {IMAGES}" in demo.text
        for key in ("flash", "arena", "stack", "instructions"):
            assert f"{chip[key]:,.0f}" in demo.text
    assert max(map(len, demo.text.splitlines())) <= 80


def test_it_leaves_a_picture_and_c_for_each_chip(demo: Demo) -> None:
    assert "build/demo/digits.png" in demo.text
    pixels = matplotlib.image.imread(demo.out / "digits.png")
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 500
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 30
    for chip in demo.results["chips"]:
        assert (demo.out / chip["target"] / "Makefile").is_file()


def test_a_second_run_repeats_it_byte_for_byte_and_shows_its_steps_on_a_terminal(demo: Demo, tmp_path: Path) -> None:
    done = start(*ARGUMENTS, "--out", str(tmp_path / "again"), cwd=tmp_path, terminal=True)
    shown = [re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", line) for line in done.stderr.splitlines()]
    assert done.returncode == 0, shown[-1]
    finished = "\n".join(line for line in shown if line.startswith("✓"))
    for step in ("train a small CNN: epoch 6 of 6", "quantise it to int8: calib", "compile for cortex-m0", "draw"):
        assert f"✓ {step}" in finished
    for name in ("results.json", "cortex-m0/model/digits_data.c", "cortex-m55/model/digits_data.c"):
        assert (tmp_path / "again" / name).read_bytes() == (demo.out / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "file"), "demo: file: File exists"),
        (("--images", "0"), "'0' is not a number from 1 up"),
    ],
)
def test_trouble_is_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = start(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "build").exists()


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['sklearn'] = None; import demo; sys.exit(demo.main())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(DEMO.parent)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("demo: sklearn")
    assert len(done.stderr.splitlines()) == 1
