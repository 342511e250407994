"""Counts single kernel calls, many in one program: a driver on the emulated board reads them from a file."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rushlight.emit.kernels import INCLUDE, KERNELS, needed
from rushlight.firmware import build_firmware, copy_board
from rushlight.graph import Graph, Op
from rushlight.ops import operator
from rushlight.ops.base import Array, Kernel
from rushlight.run import run_qemu
from rushlight.target import Target

DRIVER = Path(__file__).with_name("driver.c")
#: Programs, by the content of what they are built from.
CACHE = Path(__file__).resolve().parent.parent / "build" / "bench"
OPT = "-O3"
TIMEOUT_S = 600.0
_GIVEN, _OUTPUT, _SCRATCH = range(3)


@dataclass(frozen=True, eq=False)
class Work:
    """An operator of a graph with the data of its inputs, constants among them."""

    label: str
    graph: Graph
    op: Op
    inputs: Sequence[Array]

    @cached_property
    def expected(self) -> Array:
        """The reference's output."""
        return operator(self.op.kind).reference(self.op, self.graph, self.inputs)[0]


def work_of(label: str, graph: Graph, given: Sequence[Array]) -> Work:
    """The one operator of a graph on its graph inputs."""
    (op,) = graph.ops
    by_name = dict(zip(graph.inputs, given, strict=True))
    return Work(label, graph, op, [by_name[t.name] if t.data is None else t.data for t in graph.ins(op)])


def count_calls(
    work: Sequence[Work], kernels: Sequence[Kernel], target: Target, compiler: str, opt: str = OPT
) -> list[int | None]:
    """Instructions of each kernel's call; None where its output is not the reference's.

    Raises:
        RushlightError: building or running failed.
    """
    elf = build(kernels, target, compiler, opt)
    numbers = numbering(kernels)
    cases = [case_bytes(w, k, numbers[k.symbol]) for w, k in zip(work, kernels, strict=True)]
    result = run_qemu(elf, target, cases, 4, timeout_s=TIMEOUT_S)
    return [
        count if int.from_bytes(crc, "little") == zlib.crc32(w.expected.tobytes()) else None
        for w, crc, count in zip(work, result.outputs, result.instructions, strict=True)
    ]


def numbering(kernels: Sequence[Kernel]) -> dict[str, int]:
    """Symbol → number of the kernel in the driver; 0 is a call of nothing."""
    return {symbol: i + 1 for i, symbol in enumerate(sorted({k.symbol for k in kernels}))}


def case_bytes(work: Work, kernel: Kernel, number: int) -> bytes:
    """A case as driver.c reads it."""
    given = [kernel.params_type.pack(kernel.params)]
    given += [np.ascontiguousarray(work.inputs[index]).tobytes() for index in kernel.reads]
    given += [constant.data.tobytes() for constant in kernel.constants]
    kinds = [(_GIVEN, len(blob)) for blob in given] + [(_OUTPUT, work.expected.nbytes)]
    if kernel.takes_scratch:
        kinds.append((_SCRATCH, kernel.scratch))
    return np.array([number, len(kinds), *np.ravel(kinds)], "<u4").tobytes() + b"".join(given)


def build(kernels: Sequence[Kernel], target: Target, compiler: str, opt: str = OPT) -> Path:
    """The driver's program with these kernels."""

    def fill(folder: Path) -> None:
        files = {f"kernels/{name}": KERNELS / name for name in needed(_files(kernels))}
        files |= {f"include/rushlight/{path.name}": path for path in (INCLUDE / "rushlight").glob("*.h")}
        files["main.c"] = DRIVER
        for name, path in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
        (folder / "model").mkdir()
        (folder / "model" / "dispatch.c").write_text(dispatch_source(kernels), encoding="utf-8")
        (folder / "model" / "dispatch.h").write_text(_DISPATCH_H, encoding="utf-8")
        copy_board(target, folder / "board")

    folder = settled(fill)
    return build_firmware(folder, target, toolchain=compiler, harness=False, opt=opt).elf


def _files(kernels: Sequence[Kernel]) -> set[str]:
    return {name for k in kernels for name in (*k.sources, k.header)}


def settled(fill: Callable[[Path], None]) -> Path:
    """A folder that ``fill`` has filled, named by its content: the same content keeps its place and its built program.

    It is made aside and then renamed, so that two runs at once do not meet half a folder.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        aside = Path(name) / "folder"
        aside.mkdir()
        fill(aside)
        digest = hashlib.sha256()
        for path in sorted(aside.rglob("*")):
            if path.is_file():
                digest.update(f"\0{path.relative_to(aside)}\0".encode() + path.read_bytes())
        folder = CACHE / digest.hexdigest()[:16]
        try:
            aside.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
            os.utime(folder)
    return folder


def prune(cache: Path = CACHE) -> None:
    """Removes the programs that were not used for a day: each change of a kernel makes new ones."""
    oldest = time.time() - 24 * 3600
    for folder in cache.glob("*/") if cache.is_dir() else ():
        if folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)


_DISPATCH_H = """\
#include <stdint.h>
typedef void rl_bench_call(void *const *buffers);
extern rl_bench_call *const rl_bench_calls[];
extern const uint32_t rl_bench_call_count;
"""


def dispatch_source(kernels: Sequence[Kernel]) -> str:
    """C with a function for each kernel that calls it with pointers from an array."""
    by_symbol = {k.symbol: k for k in kernels}
    numbers = numbering(kernels)
    lines = ['#include "dispatch.h"', *(f'#include "{h}"' for h in sorted({k.header for k in kernels}))]
    lines += ["static void nothing(void *const *b) { (void)b; }"]
    for symbol, number in numbers.items():
        kernel = by_symbol[symbol]
        pointers = 1 + len(kernel.reads) + len(kernel.constants) + 1 + int(kernel.takes_scratch)
        arguments = ", ".join(f"b[{i}]" for i in range(pointers))
        lines.append(f"static void call_{number}(void *const *b) {{ {symbol}({arguments}); }}")
    names = ", ".join(["nothing", *(f"call_{number}" for number in numbers.values())])
    lines += [f"rl_bench_call *const rl_bench_calls[] = {{{names}}};"]
    return "\n".join([*lines, f"const uint32_t rl_bench_call_count = {len(numbers) + 1};", ""])
