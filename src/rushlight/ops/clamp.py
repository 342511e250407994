"""clamp: y = min(max(x, low), high). Fused into the operator before it where that takes one, else a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    AtenNode,
    AtenRule,
    ImportContext,
    IntegerBuilder,
    Lower,
    Operator,
    register,
    spec,
)
from rushlight.ops.table import emit_table


@dataclass(frozen=True)
class ClampAttrs:
    """Real-valued bounds; -inf or inf where there is none."""

    low: float
    high: float


def _bounds(low: float | str | None, high: float | str | None) -> Lower:
    """Lowering with bounds that are numbers, or arguments of the ATen operator; None: no bound."""

    def lower(ctx: ImportContext, node: AtenNode) -> str:
        given = [node[b] if isinstance(b, str) else b for b in (low, high)]
        lowest = -math.inf if given[0] is None else float(given[0])
        highest = math.inf if given[1] is None else float(given[1])
        if math.isnan(lowest) or math.isnan(highest):
            raise ctx.refuse("a bound is NaN", "give numbers")
        # As torch does: where the bounds cross, all values become the upper one.
        return ctx.emit("clamp", [node["self"]], ClampAttrs(min(lowest, highest), highest))

    return lower


def _rule(target: str, low: float | str | None, high: float | str | None) -> AtenRule:
    return AtenRule((target,), _bounds(low, high), Annotation(("self",), clamps=True))


@register
class Clamp(Operator):
    """Float form only: any shape, float32."""

    kind = "clamp"
    elementwise = True
    aten = (
        _rule("relu.default", 0.0, None),
        _rule("relu6.default", 0.0, 6.0),
        _rule("hardtanh.default", "min_val", "max_val"),
        _rule("clamp.default", "min", "max"),
        _rule("clip.default", "min", "max"),
        _rule("clamp_min.default", "min", None),
        _rule("clamp_max.default", None, "max"),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        return spec(inputs[0].shape, inputs[0].dtype)

    def clamp_bounds(self, attrs: Any) -> tuple[float, float] | None:
        return attrs.low, attrs.high

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        return emit_table(build, lambda x: np.clip(x, op.attrs.low, op.attrs.high))
