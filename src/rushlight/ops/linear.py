"""linear: y[n, o] = Σ_k x[n, k]·w[o, k] + b[o] over the last dimension; leading dimensions are rows."""

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
    product,
    register,
    spec,
)
from rushlight.ops.common.channels import Bounds, ChannelUse, Mix
from rushlight.ops.common.linear_pairs import pair_features, pair_kernel
from rushlight.ops.common.tiles import tile_constants, tile_features, tile_scratch, usable_tiers
from rushlight.ops.common.tiles_mve import beyond, one_row_constants, whole_steps
from rushlight.ops.common.walks_mve import linear_rows, one_row_tile
from rushlight.ops.common.weighted import ChannelTerms, channel_terms, integer_weighted

PARAMS = ParamsType(
    "rl_linear_params",
    (
        ("rows", "int32_t", 1),
        ("in_features", "int32_t", 1),
        ("out_features", "int32_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("reserved", "int16_t", 1),
    ),
)
#: The most output features for which a row is better not widened in scratch on the DSP tier.
_FEW = 4
PAIR_PARAMS = ParamsType("rl_linear_pair_params", PARAMS.fields)


@dataclass(frozen=True)
class LinearAttrs:
    """Integer range of the output; a fused clamp narrows it."""

    out_min: int = -128
    out_max: int = 127


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    inputs = [node["input"], node["weight"]] + ([node["bias"]] if node["bias"] is not None else [])
    return ctx.emit("linear", inputs, LinearAttrs())


def _scratch(tier: str, depth: int, rows: int) -> int:
    """Bytes for the tile itself and the rows that are copied for it."""
    return whole_steps(depth) * beyond(depth, depth, rows) if tier == "mve" else tile_scratch(tier, depth)


def _few_features(channels: int, depth: int) -> dict[str, float]:
    """How often the loops of ``rl_linear_s8_dsp_few`` run."""
    (pairs, single), (quads, left) = divmod(channels, 2), divmod(depth, 4)
    return {
        "calls": 1,
        "tail bytes": left,
        "blocks": pairs,
        "block tails": pairs * (left > 0),
        "steps": pairs * (quads // 4),
        "quads": pairs * (quads % 4),
        "single": single,
        "single quads": single * quads,
    }


@register
class Linear(Operator):
    """Inputs: x int8 [..., K], weight int8 [O, K], bias int32 [O]. Output int8 [..., O]."""

    kind = "linear"
    absorbs_clamp = True
    aten = (
        AtenRule(
            ("linear.default",),
            _lower,
            Annotation(("input",), weight="weight", weight_axis=0, bias="bias", absorbs_clamp=True),
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x, w = inputs[0], inputs[1]
        if len(w.shape) != 2 or not x.shape or x.shape[-1] != w.shape[1]:
            raise ValueError(f"input {list(x.shape)} does not fit weight {list(w.shape)}")
        return spec((*x.shape[:-1], w.shape[0]), x.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        low, high = build.clamp_range()
        channels = build.tensor(build.inputs[1]).shape[0]
        return integer_weighted(build, self.kind, replace(op.attrs, out_min=low, out_max=high), channels)

    def terms(self, op: Op, graph: Graph) -> ChannelTerms:
        x, w, bias = graph.ins(op)
        assert w.data is not None
        return channel_terms(x, w, bias, graph.outs(op)[0], w.data)

    def check(self, op: Op, graph: Graph) -> None:
        self.terms(op, graph)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, w, _ = inputs
        acc = x.astype(np.int64) @ w.astype(np.int64).T
        return [self.terms(op, graph).requantize(acc, graph.outs(op)[0], op.attrs.out_min, op.attrs.out_max)]

    def _mix(self, op: Op, graph: Graph) -> Mix:
        weight = graph.ins(op)[1].data
        assert weight is not None
        return Mix(weight.astype(np.int64)[:, None, :], np.ones((1, 1), np.bool_))

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        return self.terms(op, graph).bounds(self._mix(op, graph), inputs[0].low, inputs[0].high, x, y, op.attrs)

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        return ChannelUse(mix=self._mix(op, graph), per_output={1: 0, 2: 0}, per_input={1: 1})

    def macs(self, op: Op, graph: Graph) -> int:
        x, w, _ = graph.ins(op)
        return x.elements * w.shape[0]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        p = kernel.params
        rows, channels, depth = p["rows"], p["out_features"], p["in_features"]
        if kernel.params_type is PAIR_PARAMS:
            return pair_features(kernel)
        if kernel.tier == "mve":
            one_row = kernel.symbol.endswith("_row")
            return one_row_tile(channels, depth) if one_row else linear_rows(rows, channels, depth)
        if kernel.symbol.endswith("_few"):
            return _few_features(channels, depth)
        features = tile_features(kernel.tier, rows, 1, channels, depth)
        if kernel.tier == "dsp" and (p["out_min"], p["out_max"]) != (-128, 127):
            features["clamped"] = float(rows * channels)
        return features

    def reordered(self, op: Op, graph: Graph, order: Array) -> dict[int, Array] | None:
        weight = graph.ins(op)[1].data
        assert weight is not None
        return {1: np.ascontiguousarray(weight[:, order])}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, w, _ = graph.ins(op)
        y = graph.outs(op)[0]
        assert w.data is not None
        params = {
            "rows": product(x.shape[:-1]),
            "in_features": w.shape[1],
            "out_features": w.shape[0],
            "out_zero_point": y.q.z,
            "out_min": op.attrs.out_min,
            "out_max": op.attrs.out_max,
            "reserved": 0,
        }
        terms = self.terms(op, graph)
        usable, note = usable_tiers(tiers, terms)
        candidates: list[Kernel] = []
        for tier in usable:
            plain = Kernel(
                symbol=f"rl_linear_s8_{tier}",
                tier=tier,
                header="linear/linear.h",
                sources=(f"linear/{tier}.c", f"common/tile_{tier}.c"),
                params_type=PARAMS,
                params=params,
                constants=tile_constants(tier, w.data, terms, y.q.z),
                takes_scratch=True,
                scratch=_scratch(tier, w.shape[1], params["rows"]),
                note=note,
            )
            if tier == "mve" and params["rows"] == 1:
                candidates.append(
                    replace(
                        plain,
                        symbol="rl_linear_s8_mve_row",
                        sources=("linear/mve_row.c",),
                        constants=one_row_constants(w.data, terms),
                    )
                )
            if tier == "dsp" and params["rows"] == 1 and params["out_features"] <= _FEW:
                few = replace(plain, symbol="rl_linear_s8_dsp_few", sources=("linear/dsp_few.c",))
                candidates.append(replace(few, takes_scratch=False, scratch=0))
            pair = pair_kernel(tier, PAIR_PARAMS, params, w.data, terms, note)
            if pair is None:
                candidates.append(plain)
            else:
                candidates += [pair[0], plain] if pair[1] else [plain, pair[0]]
        return candidates
