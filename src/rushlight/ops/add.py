"""add: y = a + alpha·b or a - alpha·b, with broadcasting, by one formula of 32-bit integers.

    y = clamp((a·m_a + b·m_b + c) >> s, out_min, out_max)

m_a = round(s_a/s_y · 2^s) and m_b = round(±alpha·s_b/s_y · 2^s), halves to even, are signed 16-bit integers; s in 1..23 is
the greatest with |m_a|, |m_b| <= 2^15 - 1; c = z_y·2^s - z_a·m_a - z_b·m_b + 2^(s-1) holds the zero points and the rounding.
The shift is arithmetic (floor). Every sum on the way stays below 2^30 + 5·2^22 in magnitude.
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
from rushlight.ops.common.arith import MAX_SCALE, MIN_SCALE
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

LANES = {"mve": 4, "dsp": 4}  # outputs computed together
MAX_SHIFT = 23
MAX_MULTIPLIER = 2**15 - 1

PARAMS = ParamsType(
    "rl_add_params",
    (
        *BROADCAST_FIELDS,
        ("offset", "int32_t", 1),
        ("a_multiplier", "int16_t", 1),
        ("b_multiplier", "int16_t", 1),
        ("shift", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("reserved", "int16_t", 1),
    ),
)


@dataclass(frozen=True)
class AddAttrs:
    """``subtract``: the second operand is taken away; ``alpha`` is its factor. The range is the integer output's."""

    subtract: bool = False
    alpha: float = 1.0
    out_min: int = -128
    out_max: int = 127


@dataclass(frozen=True)
class AddTerms:
    """The integers of the formula above."""

    multipliers: tuple[int, int]
    offset: int
    shift: int


def add_terms(a: Tensor, b: Tensor, y: Tensor, attrs: AddAttrs) -> AddTerms:
    """ValueError where a scale lies outside 2^-30 … 2^14."""
    factor = -attrs.alpha if attrs.subtract else attrs.alpha
    ratios = (a.q.s / y.q.s, factor * b.q.s / y.q.s)
    for ratio in ratios:
        if ratio != 0.0 and not (MIN_SCALE <= abs(ratio) <= MAX_SCALE):
            raise ValueError(
                f"the scale {ratio:g} of an operand to the output is beyond 2^-30 … 2^14: broken calibration"
            )
    largest = max(abs(r) for r in ratios)
    shift = next(s for s in range(MAX_SHIFT, -1, -1) if round(largest * 2**s) <= MAX_MULTIPLIER)
    m = tuple(max(-MAX_MULTIPLIER, min(MAX_MULTIPLIER, round(r * 2**shift))) for r in ratios)
    offset = (y.q.z << shift) - a.q.z * m[0] - b.q.z * m[1] + (1 << (shift - 1))
    return AddTerms((m[0], m[1]), offset, shift)


def _lower(subtract: bool, reverse: bool) -> Any:
    """``reverse``: alpha·self is taken from other (rsub)."""

    def lower(ctx: ImportContext, node: AtenNode) -> str:
        first, second = (node["other"], node["self"]) if reverse else (node["self"], node["other"])
        alpha = float(node["alpha"])
        factor = -alpha if subtract else alpha
        number = number_of(ctx, second)
        if number is not None and isinstance(first, str):
            return emit_function(ctx, node, first, "affine", 1.0, factor * number)
        number = number_of(ctx, first)
        if number is not None:
            return emit_function(ctx, node, second, "affine", factor, number)
        return ctx.emit("add", [first, second], AddAttrs(subtract, alpha))

    return lower


_ANNOTATION = Annotation(("self", "other"), absorbs_clamp=True)


@register
class Add(Operator):
    """Inputs: a, b int8, of shapes that broadcast to at most rank 6; one may be a constant. Output int8."""

    kind = "add"
    absorbs_clamp = True
    aten = (
        AtenRule(("add.Tensor", "add.Scalar"), _lower(subtract=False, reverse=False), _ANNOTATION),
        AtenRule(
            ("sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar"),
            _lower(subtract=True, reverse=False),
            _ANNOTATION,
        ),
        AtenRule(("rsub.Tensor", "rsub.Scalar"), _lower(subtract=True, reverse=True), _ANNOTATION),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        a, b = inputs
        return spec(broadcast_shape(a, b), b.dtype if a.constant else a.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        if (single := single_number(build)) is not None:
            # One number: a table is exact and faster.
            which, number = single
            factor = -op.attrs.alpha if op.attrs.subtract else op.attrs.alpha
            scale, offset = (1.0, factor * number) if which == 0 else (factor, number)
            return emit_table(build, lambda x: scale * x + offset, which)
        names = quantized_inputs(build)
        if isinstance(names, str):
            return names
        low, high = build.clamp_range()
        build.emit(self.kind, names, replace(op.attrs, out_min=low, out_max=high))
        return None

    def check(self, op: Op, graph: Graph) -> None:
        a, b = graph.ins(op)
        check_operands(a, b)
        add_terms(a, b, graph.outs(op)[0], op.attrs)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        a, b = graph.ins(op)
        terms = add_terms(a, b, graph.outs(op)[0], op.attrs)
        first, second = (x.astype(np.int64) * m for x, m in zip(inputs, terms.multipliers, strict=True))
        y = (first + second + terms.offset) >> terms.shift
        return [np.clip(y, op.attrs.out_min, op.attrs.out_max).astype(np.int8)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        return broadcast_features(kernel.params, LANES.get(kernel.tier, 1))

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        a, b = graph.ins(op)
        terms = add_terms(a, b, graph.outs(op)[0], op.attrs)
        use = operands(op, graph)
        values = {
            "offset": terms.offset,
            "a_multiplier": terms.multipliers[use.order[0]],
            "b_multiplier": terms.multipliers[use.order[1]],
            "shift": terms.shift,
            "out_min": op.attrs.out_min,
            "out_max": op.attrs.out_max,
            "reserved": 0,
        }
        return [
            Kernel(
                symbol=f"rl_add_s8_{tier}",
                tier=tier,
                header="add/add.h",
                sources=(f"add/{tier}.c",),
                params_type=PARAMS,
                params=parameter_block(op, graph, use.order, values),
                constants=use.constants,
                reads=use.reads,
                in_place=use.in_place,
            )
            for tier in tiers
            if tier in ("mve", "dsp", "v6m")
        ]

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        return corner_bounds(self.reference, op, graph, inputs)

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        return carried(op, graph, (0, 1))

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        return op.attrs
