"""Compiles the net for one chip after another and runs the test images in the emulator. This is all that Rushlight needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch.export import ExportedProgram

import rushlight as rl

#: From the smallest to the largest: 16 K of RAM and no long multiply, DSP instructions, Helium vectors.
TARGETS = ("cortex-m0", "cortex-m4", "cortex-m55")


@dataclass(frozen=True)
class Chip:
    """What one chip did.

    ``probabilities`` are its outputs, float32[N, 10]; ``differing`` of these are not the reference's in each bit.
    ``flash`` is the exact size of the program that ran, ``arena`` and ``stack`` are RAM, in bytes; ``instructions`` has
    a count an image.
    """

    target: str
    board: str
    toolchain: str
    probabilities: NDArray[np.float32]
    differing: int
    flash: int
    arena: int
    stack: int
    instructions: list[int]

    @property
    def answers(self) -> NDArray[np.int64]:
        """The digit it reads in each image."""
        answers: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return answers


def run_on(target: str, quantized: ExportedProgram, images: NDArray[np.float32], folder: Path) -> Chip:
    """Compiles for ``target``, writes the C to ``folder``, and runs ``images`` on the emulated board."""
    compiled = rl.compile(quantized, target=target, name="digits")
    compiled.write_c(folder)
    outputs = compiled.run(images, on="qemu")
    reference = compiled.reference(images)
    assert isinstance(outputs, np.ndarray) and isinstance(reference, np.ndarray)
    report = compiled.report().to_json()
    return Chip(
        target=target,
        board=report["board_title"].partition(" (")[0],
        toolchain=report["build"]["toolchain"],
        probabilities=outputs,
        differing=int((outputs.view(np.uint32) != reference.view(np.uint32)).sum()),
        flash=report["build"]["flash"],
        arena=report["arena"]["bytes"],
        stack=compiled.stack_bytes,
        instructions=compiled.instructions,
    )
