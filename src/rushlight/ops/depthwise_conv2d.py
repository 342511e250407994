"""depthwise_conv2d: y[n,i,j,c·M+m] = Σ_taps x[n, i·s+k, j·s+l, c] · w[c·M+m, k, l] + b. NHWC; M is the channel multiplier.

It is imported by conv2d's rule (``groups == channels``), so nothing here knows ATen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import Array, Constant, IntegerBuilder, Kernel, Operator, ParamsType, register, spec
from rushlight.ops.common.channels import Bounds, ChannelUse, Mix, Tie, channels_of
from rushlight.ops.common.planes import depthwise_runs, plane_features, planes
from rushlight.ops.common.walks import depthwise_points
from rushlight.ops.common.weighted import ChannelTerms, channel_terms, integer_weighted
from rushlight.ops.common.window import WINDOW_FIELDS, output_hw, patches, taps_in_input, window_params

PARAMS = ParamsType(
    "rl_depthwise_conv2d_params",
    (
        *WINDOW_FIELDS,
        ("in_zero_point", "int16_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("multiplier", "int16_t", 1),
        ("taps", "int16_t", 1),
        ("plan_stride", "int16_t", 1),
        ("clamps", "int16_t", 1),
        ("plane_pitch", "int16_t", 1),
        ("plane_rows", "int16_t", 1),
        ("planes", "int16_t", 1),
        ("reserved", "int16_t", 1),
    ),
)
BLOCK = 16  # channels of an MVE block
HALF = 8  # channels of one with 16-bit lanes
NINE = 9  # taps of the MVE kernels that are unrolled
#: Order in which an MVE block's 32-bit sums lie in four vectors: bottom and top halves, twice.
INTERLEAVE = np.array([[0, 4, 8, 12], [2, 6, 10, 14], [1, 5, 9, 13], [3, 7, 11, 15]])


@dataclass(frozen=True)
class DepthwiseConv2dAttrs:
    """Pairs are (height, width). ``padding``: top, bottom, left, right. ``out_min``, ``out_max``: the output's integers."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    multiplier: int = 1
    out_min: int = -128
    out_max: int = 127


