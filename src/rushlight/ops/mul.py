"""mul: y = a·b with broadcasting: one product, one requantise. Division by a constant is multiplication by its reciprocal.

acc = (a - z_a)·(b - z_b)                          at most 255² in magnitude
y   = clamp(z_y + requantize(acc, s_a·s_b / s_y), out_min, out_max)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rushlight.graph import Graph, Op, Tensor, TensorSpec
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
    register,
    spec,
)
from rushlight.ops.common.arith import Multiplier, check_accumulator, quantize_multiplier, requantize
from rushlight.ops.common.binary import (
    BROADCAST_FIELDS,
    broadcast_features,
    broadcast_shape,
    check_operands,
    emit_function,
    number_of,
    operands,
    parameter_block,
    quantized_inputs,
    single_number,
)
from rushlight.ops.common.channels import Bounds, ChannelUse, carried, corner_bounds
from rushlight.ops.table import emit_table

LANES = {"mve": 8, "dsp": 4}  # outputs computed together

PARAMS = ParamsType(
    "rl_mul_params",
    (
        *BROADCAST_FIELDS,
        ("a_zero_point", "int16_t", 1),
        ("b_zero_point", "int16_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("multiplier", "int16_t", 1),
        ("shift", "int16_t", 1),
        ("pre", "int16_t", 1),
    ),
)


@dataclass(frozen=True)
class MulAttrs:
    """Integer range of the output; a fused clamp narrows it."""

    out_min: int = -128
    out_max: int = 127


def mul_multiplier(a: Tensor, b: Tensor, y: Tensor) -> Multiplier:
    """ValueError where exactness cannot be proved."""
    m = quantize_multiplier(a.q.s * b.q.s / y.q.s)
    reach = [max(t.q.qmax - t.q.z, t.q.z - t.q.qmin) for t in (a, b)]
    check_accumulator(reach[0] * reach[1], m)
    return m


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    first, second = node["self"], node["other"]
    for x, other in ((first, second), (second, first)):
        number = number_of(ctx, other)
        if number is not None and isinstance(x, str):
            return emit_function(ctx, node, x, "affine", number, 0.0)
    return ctx.emit("mul", [first, second], MulAttrs())


def _lower_div(ctx: ImportContext, node: AtenNode) -> str:
    first, second = node["self"], node["other"]
    number = number_of(ctx, second)
    if number is not None:
        if number == 0.0:
            raise ctx.refuse("it divides by 0", "check the constant")
        return emit_function(ctx, node, first, "affine", 1.0 / number, 0.0)
    number = number_of(ctx, first)
    if number is not None:
        return emit_function(ctx, node, second, "rdiv", number)
    divisor = ctx.tensor(second)
    if divisor.data is None:
        raise ctx.refuse(
            "division by a tensor computed when running has no integer kernel",
            "multiply by its reciprocal: x * (1 / y)",
        )
    if not np.all(divisor.data):
        raise ctx.refuse("it divides by a constant that has zeros", "check the constant")
    return ctx.emit("mul", [first, ctx.constant(np.float32(1) / divisor.data, "reciprocal")], MulAttrs())


_ANNOTATION = Annotation(("self", "other"), absorbs_clamp=True)


@register
class Mul(Operator):
    """Inputs: a, b int8, of shapes that broadcast to at most rank 6; one may be a constant. Output int8."""

    kind = "mul"
    absorbs_clamp = True
    aten = (
        AtenRule(("mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar"), _lower, _ANNOTATION),
        AtenRule(
            ("div.Tensor", "div.Scalar", "divide.Tensor", "divide.Scalar", "true_divide.Tensor", "true_divide.Scalar"),
            _lower_div,
            _ANNOTATION,
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        a, b = inputs
        return spec(broadcast_shape(a, b), b.dtype if a.constant else a.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        if (single := single_number(build)) is not None:
            # One number: a table is exact and faster.
            which, number = single
            return emit_table(build, lambda x: x * number, which)
        names = quantized_inputs(build)
        if isinstance(names, str):
            return names
        low, high = build.clamp_range()
        build.emit(self.kind, names, replace(op.attrs, out_min=low, out_max=high))
        return None

    def check(self, op: Op, graph: Graph) -> None:
        a, b = graph.ins(op)
        check_operands(a, b)
        mul_multiplier(a, b, graph.outs(op)[0])

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        a, b = graph.ins(op)
        y = graph.outs(op)[0]
        m = mul_multiplier(a, b, y)
        acc = (inputs[0].astype(np.int64) - a.q.z) * (inputs[1].astype(np.int64) - b.q.z)
        return [requantize(acc, m.multiplier, m.shift, m.pre, y.q.z, op.attrs.out_min, op.attrs.out_max)]

    def macs(self, op: Op, graph: Graph) -> int:
        return graph.outs(op)[0].elements

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        return broadcast_features(kernel.params, LANES.get(kernel.tier, 1))

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        ins, y = graph.ins(op), graph.outs(op)[0]
        m = mul_multiplier(ins[0], ins[1], y)
        use = operands(op, graph)
        values = {
            "a_zero_point": ins[use.order[0]].q.z,
            "b_zero_point": ins[use.order[1]].q.z,
            "out_zero_point": y.q.z,
            "out_min": op.attrs.out_min,
            "out_max": op.attrs.out_max,
            "multiplier": m.multiplier,
            "shift": m.shift,
            "pre": m.pre,
        }
        vectors = tuple(t for t in tiers if t in ("mve", "dsp"))
        note = "the scale of the product to the output is 1/4 or more" if vectors and m.pre else ""
        return [
            Kernel(
                symbol=f"rl_mul_s8_{tier}",
                tier=tier,
                header="mul/mul.h",
                sources=(f"mul/{tier}.c",),
                params_type=PARAMS,
                params=parameter_block(op, graph, use.order, values),
                constants=use.constants,
                reads=use.reads,
                in_place=use.in_place,
                note=note,
            )
            for tier in tiers
            if tier in ("v7m", "v6m") or not m.pre
        ]

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        return corner_bounds(self.reference, op, graph, inputs)

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        return carried(op, graph, (0, 1))

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        return op.attrs
