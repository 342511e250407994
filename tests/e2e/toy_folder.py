"""A compiled folder written by hand: two inputs, two outputs, and every way to go wrong."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.firmware import copy_board
from rushlight.target import Target

TOY = Path(__file__).parent / "toy"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wsign-conversion")

# Values of x[0] that ask for trouble (toy.c).
ERROR, UNDEFINED, UNALIGNED, RECURSION, BIG_FRAME, ENDLESS = range(100, 106)

Array = NDArray[Any]


def make_toy(folder: Path, target: Target) -> Path:
    """The toy's folder for a target, as the emitter would write it."""
    shutil.copytree(TOY, folder)
    copy_board(target, folder / "board")
    program = json.loads((folder / "program.json").read_text())
    program |= {"target": target.requested, "core": target.core.name, "board": target.board.name}
    (folder / "program.json").write_text(json.dumps(program))
    return folder


def toy_inputs(samples: int) -> list[Array]:
    """Harmless inputs, with a leading axis of samples."""
    rng = np.random.default_rng(samples)
    x = rng.integers(-128, 100, (samples, 1, 5), dtype=np.int8)
    x[:, :, 1] = -1
    return [x, rng.standard_normal((samples, 1)).astype(np.float32)]


def toy_answers(inputs: list[Array]) -> list[Array]:
    """What the toy makes of its inputs."""
    return [(inputs[0] + np.int8(1)).astype(np.int8), (inputs[1] * np.float32(0.5)).astype(np.float32)]


def trouble(kind: int) -> list[Array]:
    """One sample that asks for trouble."""
    return [np.array([[kind, 0, 0, 0, 0]], dtype=np.int8), np.zeros(1, dtype=np.float32)]
