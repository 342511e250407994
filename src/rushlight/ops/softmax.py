"""softmax over the last dimension, from a table of exponentials and one division a row.

For a row x of n <= 65536 int8 values with maximum M:

    E[d] = round(65535 · exp(-s_x·d)), d = 0..255      constants, uint16; halves to even
    e_i  = E[M - x_i]
    S    = Σ e_i                                       uint32: n·65535 < 2^32, and S >= 65535 as E[0] = 65535
    R    = floor((2^32 - 1) / S)                       the one division
    p_i  = e_i · R                                     uint32: at most 2^32 - 1, as e_i <= S; p_i / 2^32 is the probability
    y_i  = clamp(z_y + requantize(p_i >> 1, 2^-31 / s_y), qmin, qmax)

R makes p_i too small by less than e_i/2^32 <= 2^-16 of the whole, which is 2^-8 of a step of 1/256.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    Array,
    AtenNode,
    AtenRule,
    Constant,
    Fixed,
    ImportContext,
    Kernel,
    Operator,
    ParamsType,
    product,
    register,
    spec,
)
from rushlight.ops.common.arith import quantize_multiplier, requantize

MAX_ROW = 65536

PARAMS = ParamsType(
    "rl_softmax_params",
    (
        ("rows", "int32_t", 1),
        ("columns", "int32_t", 1),
        ("multiplier", "int16_t", 1),
        ("shift", "int16_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("reserved", "int16_t", 1),
    ),
)


@dataclass(frozen=True)
class SoftmaxAttrs:
    """Nothing: it is over the last dimension."""


def exponentials(scale: float) -> NDArray[np.uint16]:
    """E[d] for d = 0..255."""
    e: NDArray[np.uint16] = np.rint(65535 * np.exp(-scale * np.arange(256, dtype=np.float64))).astype("<u2")
    return e


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    x = ctx.tensor(node["self"])
    rank = len(x.shape)
    axis = node["dim"] % max(rank, 1)
    if rank == 0:
        raise ctx.refuse("softmax of a number is always 1", "take it out")
    order = (*(i for i in range(rank) if i != axis), axis)
    last = ctx.emit("softmax", [ctx.permute(x.name, order)], SoftmaxAttrs())
    return ctx.permute(last, tuple(int(i) for i in np.argsort(order)))


@register
class Softmax(Operator):
    """Input int8 of rank >= 1, output int8 of the same shape."""

    kind = "softmax"
    aten = (
        AtenRule(
            ("softmax.int", "_softmax.default", "special_softmax.default"),
            _lower,
            Annotation(("self",), output=Fixed(1 / 256, -128)),
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        if not inputs[0].shape:
            raise ValueError("it needs a dimension")
        return spec(inputs[0].shape, inputs[0].dtype)

    def check(self, op: Op, graph: Graph) -> None:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        if x.shape[-1] > MAX_ROW:
            raise ValueError(f"a row of {x.shape[-1]} values is above {MAX_ROW}: their sum can leave 32 bits")
        if y.q.s > 2.0:
            raise ValueError(f"an output scale of {y.q.s:g} is useless for values from 0 to 1")
        quantize_multiplier(2.0**-31 / y.q.s)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        values = inputs[0].astype(np.int64)
        e = exponentials(x.q.s).astype(np.int64)[values.max(axis=-1, keepdims=True) - values]
        p = e * ((2**32 - 1) // e.sum(axis=-1, keepdims=True))
        m = quantize_multiplier(2.0**-31 / y.q.s)
        return [requantize(p >> 1, m.multiplier, m.shift, m.pre, y.q.z, y.q.qmin, y.q.qmax)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        rows, columns = kernel.params["rows"], kernel.params["columns"]
        features = {"calls": 1.0, "rows": float(rows)}
        if kernel.tier == "mve":
            counts = {"fours": -(-columns // 4), "vectors": columns // 16, "left": columns % 16}
            return features | {name: float(rows * count) for name, count in counts.items()}
        if kernel.tier == "dsp":
            features["left"] = float(rows * (columns % 4))
        return features | {"values": float(rows * columns)}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        m = quantize_multiplier(2.0**-31 / y.q.s)
        params = {
            "rows": product(x.shape[:-1]),
            "columns": x.shape[-1],
            "multiplier": m.multiplier,
            "shift": m.shift,
            "out_zero_point": y.q.z,
            "out_min": y.q.qmin,
            "out_max": y.q.qmax,
            "reserved": 0,
        }
        return [
            Kernel(
                symbol=f"rl_softmax_s8_{tier}",
                tier=tier,
                header="softmax/softmax.h",
                sources=(f"softmax/{tier}.c",),
                params_type=PARAMS,
                params=params,
                constants=(Constant("exponentials", exponentials(x.q.s), "uint16_t"),),
                in_place=(0,),
            )
            for tier in tiers
            if tier in ("mve", "dsp", "v7m", "v6m")
        ]

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        return op.attrs if permutation[-1] == len(permutation) - 1 else None
