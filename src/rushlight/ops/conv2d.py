"""conv2d on NHWC: y[n, i, j, o] = Σ x[n, i·s + ky·d - pad, …, c]·w[o, ky, kx, c] + b[o], padding counting as 0.

The rule for PyTorch's convolution is here; it also builds ``depthwise_conv2d``.
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
from rushlight.ops.common.channels import Bounds, ChannelUse, Mix
from rushlight.ops.common.conv2d_columns import COLUMNS, columns_features, columns_kernel, saves
from rushlight.ops.common.conv2d_pairs import PAIR_PARAMS, pair_features, pair_kernels
from rushlight.ops.common.tiles import (
    TILE_ROWS,
    TILES,
    pack_weights,
    tile_constants,
    tile_features,
    tile_scratch,
    usable_tiers,
)
from rushlight.ops.common.tiles_mve import beyond, gathered, whole_steps
from rushlight.ops.common.walks import gather_runs, gather_taps
from rushlight.ops.common.walks_mve import convolution
from rushlight.ops.common.weighted import ChannelTerms, channel_terms, integer_weighted
from rushlight.ops.common.window import WINDOW_FIELDS, output_hw, patches, taps_in_input, window_params
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs

PARAMS = ParamsType(
    "rl_conv2d_params",
    (
        *WINDOW_FIELDS,
        ("depth", "int32_t", 1),
        ("group_weights", "int32_t", 1),
        ("groups", "int16_t", 1),
        ("group_in", "int16_t", 1),
        ("group_out", "int16_t", 1),
        ("gather", "int16_t", 1),
        ("in_zero_point", "int16_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
    ),
)

DIRECT, RUNS, TAPS = 0, 1, 2  # RL_CONV2D_...


@dataclass(frozen=True)
class Conv2dAttrs:
    """Pairs are (height, width), padding is (top, bottom, left, right); ``out_min``, ``out_max``: a fused clamp narrows it."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    groups: int = 1
    out_min: int = -128
    out_max: int = 127


def _pair(value: Any) -> tuple[int, int]:
    """An int[2] argument, which may be written as one number."""
    numbers = [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)]
    return numbers[0], numbers[-1]


