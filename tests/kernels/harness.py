"""Runs every candidate kernel of an operator on the host, under ASan and UBSan, against its reference.

A test makes single-operator graphs with random geometry (``single_op``) and gives them to ``check_kernels``. It says how many
it makes usually (``geometries``, ``emulated``); the environment's RUSHLIGHT_GEOMETRIES asks for a sweep of at least that many.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array, Kernel

KERNELS = Path(__file__).resolve().parents[2] / "src" / "rushlight" / "device" / "kernels"
TIERS = ("mve", "dsp", "v7m", "v6m")
FLAGS = "-std=c11 -O1 -g -Wall -Wextra -Werror -Wconversion -Wsign-conversion -Wundef -ffp-contract=off".split()
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
INPUT, OUTPUT, SCRATCH, ALIAS = range(4)
_SWEEP = int(os.environ.get("RUSHLIGHT_GEOMETRIES") or 0)


def geometries(usual: int) -> int:
    """How many random geometries a test runs on the host: ``usual``, or as many as a sweep asks for if that is more."""
    return max(usual, _SWEEP)


def emulated(usual: int) -> int:
    """The same for a tier in the emulator, where a sweep runs a twentieth."""
    return max(usual, _SWEEP // 20)


def single_op(
    kind: str, attrs: Any, inputs: Sequence[Tensor], output_qparams: QParams | None, shape: Sequence[int] | None = None
) -> Graph:
    """A graph of one operator; inputs with data are its constants, the others its graph inputs."""
    out = operator(kind).infer(attrs, inputs)[0]
    y = Tensor("y", out.shape if shape is None else tuple(shape), out.dtype, output_qparams)
    op = Op(kind, "op", tuple(t.name for t in inputs), ("y",), attrs)
    tensors = {t.name: t for t in (*inputs, y)}
    return Graph("test", tensors, (op,), tuple(dict.fromkeys(t.name for t in inputs if not t.constant)), ("y",))


def random_q(rng: np.random.Generator, low: float = 1e-3, high: float = 1.0) -> QParams:
    """Random int8 per-tensor quantisation, scale log-uniform in low..high."""
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return QParams((scale,), (int(rng.integers(-128, 128)),))


def random_int8(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """Random int8 data; one time in four all-extreme values."""
    if rng.random() < 0.25:
        return rng.choice(np.array([-128, 127], np.int8), size=tuple(shape))
    return rng.integers(-128, 128, tuple(shape)).astype(np.int8)


def random_inputs(rng: np.random.Generator, graph: Graph) -> list[Array]:
    """One random array for each graph input (int8 or float32)."""
    arrays: list[Array] = []
    for name in graph.inputs:
        tensor = graph[name]
        if tensor.dtype is DType.INT8:
            arrays.append(random_int8(rng, tensor.shape))
        else:
            arrays.append((rng.standard_normal(tensor.shape) * 3).astype(np.float32))
    return arrays


@dataclass
class Checked:
    """What a check did; tests assert on it so that nothing passes unseen."""

    by_symbol: Counter[str] = field(default_factory=Counter)
    by_tier: Counter[str] = field(default_factory=Counter)  # cases whose core has that best tier
    in_place: int = 0


def pointers(kernel: Kernel) -> int:
    """How many pointer arguments follow the parameter block."""
    return len(kernel.reads) + len(kernel.constants) + 1 + int(kernel.takes_scratch)


def dispatch_source(kernels: dict[str, Kernel]) -> str:
    """C that calls kernel number i (in the order of the dict) with its parameter block and pointers."""
    lines = [f'#include "{h}"' for h in sorted({k.header for k in kernels.values()})]
    lines += ['#include "dispatch.h"', "void rl_test_dispatch(int32_t kernel, void **b) {", "    switch (kernel) {"]
    for number, (symbol, kernel) in enumerate(kernels.items()):
        arguments = ", ".join(f"b[{i + 1}]" for i in range(pointers(kernel)))
        lines.append(f"        case {number}: {symbol}(b[0], {arguments}); break;")
    return "\n".join([*lines, "        default: break;", "    }", "}", ""])


def build_driver(kernels: dict[str, Kernel], folder: Path, cc: str = "gcc") -> Path:
    """Compiles the driver with the sources that these kernels need."""
    (folder / "dispatch.h").write_text("#include <stdint.h>\nvoid rl_test_dispatch(int32_t kernel, void **b);\n")
    (folder / "dispatch.c").write_text(dispatch_source(kernels))
    sources = sorted({s for k in kernels.values() for s in k.sources})
    exe = folder / "driver"
    command = [cc, *FLAGS, *SANITIZE, f"-I{folder}", f"-I{KERNELS}", "-o", str(exe), str(folder / "dispatch.c")]
    command += [str(Path(__file__).with_name("driver.c")), *(str(KERNELS / s) for s in sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return exe


@dataclass
class _Call:
    kernel: Kernel
    graph: Graph
    buffers: list[tuple[int, int, int, bytes]]  # kind, bytes (or index), offset, data
    expected: Array
    label: str


def _call(kernel: Kernel, graph: Graph, arrays: list[Array], expected: Array, offset: int, alias: int | None) -> _Call:
    block = kernel.params_type.pack(kernel.params)
    buffers = [(INPUT, len(block), 0, block)]
    for index in kernel.reads:
        data = np.ascontiguousarray(arrays[index])
        shift = offset if data.dtype == np.int8 else 0
        buffers.append((INPUT, data.nbytes, shift, data.tobytes()))
    buffers += [(INPUT, c.data.nbytes, 0, c.data.tobytes()) for c in kernel.constants]
    if alias is None:
        buffers.append((OUTPUT, expected.nbytes, offset if expected.dtype == np.int8 else 0, b""))
    else:
        buffers.append((ALIAS, 1 + kernel.reads.index(alias), 0, b""))
    if kernel.takes_scratch:
        buffers.append((SCRATCH, kernel.scratch, 0, b""))
    op = graph.ops[0]
    shapes = [list(t.shape) for t in graph.ins(op)]
    return _Call(kernel, graph, buffers, expected, f"{kernel.symbol} {shapes} {op.attrs} {kernel.params}")


def _run(calls: list[_Call], cc: str) -> None:
    kernels = {c.kernel.symbol: c.kernel for c in calls}
    numbers = {symbol: i for i, symbol in enumerate(kernels)}
    parts: list[bytes] = []
    for call in calls:
        parts.append(np.array([numbers[call.kernel.symbol], len(call.buffers)], "<i4").tobytes())
        for kind, size, offset, data in call.buffers:
            parts += [np.array([kind, size, offset], "<i4").tobytes(), data]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exe = build_driver(kernels, folder, cc)
        (folder / "cases").write_bytes(b"".join(parts))
        done = subprocess.run(
            [str(exe), str(folder / "cases"), str(folder / "out")], capture_output=True, text=True, timeout=600
        )
        if done.returncode != 0:
            at = done.stderr.rpartition("\rcase ")[2].split("\n")[0].split("driver")[0].split("=")[0].strip()
            number = int("".join(ch for ch in at if ch.isdigit()) or 0)
            raise AssertionError(f"{calls[min(number, len(calls) - 1)].label}\n{done.stderr[-3000:]}")
        blob, position = (folder / "out").read_bytes(), 0
    for call in calls:
        size = call.expected.nbytes
        got = np.frombuffer(blob[position : position + size], call.expected.dtype).reshape(call.expected.shape)
        position += size
        if not np.array_equal(got, call.expected, equal_nan=got.dtype.kind == "f"):
            where = tuple(int(i) for i in np.argwhere(got != call.expected)[0])
            raise AssertionError(
                f"{call.label}\nfirst difference at {where}: {got[where]} instead of {call.expected[where]}; "
                f"{int((got != call.expected).sum())} of {got.size} differ"
            )
    assert position == len(blob)


def check_kernels(
    cases: Iterable[tuple[Graph, list[Array]]], *, tiers: Sequence[str] = TIERS, seed: int = 0, cc: str = "gcc"
) -> Checked:
    """Runs every candidate of every tier on each case (a single-operator graph with its graph inputs); all must equal the
    reference bit for bit, also in place where the kernel says so, and at any alignment of int8 tensors."""
    rng = np.random.default_rng(seed)
    checked = Checked()
    calls: list[_Call] = []
    for graph, given in cases:
        op = graph.ops[0]
        declaration = operator(op.kind)
        declaration.check(op, graph)
        by_name = dict(zip(graph.inputs, given, strict=True))
        arrays = [by_name[t.name] if t.data is None else t.data for t in graph.ins(op)]
        expected = declaration.reference(op, graph, arrays)[0]
        assert expected.shape == graph.outs(op)[0].shape, (expected.shape, graph.outs(op)[0].shape)
        seen: set[str] = set()
        for tier in tiers:
            candidates = declaration.kernels(op, graph, TIERS[TIERS.index(tier) :])
            assert candidates, f"{op.kind} has no kernel for tier {tier}"
            checked.by_tier[tier] += 1
            for kernel in candidates:
                key = f"{kernel.symbol}{sorted(kernel.params.items(), key=str)}"
                if key in seen:
                    continue
                seen.add(key)
                checked.by_symbol[kernel.symbol] += 1
                calls.append(_call(kernel, graph, arrays, expected, int(rng.integers(0, 4)), None))
                for index in kernel.in_place:
                    checked.in_place += 1
                    calls.append(_call(kernel, graph, arrays, expected, int(rng.integers(0, 4)), index))
    _run(calls, cc)
    return checked