@register
class DepthwiseConv2d(Operator):
    """Inputs: x int8 [N, H, W, C], weight int8 [C·multiplier, KH, KW], bias int32 [C·multiplier].

    Output int8 [N, OH, OW, C·multiplier], channel c·multiplier + m from input channel c.
    """

    kind = "depthwise_conv2d"
    absorbs_clamp = True
    absorbs_pad = True

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x, w = inputs[0], inputs[1]
        if len(x.shape) != 4:
            raise ValueError(f"input {list(x.shape)} is not [N, H, W, C]")
        channels = x.shape[3] * attrs.multiplier
        if tuple(w.shape) != (channels, *attrs.kernel):
            raise ValueError(f"weight {list(w.shape)} is not [{channels}, {attrs.kernel[0]}, {attrs.kernel[1]}]")
        return spec((x.shape[0], *output_hw(x.shape[1:3], attrs), channels), x.dtype)

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
        y, attrs = graph.outs(op)[0], op.attrs
        windows = patches(x, attrs, (y.shape[1], y.shape[2]), graph.ins(op)[0].q.z)
        taps = w.astype(np.int64).reshape(x.shape[3], attrs.multiplier, *attrs.kernel)
        acc = np.einsum("nijklc,cmkl->nijcm", windows, taps).reshape(y.shape)
        return [self.terms(op, graph).requantize(acc, y, attrs.out_min, attrs.out_max)]

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        x, w, _ = graph.ins(op)
        y = graph.outs(op)[0]
        assert w.data is not None
        inside = taps_in_input(x.shape[1:3], y.shape[1:3], op.attrs)
        mix = Mix(w.data.astype(np.int64).reshape(w.shape[0], -1, 1), inside)
        low, high = (np.repeat(side, op.attrs.multiplier)[:, None, None] for side in (inputs[0].low, inputs[0].high))
        return self.terms(op, graph).bounds(mix, low, high, x, y, op.attrs)

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        outputs = np.arange(channels_of(graph.outs(op)[0]))
        tie = Tie(0, outputs // op.attrs.multiplier, outputs)
        return ChannelUse((tie,), per_output={1: 0, 2: 0})

    def macs(self, op: Op, graph: Graph) -> int:
        kernel: tuple[int, int] = op.attrs.kernel
        return graph.outs(op)[0].elements * kernel[0] * kernel[1]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        name, p = kernel.symbol.removeprefix("rl_depthwise_conv2d_s8_"), kernel.params
        if name.startswith("mve_9"):
            blocks = -(-p["window.in_c"] // BLOCK)
            points = depthwise_runs(p)
            clamps = points["lines"] * p["window.out_w"] * p["window.out_c"] * p["clamps"]
            return {"calls": 1.0, **points, "blocks": points["pixels"] * blocks, "clamps": clamps}
        if name not in ("mve", "any"):
            return {"calls": 1.0, **plane_features(p, "3x3" not in name)}
        features = {"calls": 1.0, **depthwise_points(p, 2 if name == "any" else 1)}
        tiles, channels, taps = features["tiles"], p["window.in_c"], p["taps"]
        if name == "any":
            outputs = channels * p["multiplier"]
            return features | {"channels": tiles * channels, "sums": tiles * outputs, "taps": tiles * outputs * taps}
        blocks = -(-channels // BLOCK)
        runs = int(np.count_nonzero(kernel.constants[2].data))
        part = "part " if channels < BLOCK else ""
        features |= {f"{part}runs": tiles * runs, f"{part}taps": tiles * blocks * taps}
        return features | {f"{part}blocks": tiles * blocks, "clamps": tiles * blocks * p["clamps"]}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, w, _ = graph.ins(op)
        y, attrs = graph.outs(op)[0], op.attrs
        assert w.data is not None
        terms = self.terms(op, graph)
        rows = w.data.reshape(w.shape[0], -1)
        params = window_params(x, y, attrs) | {
            "in_zero_point": x.q.z,
            "out_zero_point": y.q.z,
            "out_min": attrs.out_min,
            "out_max": attrs.out_max,
            "multiplier": attrs.multiplier,
            "taps": rows.shape[1],
            "clamps": int((attrs.out_min, attrs.out_max) != (-128, 127)),
            "plan_stride": 0,
            "plane_pitch": 0,
            "plane_rows": 0,
            "planes": 0,
            "reserved": 0,
        }
        found: list[Kernel] = []
        missing = ""
        for tier in tiers:
            for name in _variants(tier, attrs):
                reason = _missing(name, attrs, terms, rows)
                if reason:
                    # What is told is why the core's own tier has none; the unrolled ones are extras of a tier that has.
                    extra = name.startswith("mve_9")
                    missing = missing or ("" if extra else f"{reason} has no {tiers[0]} kernel")
                    continue
                packed = _pack(name, rows, terms, params)
                found.append(
                    Kernel(
                        symbol=f"rl_depthwise_conv2d_s8_{name}",
                        tier=tier,
                        header="depthwise_conv2d/depthwise_conv2d.h",
                        sources=(f"depthwise_conv2d/{name}.c",),
                        params_type=PARAMS,
                        params=params | packed.params,
                        constants=packed.constants,
                        takes_scratch=True,
                        scratch=packed.scratch,
                        in_place=packed.in_place,
                        note=missing,
                    )
                )
        return found


def _variants(tier: str, attrs: DepthwiseConv2dAttrs) -> list[str]:
    """Names of the tier's kernels that fit the window, best first; what DSP has none for, v7m takes."""
    names = []
    if tier != "mve" and attrs.kernel == (3, 3) and attrs.dilation == (1, 1) and attrs.stride[1] <= 2:
        names.append(f"{tier}_3x3" + ("_s2" if attrs.stride[1] == 2 else ""))
    if tier == "mve":
        names += ["mve_9", "mve_9_few"]
    if tier != "dsp":
        names.append(tier)
    # What no tier takes has one kernel for all cores.
    return [*names, "any"] if tier == "v6m" else names


def _missing(name: str, attrs: DepthwiseConv2dAttrs, terms: ChannelTerms, rows: NDArray[np.int8]) -> str:
    """What of this layer the kernel cannot compute; "" if it can."""
    tier = name.partition("_")[0]
    if name == "any":
        return ""
    if tier == "mve" and attrs.multiplier > 1:
        return f"channel multiplier {attrs.multiplier}"
    if terms.pre.any():
        return "a requantisation scale of 1/4 or more"
    if name.startswith("mve_9"):
        channels = rows.shape[0]
        if not (channels <= HALF if name == "mve_9_few" else channels % BLOCK == 0):
            return f"{channels} channels are not what {name} takes"
        if rows.shape[1] != NINE or _pair_overflows(rows):
            return f"the window or its weights are not what {name} takes"
    return ""


def _pair_overflows(rows: NDArray[np.int8]) -> bool:
    """If two products of taps 0 and 1, 2 and 3, … of a channel can leave 16 bits: both weights -128, both inputs -128."""
    pairs = rows[:, : rows.shape[1] // 2 * 2].reshape(rows.shape[0], -1, 2)
    return bool((pairs == -128).all(axis=2).any())


@dataclass(frozen=True)
class _Packed:
    """A kernel's constants, scratch, and parameters of its own."""

    constants: tuple[Constant, ...]
    scratch: int
    params: dict[str, int]
    in_place: tuple[int, ...] = ()


def _pack(name: str, rows: NDArray[np.int8], terms: ChannelTerms, params: dict[str, Any]) -> _Packed:
    channels, taps = params["window.in_c"], rows.shape[1]
    weights = Constant("weights", np.ascontiguousarray(rows))
    if name == "any":
        return _Packed((weights, terms.constant()), scratch_bytes(channels, taps, 2), {})
    if name == "mve":
        plan = tap_groups(rows)
        constants = (
            Constant("weights", block_weights(rows)),
            Constant("terms", block_terms(terms), "int32_t"),
            Constant("groups", plan.reshape(-1), "uint8_t"),
        )
        return _Packed(constants, scratch_bytes(channels, taps, 1), {"plan_stride": plan.shape[1]})
    if name.startswith("mve_9"):
        stream = Constant("stream", nine_stream(rows, terms, HALF if name == "mve_9_few" else BLOCK))
        return _Packed((stream,), channels, {})
    any_window = "3x3" not in name
    if name.startswith("v6m"):
        # Planes hold x + 128.
        terms = replace(terms, bias=terms.bias - 128 * rows.astype(np.int64).sum(axis=1))
    layout = planes(params, any_window)
    same = all(params[f"window.in_{axis}"] == params[f"window.out_{axis}"] for axis in "hwc")
    # One channel at a time is read as a whole before its output is written.
    in_place = (0,) if same and layout.rows == params["window.out_h"] and layout.count == 1 else ()
    return _Packed((weights, terms.constant()), layout.scratch, layout.params, in_place)


def scratch_bytes(channels: int, taps: int, pixels: int) -> int:
    """A pointer for each tap and pixel (8 bytes, so that it holds on a 64-bit host too), then a padding row of channels."""
    return 8 * taps * pixels + channels


def _starts(channels: int, size: int) -> list[int]:
    """First channel of each group of ``size``; the last overlaps the one before where channels are not a multiple."""
    return [max(0, min(start, channels - size)) for start in range(0, channels, size)]


def _blocks(table: NDArray[Any], fill: int | list[int] = 0) -> NDArray[Any]:
    """[block, 16 channels, …] from [channel, …]; fewer than 16 channels are filled up."""
    channels = len(table)
    padded = np.empty((max(channels, BLOCK), *table.shape[1:]), table.dtype)
    padded[:] = fill
    padded[:channels] = table
    return np.stack([padded[start : start + BLOCK] for start in _starts(channels, BLOCK)])


def block_weights(rows: NDArray[np.int8]) -> NDArray[np.int8]:
    """[block][tap][16 channels], missing channels 0."""
    return np.ascontiguousarray(_blocks(rows).transpose(0, 2, 1)).reshape(-1)


def block_terms(terms: ChannelTerms) -> NDArray[np.int32]:
    """[block][interleave 0..3][bias | multiplier << 16 | 15 - shift][4 channels]; missing channels give 0."""
    table = np.stack([terms.bias, terms.multiplier << 16, 15 - terms.shift], axis=1)
    ordered = _blocks(table, [0, 0, -2])[:, INTERLEAVE]  # [block, 4, 4 channels, 3]
    return np.ascontiguousarray(ordered.transpose(0, 1, 3, 2)).astype("<i4").reshape(-1)


def nine_stream(rows: NDArray[np.int8], terms: ChannelTerms, lanes: int) -> NDArray[np.int8]:
    """[block] biases, weights [tap][lanes], then multiplier << 16 and 15 - shift of four channels at a time.

    Biases and scales lie as widening leaves the channels: INTERLEAVE, or even and odd ones; missing channels give 0.
    """
    order = INTERLEAVE if lanes == BLOCK else np.arange(HALF).reshape(4, 2).T
    table = np.stack([terms.bias, terms.multiplier << 16, 15 - terms.shift], axis=1)
    parts: list[bytes] = []
    for start in range(0, rows.shape[0], lanes):
        weights = np.zeros((lanes, rows.shape[1]), np.int8)
        scales = np.tile(np.array([0, 0, -2]), (lanes, 1))
        count = min(lanes, rows.shape[0] - start)
        weights[:count], scales[:count] = rows[start : start + count], table[start : start + count]
        ordered = scales[order].astype("<i4")  # [quarter, 4 channels, 3]
        parts += [ordered[:, :, 0].tobytes(), weights.T.tobytes(), ordered[:, :, 1:].transpose(0, 2, 1).tobytes()]
    return np.frombuffer(b"".join(parts), np.int8)


def tap_groups(rows: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Lengths of the runs of taps whose sums fit 16 bits for every int8 input, for each block; each row ends with 0.

    A run is as long as all 16 channels allow: Σ max(w·127, w·-128) ≤ 32767 and Σ min(…) ≥ -32768.
    """
    weights = rows.astype(np.int64)
    high, low = np.maximum(weights * 127, weights * -128), np.minimum(weights * 127, weights * -128)
    plans: list[list[int]] = []
    for start in _starts(rows.shape[0], BLOCK):
        lengths: list[int] = []
        top = bottom = np.zeros(0, np.int64)
        for tap in range(rows.shape[1]):
            up, down = high[start : start + BLOCK, tap], low[start : start + BLOCK, tap]
            if lengths and (top + up).max() <= 32767 and (bottom + down).min() >= -32768 and lengths[-1] < 255:
                lengths[-1] += 1
                top, bottom = top + up, bottom + down
            else:
                lengths.append(1)
                top, bottom = up, down
        plans.append([*lengths, 0])
    table = np.zeros((len(plans), max(map(len, plans))), np.uint8)
    for row, plan in zip(table, plans, strict=True):
        row[: len(plan)] = plan
    return table