def _padding(value: Any, kernel: tuple[int, int], dilation: tuple[int, int]) -> tuple[int, int, int, int]:
    """PyTorch's padding argument as top, bottom, left, right; "same" puts the odd one at the bottom and right."""
    if value == "valid":
        return 0, 0, 0, 0
    if value == "same":
        height, width = (d * (k - 1) for k, d in zip(kernel, dilation, strict=True))
        return height // 2, height - height // 2, width // 2, width - width // 2
    height, width = _pair(value)
    return height, height, width, width


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    x, weight, bias = ctx.tensor(node["input"]), ctx.tensor(node["weight"]), node["bias"]
    if len(x.shape) not in (3, 4):
        raise ctx.refuse(f"its input has shape {list(x.shape)}", "give it [N, C, H, W] or [C, H, W]")
    channels, _, kernel_h, kernel_w = weight.shape
    kernel, groups = (kernel_h, kernel_w), int(node["groups"])
    stride, dilation = _pair(node["stride"]), _pair(node["dilation"])
    padding = _padding(node["padding"], kernel, dilation)
    batched = x.name if len(x.shape) == 4 else ctx.reshape(x.name, (1, *x.shape))
    nhwc = ctx.permute(batched, (0, 2, 3, 1))
    rest = [] if bias is None else [bias]
    if groups > 1 and groups == x.shape[-3]:
        depthwise = DepthwiseConv2dAttrs(kernel, stride, dilation, padding, channels // groups)
        taps = ctx.reshape(weight.name, (channels, *kernel))
        out = ctx.emit("depthwise_conv2d", [nhwc, taps, *rest], depthwise)
    else:
        attrs = Conv2dAttrs(kernel, stride, dilation, padding, groups)
        out = ctx.emit("conv2d", [nhwc, ctx.permute(weight.name, (0, 2, 3, 1)), *rest], attrs)
    nchw = ctx.permute(out, (0, 3, 1, 2))
    return nchw if len(x.shape) == 4 else ctx.reshape(nchw, ctx.tensor(nchw).shape[1:])


def _gather(attrs: Conv2dAttrs) -> int:
    """How the kernels come by the window of a pixel, see conv2d.h."""
    runs = attrs.groups == 1 and attrs.dilation[1] == 1
    one_run = attrs.kernel[0] == 1 and (attrs.kernel[1] == 1 or runs)
    if one_run and attrs.padding == (0, 0, 0, 0):
        return DIRECT
    return RUNS if runs else TAPS


def _scratch(tier: str, params: Mapping[str, Any], pixels: int) -> int:
    """Bytes for the tile itself and the windows that are gathered for it."""
    depth: int = params["depth"]
    direct = params["gather"] == DIRECT
    if tier == "mve":
        step = params["window.stride_w"] * params["window.in_c"]
        return whole_steps(depth) * (beyond(depth, step, pixels) if direct else gathered(depth))
    return tile_scratch(tier, depth) + (0 if direct else TILE_ROWS * depth)


def _weight(op: Op, graph: Graph) -> Array:
    data = graph.ins(op)[1].data
    assert data is not None
    return data


@register
class Conv2d(Operator):
    """Inputs: x int8 [N, H, W, C], weight int8 [O, KH, KW, C/groups], bias int32 [O]. Output int8 [N, OH, OW, O]."""

    kind = "conv2d"
    absorbs_clamp = True
    absorbs_pad = True
    aten = (
        AtenRule(
            ("conv2d.default", "conv2d.padding"),
            _lower,
            Annotation(("input",), weight="weight", weight_axis=0, bias="bias", absorbs_clamp=True),
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x, w = inputs[0], inputs[1]
        if len(x.shape) != 4 or len(w.shape) != 4:
            raise ValueError(f"input {list(x.shape)} and weight {list(w.shape)} must have four dimensions")
        if w.shape[1:3] != attrs.kernel or w.shape[3] * attrs.groups != x.shape[3] or w.shape[0] % attrs.groups:
            raise ValueError(f"input {list(x.shape)} does not fit weight {list(w.shape)} in {attrs.groups} groups")
        return spec((x.shape[0], *output_hw(x.shape[1:3], attrs), w.shape[0]), x.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        low, high = build.clamp_range()
        channels = build.tensor(build.inputs[1]).shape[0]
        return integer_weighted(build, self.kind, replace(op.attrs, out_min=low, out_max=high), channels)

    def terms(self, op: Op, graph: Graph) -> ChannelTerms:
        x, w, bias = graph.ins(op)
        assert w.data is not None
        return channel_terms(x, w, bias, graph.outs(op)[0], w.data.reshape(w.shape[0], -1))

    def check(self, op: Op, graph: Graph) -> None:
        self.terms(op, graph)
        window_params(graph.ins(op)[0], graph.outs(op)[0], op.attrs)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, w, _ = inputs
        attrs: Conv2dAttrs = op.attrs
        y = graph.outs(op)[0]
        n, out_h, out_w, channels = y.shape
        windows = patches(x, attrs, (out_h, out_w), graph.ins(op)[0].q.z)
        windows = windows.reshape(n * out_h * out_w, -1, attrs.groups, w.shape[3]).astype(np.float64)
        rows = w.reshape(attrs.groups, channels // attrs.groups, -1, w.shape[3]).astype(np.float64)
        # Sums of int8 products are exact in float64, and its matrix product is the fast one.
        acc = [np.tensordot(windows[:, :, g], rows[g], axes=((1, 2), (1, 2))) for g in range(attrs.groups)]
        sums = np.concatenate(acc, axis=1).astype(np.int64).reshape(y.shape)
        return [self.terms(op, graph).requantize(sums, y, attrs.out_min, attrs.out_max)]

    def _mix(self, op: Op, graph: Graph) -> Mix:
        """Of all groups: an output's weights go with the channels of its own group."""
        x, w, _ = graph.ins(op)
        assert w.data is not None
        inside = taps_in_input(x.shape[1:3], graph.outs(op)[0].shape[1:3], op.attrs)
        return Mix(w.data.astype(np.int64).reshape(w.shape[0], -1, w.shape[3]), inside)

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        mix, groups = self._mix(op, graph), op.attrs.groups
        low, high = (
            np.repeat(side.reshape(groups, 1, -1), len(mix.weights) // groups, axis=0)
            for side in (inputs[0].low, inputs[0].high)
        )
        return self.terms(op, graph).bounds(mix, low, high, graph.ins(op)[0], graph.outs(op)[0], op.attrs)

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        if op.attrs.groups > 1:
            return None  # each group has to keep as many channels as the others
        return ChannelUse(mix=self._mix(op, graph), per_output={1: 0, 2: 0}, per_input={1: 3})

    def macs(self, op: Op, graph: Graph) -> int:
        w = graph.ins(op)[1]
        return graph.outs(op)[0].elements * (w.elements // w.shape[0])

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        tier, p = kernel.tier, kernel.params
        if kernel.params_type is PAIR_PARAMS:
            return pair_features(kernel)
        if kernel.symbol == COLUMNS:
            return columns_features(kernel)
        if kernel.symbol != f"rl_conv2d_s8_{tier}" or tier not in TILES:
            return {}
        if tier == "mve":
            return convolution(p)
        height, width, lines = p["window.out_h"], p["window.out_w"], p["window.batch"] * p["groups"]
        dense = p["gather"] == DIRECT and p["window.kernel_w"] == p["window.stride_h"] == p["window.stride_w"] == 1
        pixels, runs = (height * width, lines) if dense else (width, lines * height)
        features = tile_features(tier, pixels, runs, p["group_out"], p["depth"])
        if p["gather"] == RUNS:
            features |= gather_runs(tier, p, p["depth"])
        elif p["gather"] == TAPS:
            features |= {f"taps: {n}": v for n, v in gather_taps(tier, p, p["groups"], p["group_in"]).items()}
        if tier == "dsp" and (p["out_min"], p["out_max"]) != (-128, 127):
            features["clamped"] = float(runs * pixels * p["group_out"])
        return features

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        terms = self.terms(op, graph)
        usable, note = usable_tiers(tiers, terms)
        candidates: list[Kernel] = []
        for tier in usable:
            plain = self._kernel(op, graph, tier, terms, note)
            better, others = pair_kernels(op, graph, tier, terms, note)
            if tier == "mve" and (columns := columns_kernel(plain, _weight(op, graph), terms)) is not None:
                (better if saves(plain.params) else others).append(columns)
            candidates += [*better, plain, *others]
        return candidates

    def _kernel(self, op: Op, graph: Graph, tier: str, terms: ChannelTerms, note: str) -> Kernel:
        x, w, _ = graph.ins(op)
        y = graph.outs(op)[0]
        attrs: Conv2dAttrs = op.attrs
        assert w.data is not None
        rows = w.data.reshape(w.shape[0], -1)
        depth = rows.shape[1]
        gather = _gather(attrs)
        params = window_params(x, y, attrs) | {
            "depth": depth,
            "group_weights": pack_weights(tier, rows, attrs.groups).shape[1],
            "groups": attrs.groups,
            "group_in": w.shape[3],
            "group_out": w.shape[0] // attrs.groups,
            "gather": gather,
            "in_zero_point": x.q.z,
            "out_zero_point": y.q.z,
            "out_min": attrs.out_min,
            "out_max": attrs.out_max,
        }
        return Kernel(
            symbol=f"rl_conv2d_s8_{tier}",
            tier=tier,
            header="conv2d/conv2d.h",
            sources=(f"conv2d/{tier}.c", f"common/tile_{tier}.c"),
            params_type=PARAMS,
            params=params,
            constants=tile_constants(tier, rows, terms, y.q.z, attrs.groups),
            takes_scratch=True,
            scratch=_scratch(tier, params, y.elements // w.shape[0]),
            note=note,
        )
