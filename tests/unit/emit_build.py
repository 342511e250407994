"""Compiles an emitted folder for this PC as strictly as the project promises, and calls it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rushlight.emit import write_c
from rushlight.firmware import copy_board
from rushlight.graph import Graph
from rushlight.ops.base import Array
from rushlight.schedule import Schedule, make_schedule
from rushlight.target import resolve

STRICT = "-std=c11 -O1 -ffp-contract=off -Wall -Wextra -Werror -Wconversion -Wsign-conversion -Wundef".split()


def emitted(graph: Graph, folder: Path, target: str = "cortex-m4") -> Schedule:
    """Schedules and writes a graph."""
    schedule = make_schedule(graph, resolve(target))
    write_c(schedule, folder, copy_board=copy_board)
    return schedule


def sources(folder: Path) -> list[Path]:
    """The C files that an application compiles."""
    return sorted([*(folder / "model").glob("*.c"), *(folder / "kernels").rglob("*.c")])


def include_flags(folder: Path) -> list[str]:
    return [f"-I{folder / name}" for name in ("include", "kernels", "model", "board")]


def run(command: Sequence[str | Path], cwd: Path | None = None) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, cwd=cwd, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def library(folder: Path, cc: str = "gcc") -> ctypes.CDLL:
    """The model as a shared library."""
    out = folder.parent / f"{folder.name}-{cc}.so"
    run([cc, *STRICT, "-shared", "-fPIC", *include_flags(folder), *sources(folder), "-o", out])
    return ctypes.CDLL(str(out))


def call(lib: ctypes.CDLL, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """One run of ``<name>_run``; the status must be RL_OK and the bytes round each output untouched."""
    guard = 64
    memory = [np.full(graph[name].nbytes + 2 * guard, 0xA5, np.uint8) for name in graph.outputs]
    given = [np.ascontiguousarray(x) for x in inputs]
    pointers = [x.ctypes.data for x in given] + [m.ctypes.data + guard for m in memory]
    status = lib[f"{graph.name}_run"](*map(ctypes.c_void_p, pointers))
    assert status == 0
    outputs = []
    for name, m in zip(graph.outputs, memory, strict=True):
        assert (m[:guard] == 0xA5).all()
        assert (m[-guard:] == 0xA5).all()
        outputs.append(m[guard:-guard].copy().view(graph[name].dtype.value).reshape(graph[name].shape))
    return outputs
