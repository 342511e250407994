"""The ``rushlight`` command in this process, and small files to give it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

import rushlight as rl
from rushlight.cli import main

SHAPE = (1, 1, 8, 8)


class Net(nn.Module):
    """[1, 1, 8, 8] → [1, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 4 * 4, 3)

    def forward(self, image: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.conv(image)), 2)
        return torch.softmax(self.fc(x.flatten(1)), -1)


def images(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Inputs [count, 1, 8, 8] within 0..1."""
    return np.random.default_rng(seed).random((count, *SHAPE[1:]), dtype=np.float32)


def seeded() -> nn.Module:
    torch.manual_seed(0)
    return Net().eval()


def save(path: Path | str, model: nn.Module, *inputs: Tensor, **options: Any) -> None:
    """A float model as a .pt2 file."""
    torch.export.save(torch.export.export(model.eval(), inputs or (torch.from_numpy(images(1)),), **options), path)


def write_files(folder: Path) -> Path:
    """net.pt2, quantized.pt2, data.npz, x.npz, and out/ compiled for cortex-m4."""
    save(folder / "net.pt2", seeded())
    np.savez(folder / "data.npz", image=images(16))
    np.savez(folder / "x.npz", image=images(3, seed=1))
    batches = [(torch.from_numpy(image[None]),) for image in images(16)]
    quantized = rl.quantize(seeded(), batches[0], batches)
    torch.export.save(quantized, folder / "quantized.pt2")
    rl.compile(quantized, target="cortex-m4").write_c(folder / "out")
    return folder


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


class Command:
    """``rushlight(*arguments)`` runs the command in this process, in the current folder."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture

    def __call__(self, *arguments: str | Path) -> Said:
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = self.capture.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, said.out, said.err)

    def refused(self, *arguments: str | Path, lines: int = 1) -> str:
        """What is said of bad input, which must be so many lines, and nothing may be left behind in the folder."""
        before = listing()
        said = self(*arguments)
        assert (said.code, len(said.err.splitlines())) == (2, lines), said.err
        check_lines(said.err)
        assert listing() == before
        return said.err.replace("rushlight: ", "").strip()


def check_lines(text: str) -> None:
    """Each line is Rushlight's own, and says something."""
    for line in text.splitlines():
        assert line.startswith("rushlight: ") and len(line) > 30, text
    assert "Traceback" not in text


def listing() -> dict[str, int]:
    """All files and folders here with their sizes; what a build leaves in a compiled folder is its own affair."""
    paths = [path for path in Path.cwd().rglob("*") if "build" not in path.parts]
    return {str(path): path.lstat().st_size if path.is_file() else 0 for path in paths}


def process(
    *arguments: str | Path, start: str = "", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, in the current folder; ``start`` is Python to run before it."""
    code = f"{start}\nfrom rushlight.cli import main\nmain()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, env=environment or os.environ, capture_output=True, text=True, timeout=120, check=False
    )
