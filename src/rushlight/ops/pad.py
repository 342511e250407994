"""pad: a constant value around a tensor; negative pads crop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    Array,
    AtenNode,
    AtenRule,
    ImportContext,
    IntegerBuilder,
    Kernel,
    Operator,
    ParamsType,
    product,
    register,
    spec,
)
from rushlight.ops.common.arith import quantize_to
from rushlight.ops.common.channels import ChannelUse, carried
from rushlight.ops.common.strided import merged, odometer, row_major_strides, walked
from rushlight.ops.common.walks import aligned, fills, memcpy

OUTER = 5

PARAMS = ParamsType(
    "rl_pad_params",
    (
        ("outer", "int32_t", OUTER),
        ("x_step", "int32_t", OUTER),
        ("y_step", "int32_t", OUTER),
        ("run", "int32_t", 1),
        ("x_start", "int32_t", 1),
        ("y_start", "int32_t", 1),
        ("total", "int32_t", 1),
        ("fill", "int32_t", 1),
    ),
)


@dataclass(frozen=True)
class PadAttrs:
    """``pads``: (before, after) for each dimension, negative to crop; ``value``: the real number that pads stand for."""

    pads: tuple[tuple[int, int], ...]
    value: float = 0.0


def _pads(rank: int, flat: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """torch's list (last dimension first) as pairs for each dimension."""
    pairs = [(int(flat[i]), int(flat[i + 1])) for i in range(0, len(flat), 2)]
    return ((0, 0),) * (rank - len(pairs)) + tuple(reversed(pairs))


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    x = ctx.tensor(node["self"])
    if len(node["pad"]) % 2 or len(node["pad"]) > 2 * len(x.shape):
        raise ctx.refuse(f"{len(node['pad'])} pads do not fit rank {len(x.shape)}", "give two for each dimension")
    value = 0.0 if node["value"] is None else float(node["value"])
    if math.isnan(value):
        raise ctx.refuse("the padding value is NaN", "give a number")
    pads = _pads(len(x.shape), node["pad"])
    return x.name if not any(a or b for a, b in pads) else ctx.emit("pad", [x.name], PadAttrs(pads, value))


def _lower_pad(ctx: ImportContext, node: AtenNode) -> str:
    if node["mode"] != "constant":
        raise ctx.refuse(f"padding by {node['mode']!r} has no kernel", "pad with a constant")
    return _lower(ctx, node)


_ANNOTATION = Annotation(("self",), output="same")


@register
class Pad(Operator):
    """Input and output int8 of the same quantisation, rank up to 6. The value is rounded and kept to the integer range."""

    kind = "pad"
    monotone = True
    aten = (
        AtenRule(("pad.default",), _lower_pad, _ANNOTATION),
        AtenRule(("constant_pad_nd.default",), _lower, _ANNOTATION),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x = inputs[0]
        if len(attrs.pads) != len(x.shape):
            raise ValueError(f"{len(attrs.pads)} pairs of pads do not fit {list(x.shape)}")
        shape = [size + before + after for size, (before, after) in zip(x.shape, attrs.pads, strict=True)]
        kept = [_kept(size, before, after) for size, (before, after) in zip(x.shape, attrs.pads, strict=True)]
        if min(shape, default=1) < 1 or min(kept, default=1) < 1:
            raise ValueError(f"pads {list(attrs.pads)} leave nothing of {list(x.shape)}")
        return spec(shape, x.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        q = build.output
        if not build.tensor(build.inputs[0]).q.same_mapping(q):
            return "its output has another scale than its input"
        fill = fill_byte(op.attrs.value, q.s, q.z, q.qmin, q.qmax)
        if math.isfinite(op.attrs.value) and abs((fill - q.z) * q.s - op.attrs.value) > 0.51 * q.s:
            build.note(
                "warning", f"the padding value {op.attrs.value:g} is outside its range; {(fill - q.z) * q.s:g} is used"
            )
        build.emit(self.kind, build.inputs, op.attrs)
        return None

    def check(self, op: Op, graph: Graph) -> None:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        if x.dtype is not DType.INT8 or not x.q.same_mapping(y.q):
            raise ValueError("input and output must be int8 of one quantisation")
        if len(x.shape) > 6:
            raise ValueError(f"rank {len(x.shape)} is above 6")

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        y = graph.outs(op)[0]
        out = np.full(y.shape, _fill(op, y), np.int8)
        from_x = tuple(
            slice(max(0, -b), n - max(0, -a)) for n, (b, a) in zip(inputs[0].shape, op.attrs.pads, strict=True)
        )
        to_y = tuple(slice(max(0, b), n - max(0, a)) for n, (b, a) in zip(y.shape, op.attrs.pads, strict=True))
        out[to_y] = inputs[0][from_x]
        return [out]

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        return carried(op, graph, (0,)) if op.attrs.pads and op.attrs.pads[-1] == (0, 0) else None

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        p = kernel.params
        turns, run = product(p["outer"]), p["run"]
        x, y = (walked(p["outer"], p[f"{name}_step"]) + p[f"{name}_start"] for name in "xy")
        gaps = np.diff(np.concatenate([[-run], y, [p["total"]]])) - run
        return {"calls": 1.0, **fills(gaps, 1), **memcpy(run, aligned(x, y), turns)}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        strides = list(zip(row_major_strides(x.shape), row_major_strides(y.shape), strict=True))
        pads = op.attrs.pads
        kept = [_kept(size, before, after) for size, (before, after) in zip(x.shape, pads, strict=True)]
        # Runs: the dimensions at the end that are whole in both, and the one before them.
        axes = merged(list(zip(kept, strides, strict=True)))
        run = 1
        if axes and axes[-1][1] == (1, 1):
            run = axes.pop()[0]
        outer, x_step = odometer(axes, OUTER, 0)
        _, y_step = odometer(axes, OUTER, 1)
        params = {
            "outer": outer,
            "x_step": x_step,
            "y_step": y_step,
            "run": run,
            "x_start": sum(max(0, -before) * s for (before, _), (s, _) in zip(pads, strides, strict=True)),
            "y_start": sum(max(0, before) * s for (before, _), (_, s) in zip(pads, strides, strict=True)),
            "total": product(y.shape),
            "fill": _fill(op, y),
        }
        return [Kernel("rl_pad_s8_v6m", "v6m", "pad/pad.h", ("pad/v6m.c",), PARAMS, params)]

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        pads = list(op.attrs.pads)
        for i, p in enumerate(permutation):
            pads[p] = op.attrs.pads[i]
        return PadAttrs(tuple(pads), op.attrs.value)


def _kept(size: int, before: int, after: int) -> int:
    """How many indices of the input are in the output."""
    return size + min(0, before) + min(0, after)


def fill_byte(value: float, scale: float, zero_point: int, qmin: int, qmax: int) -> int:
    """The integer for a padding value, infinite ones included (pads before a max pool)."""
    if math.isinf(value):
        return qmax if value > 0 else qmin
    return max(qmin, min(qmax, quantize_to(value, scale, zero_point)))


def _fill(op: Op, y: Tensor) -> int:
    return fill_byte(op.attrs.value, y.q.s, y.q.z, y.q.qmin, y.q.qmax)
