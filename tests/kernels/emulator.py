"""Runs single-operator cases on emulated boards, many in one program, against the reference.

The program is made as a user's is (schedule, C, firmware), with every kernel that the tier has for a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rushlight.emit import write_c
from rushlight.firmware import build_firmware, copy_board
from rushlight.graph import Graph, Op, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array, Kernel
from rushlight.run.qemu import run_qemu
from rushlight.schedule import make_schedule
from rushlight.target import resolve

#: A core of each tier, on the emulated board that has memory enough for many cases.
CORES = {"mve": "cortex-m55", "dsp": "cortex-m4", "v7m": "cortex-m3", "v6m": "cortex-m0@mps2-an385"}
#: Cases of one program; more would not fit in the boards' memory.
_AT_ONCE = 120


def merge(cases: Sequence[tuple[Graph, list[Array]]]) -> tuple[Graph, list[Array]]:
    """One graph of all the cases' operators, side by side, and its inputs."""
    tensors: dict[str, Tensor] = {}
    ops: list[Op] = []
    inputs: list[str] = []
    outputs: list[str] = []
    arrays: list[Array] = []
    for number, (graph, given) in enumerate(cases):
        new = {name: f"{name}_{number}" for name in graph.tensors}
        tensors |= {new[n]: replace(t, name=new[n]) for n, t in graph.tensors.items()}
        for op in graph.ops:
            renamed = tuple(new[n] for n in op.inputs), tuple(new[n] for n in op.outputs)
            ops.append(replace(op, name=f"{op.name}_{number}", inputs=renamed[0], outputs=renamed[1]))
        inputs += [new[n] for n in graph.inputs]
        outputs += [new[n] for n in graph.outputs]
        arrays += given
    return Graph("cases", tensors, tuple(ops), tuple(inputs), tuple(outputs)), arrays


def _each_kernel(merged: Graph, tier: str, tiers: Sequence[str]) -> tuple[Graph, dict[str, Kernel]]:
    """The graph with one operator for each kernel of the tier that its operators have, and those kernels by operator.

    An operator that has none of the tier stands once, with its first candidate.
    """
    tensors, ops, outputs = dict(merged.tensors), [], []
    kernels: dict[str, Kernel] = {}
    for op in merged.ops:
        candidates = operator(op.kind).kernels(op, merged, tiers)
        for number, kernel in enumerate([k for k in candidates if k.tier == tier] or candidates[:1]):
            y = replace(merged[op.outputs[0]], name=f"{op.outputs[0]}_k{number}")
            one = replace(op, name=f"{op.name}_k{number}", outputs=(y.name,))
            tensors[y.name] = y
            ops.append(one)
            outputs.append(y.name)
            kernels[one.name] = kernel
        del tensors[op.outputs[0]]
    return replace(merged, tensors=tensors, ops=tuple(ops), outputs=tuple(outputs)), kernels


def check_on_board(
    cases: Sequence[tuple[Graph, list[Array]]], tier: str, folder: Path, toolchain: str = "gcc", opt: str = "-O2"
) -> tuple[int, set[str]]:
    """Runs the cases on the tier's board with every kernel of the tier; all outputs must equal the reference.

    Returns the instructions of the run and the kernels' symbols, for the test to assert that they are those it means.
    """
    instructions, symbols = 0, set[str]()
    for start in range(0, len(cases), _AT_ONCE):
        program = folder.with_name(f"{folder.name}_{start}")
        counted, used = _check_program(cases[start : start + _AT_ONCE], tier, program, toolchain, opt)
        instructions += counted
        symbols |= used
    return instructions, symbols


def _check_program(
    cases: Sequence[tuple[Graph, list[Array]]], tier: str, folder: Path, toolchain: str, opt: str
) -> tuple[int, set[str]]:
    merged, arrays = merge(cases)
    target = resolve(CORES[tier])
    graph, kernels = _each_kernel(merged, tier, target.core.tiers)
    schedule = make_schedule(graph, target, choose=lambda op, _: kernels[op.name])
    write_c(schedule, folder, copy_board=copy_board)
    firmware = build_firmware(folder, target, toolchain=toolchain, opt=opt)
    given = dict(zip(graph.inputs, arrays, strict=True))
    expected: list[Array] = []
    for op in graph.ops:
        ins = [given[t.name] if t.data is None else t.data for t in graph.ins(op)]
        expected.append(operator(op.kind).reference(op, graph, ins)[0])
    total = sum(e.nbytes for e in expected)
    result = run_qemu(firmware.elf, target, [b"".join(a.tobytes() for a in arrays)], total)
    position = 0
    for op, wanted in zip(graph.ops, expected, strict=True):
        blob = result.outputs[0][position : position + wanted.nbytes]
        position += wanted.nbytes
        got = np.frombuffer(blob, wanted.dtype).reshape(wanted.shape)
        shapes = [t.shape for t in graph.ins(op)]
        np.testing.assert_array_equal(got, wanted, f"{kernels[op.name].symbol} {shapes} {op.attrs}")
    return result.instructions[0], {call.kernel.symbol for call in schedule.calls}
