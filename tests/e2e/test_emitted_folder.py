"""The emitted folder: builds without Python, by GCC and clang, without a warning, for a net that has every operator."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import ExportedProgram

import rushlight as rl
from rushlight.ops import REGISTRY
from rushlight.ops.base import Operator

#: What `make`, `make run` and `make host` call, and nothing else: no Python.
TOOLS = (
    *("sh", "make", "mkdir", "rm", "timeout", "cc", "as", "ld"),
    *("arm-none-eabi-gcc", "clang-19", "ld.lld-19", "qemu-system-arm"),
)
STRICT = "CFLAGS=-O2 -Wall -Wextra -Werror -Wconversion -Wsign-conversion"
#: The two ways to build that the Makefile names: `make`, `make CC=clang-19`; the PC's compiler likewise.
COMPILERS = {"gcc": (), "clang": ("CC=clang-19", "HOSTCC=clang-19")}
#: A target a tier.
TARGETS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")
#: Operators that the passes turn into others, so that none is left to run.
REWRITTEN = {kind for kind, op in REGISTRY.items() if not op.view and type(op).kernels is Operator.kernels}


class Every(nn.Module):
    """A small net with every operator that has a kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(4, 8, 3, padding=1, groups=4)
        self.conv = nn.Conv2d(8, 6, 3, stride=2, padding=1)
        self.fc = nn.Linear(6 * 4 * 4, 5)

    def forward(self, x: Tensor, gate: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a = F.hardswish(self.depthwise(x))
        b = torch.relu(self.conv(a))
        joined = torch.cat([F.max_pool2d(a, 2), b], dim=1)
        scaled = joined * gate + joined.mean((2, 3), keepdim=True)
        padded = F.pad(scaled, (1, 0, 0, 2)).permute(0, 3, 1, 2)
        return torch.softmax(self.fc(b.flatten(1)), -1), padded, gate.reshape(1, -1)


@cache
def every() -> ExportedProgram:
    torch.manual_seed(0)
    batches = [(torch.randn(1, 4, 8, 8), torch.rand(1, 14, 1, 1)) for _ in range(4)]
    return rl.quantize(Every().eval(), batches[0], batches)


@cache
def compiled(target: str, io: Literal["float", "int8"]) -> rl.CompiledModel:
    return rl.compile(every(), target=target, io=io)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment whose PATH has the tools and nothing else."""
    folder = tmp_path_factory.mktemp("bin")
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None, f"{tool} is not installed"
        (folder / tool).symlink_to(found)
    assert shutil.which("python3", path=str(folder)) is None
    return {"PATH": str(folder), "HOME": str(folder), "LC_ALL": "C"}


def make(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    """Output of ``make`` in the folder, on two cores."""
    command = ["make", "-j2", "--no-print-directory", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_the_net_has_every_operator() -> None:
    kinds = {op.kind for io in ("float", "int8") for op in compiled("cortex-m4", io).graph.ops}
    assert kinds == set(REGISTRY) - REWRITTEN


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("target", TARGETS)
def test_make_run_and_host_work_without_python_and_without_a_warning(
    tmp_path: Path, bare: dict[str, str], target: str, compiler: str
) -> None:
    out = tmp_path / "out"
    compiled(target, "int8" if target == "cortex-m55" else "float").write_c(out)
    options = (STRICT, *COMPILERS[compiler])
    assert "warning" not in make(out, bare, *options)
    assert (out / "build" / "net.elf").is_file()
    said = [line for line in make(out, bare, "run", *options).splitlines() if not line.startswith(("timeout", "  "))]
    assert said[0] == "net: ok"
    assert [line.partition(":")[0] for line in said[1:]] == ["output_0", "output_1", "output_2"]
    assert "warning" not in make(out, bare, "host", *options)
    host = subprocess.run([out / "build" / "host" / "net"], env=bare, capture_output=True, text=True, timeout=60)
    assert (host.returncode, (host.stdout + host.stderr).splitlines()) == (0, said)
    make(out, bare, "clean")
    assert not (out / "build").exists()


def test_plain_make_run_is_enough(tmp_path: Path, bare: dict[str, str]) -> None:
    compiled("cortex-m4", "float").write_c(tmp_path / "out")
    assert "net: ok" in make(tmp_path / "out", bare, "run")
    assert "`make CC=clang-19`" in (tmp_path / "out" / "README.md").read_text()


def test_two_processes_in_two_folders_write_the_same_bytes(tmp_path: Path) -> None:
    batches = [(torch.randn(1, 4, 8, 8), torch.rand(1, 14, 1, 1)) for _ in range(3)]
    torch.export.save(torch.export.export(Every().eval(), batches[0]), tmp_path / "net.pt2")
    x, gate = (torch.cat(inputs).numpy() for inputs in zip(*batches, strict=True))
    np.savez(tmp_path / "data.npz", x=x, gate=gate)
    running = []
    for seed in ("1", "2"):
        folder = tmp_path / f"folder-{seed}"
        folder.mkdir()
        command = [sys.executable, "-m", "rushlight", "compile", "../net.pt2", "--calibration", "../data.npz"]
        command += ["--target", "cortex-m55", "-o", str(folder / "out")]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        running.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL))
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    one, other = (tmp_path / f"folder-{seed}" / "out" for seed in ("1", "2"))
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file())
    assert len(files) > 30
    for file in files:
        assert (one / file).read_bytes() == (other / file).read_bytes(), file
