"""avg_pool2d: y = requantize(Σ x - taps·zero_point) over each window, M = s_in / (s_out · divisor). NHWC; one rounding.

Global and adaptive average pools and means over neighbouring dimensions are this operator with other windows. The output
has its own scale: the requantisation is there anyway, and averages keep to a narrower range than what they are made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
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
    ImportContext,
    IntegerBuilder,
    Kernel,
    Operator,
    ParamsType,
    product,
    register,
    spec,
)
from rushlight.ops.common.arith import Multiplier, check_accumulator, quantize_multiplier, requantize
from rushlight.ops.common.pooling import check_windows, effective_padding, from_nhwc, pair, taps_inside, to_nhwc
from rushlight.ops.common.walks import pool_runs, pool_windows
from rushlight.ops.common.window import WINDOW_FIELDS, output_hw, patches, window_params

PARAMS = ParamsType(
    "rl_avg_pool2d_params",
    (
        *WINDOW_FIELDS,
        *((name, "int16_t", 1) for name in "out_zero_point out_min out_max col_classes flush_rows reserved".split()),
    ),
)
TIERS = ("mve", "dsp", "v7m", "v6m")
QUAD = 4  # channels of a DSP word
TAPS_IN_16_BITS = 256  # int8 values whose sum fits 16 bits, whatever they are


@dataclass(frozen=True)
class AvgPool2dAttrs:
    """Pairs are (height, width). ``padding``: top, bottom, left, right; what ``ceil_mode`` hangs over is padding too.

    ``counted``: how much of the padding counts in the divisor, as (top, bottom, left, right); nothing of it with
    ``count_include_pad=False``. ``divisor`` overrides the count if it is not 0.
    """

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    counted: tuple[int, int, int, int] = (0, 0, 0, 0)
    divisor: int = 0
    out_min: int = -128
    out_max: int = 127

    @property
    def dilation(self) -> tuple[int, int]:
        return 1, 1


@dataclass(frozen=True)
class Classes:
    """Output rows and columns by their counts: taps inside the input and taps that the divisor counts.

    ``taps`` and ``divisors``: int64 [row classes, column classes]; ``rows`` and ``cols``: the class of each position.
    """

    rows: NDArray[np.uint16]
    cols: NDArray[np.uint16]
    taps: NDArray[np.int64]
    terms: list[list[Multiplier]]


def _classes(x: Tensor, y: Tensor, attrs: AvgPool2dAttrs) -> Classes:
    """ValueError where a scale is beyond what the arithmetic allows or a sum could leave 32 bits."""
    axes = []
    for axis in range(2):
        size, out, pad = x.shape[1 + axis], y.shape[1 + axis], attrs.padding[2 * axis]
        kernel, stride = attrs.kernel[axis], attrs.stride[axis]
        inside = taps_inside(size, out, kernel, stride, 1, pad)
        widened = taps_inside(size, out, kernel, stride, 1, pad, (attrs.counted[2 * axis], attrs.counted[2 * axis + 1]))
        distinct, index = np.unique(np.stack([inside, widened]), axis=1, return_inverse=True)
        axes.append((distinct, index.reshape(-1).astype(np.uint16)))
    (down, rows), (across, cols) = axes
    taps = down[0][:, None] * across[0]
    divisors = down[1][:, None] * across[1] if attrs.divisor == 0 else np.full(taps.shape, attrs.divisor)
    terms: list[list[Multiplier]] = []
    for row_taps, row_divisors in zip(taps, divisors, strict=True):
        terms.append([])
        for count, divisor in zip(row_taps, row_divisors, strict=True):
            m = quantize_multiplier(x.q.s / (y.q.s * float(divisor)))
            check_accumulator(int(count) * 256, m)  # Σ|x| + taps·|zero point|
            terms[-1].append(m)
    return Classes(rows, cols, taps, terms)


def _lower_pool(ctx: ImportContext, node: AtenNode) -> str:
    spatial = 1 if node.target.endswith("avg_pool1d.default") else 2
    x = to_nhwc(ctx, node["self"], spatial)
    in_hw = ctx.tensor(x).shape[1:3]
    kernel = pair(node["kernel_size"], spatial)
    stride = pair(node["stride"], spatial) if node["stride"] else kernel
    pad = pair(node["padding"], spatial) if spatial == 2 else (0, pair(node["padding"])[0])
    padding = effective_padding(in_hw, kernel, stride, pad, (1, 1), node["ceil_mode"])
    counted = (pad[0], pad[0], pad[1], pad[1]) if node["count_include_pad"] else (0, 0, 0, 0)
    divisor = int(node["divisor_override"] or 0) if spatial == 2 else 0
    if divisor < 0:
        raise ctx.refuse(f"divisor_override={divisor} is negative", "use a positive one")
    y = ctx.emit("avg_pool2d", [x], AvgPool2dAttrs(kernel, stride, padding, counted, divisor))
    return from_nhwc(ctx, y, spatial, node.out_shapes[0])


def _adaptive_window(size: int, out: int) -> tuple[int, int] | None:
    """Kernel and stride if torch's adaptive windows along an axis are all alike, else None."""
    starts = [i * size // out for i in range(out)]
    lengths = {-(-(i + 1) * size // out) - start for i, start in enumerate(starts)}
    strides = {b - a for a, b in pairwise(starts)}
    if len(lengths) != 1 or len(strides) > 1 or strides == {0}:
        return None
    length = lengths.pop()
    return length, strides.pop() if strides else length


def _lower_adaptive(ctx: ImportContext, node: AtenNode) -> str:
    spatial = 1 if node.target.endswith("adaptive_avg_pool1d.default") else 2
    x = to_nhwc(ctx, node["self"], spatial)
    in_hw, out_hw = ctx.tensor(x).shape[1:3], pair(node["output_size"], spatial)
    down, across = (_adaptive_window(size, out) for size, out in zip(in_hw, out_hw, strict=True))
    if down is None or across is None:
        sizes = f"{in_hw[0]}x{in_hw[1]} to {out_hw[0]}x{out_hw[1]}"
        raise ctx.refuse(
            f"adaptive average pooling from {sizes} has windows of unequal sizes",
            "choose output sizes that divide the input sizes",
        )
    y = ctx.emit("avg_pool2d", [x], AvgPool2dAttrs((down[0], across[0]), (down[1], across[1])))
    return from_nhwc(ctx, y, spatial, node.out_shapes[0])


def _lower_mean(ctx: ImportContext, node: AtenNode) -> str:
    name, shape = node["self"], ctx.tensor(node["self"]).shape
    rank = len(shape)
    if node["dtype"] is not None and str(node["dtype"]) != "torch.float32":
        raise ctx.refuse(f"a mean as {node['dtype']}", "leave dtype out")
    dims = sorted({int(d) % rank for d in node["dim"] or range(rank)})
    if dims != list(range(dims[0], dims[-1] + 1)):
        raise ctx.refuse(
            f"a mean over dims {dims} of {list(shape)}", "take means over neighbouring dims, one after another"
        )
    if rank == 4 and dims[0] >= 2:
        # Height, width or both of NCHW: channels stay innermost.
        x = ctx.permute(name, (0, 2, 3, 1))
        kernel = (shape[2] if 2 in dims else 1, shape[3] if 3 in dims else 1)
        y = ctx.permute(ctx.emit("avg_pool2d", [x], AvgPool2dAttrs(kernel, kernel)), (0, 3, 1, 2))
    elif rank == 3 and dims == [2]:
        # The length of [N, C, L], as after a 1-d convolution.
        x = to_nhwc(ctx, name, 1)
        y = ctx.emit("avg_pool2d", [x], AvgPool2dAttrs((1, shape[2]), (1, shape[2])))
    else:
        # [before, mean, after]: `after` are the channels, where they lie.
        before, count = product(shape[: dims[0]]), product(shape[dims[0] : dims[-1] + 1])
        x = ctx.reshape(name, (before, 1, count, product(shape[dims[-1] + 1 :])))
        y = ctx.emit("avg_pool2d", [x], AvgPool2dAttrs((1, count), (1, count)))
    return ctx.reshape(y, node.out_shapes[0])


_ANNOTATION = Annotation(("self",), output="own", absorbs_clamp=True)


def _mve_features(p: Mapping[str, Any]) -> dict[str, float]:
    """Loops of the mve kernel: blocks of 32, 16 and eight channels; windows summed in chunks have blocks of eight alone."""
    w, channels = pool_runs(p), int(p["window.in_c"])
    features = dict(w.features)
    chunks = -(-w.rows // p["flush_rows"])
    runs = w.features["runs"] / len(w.rows)
    for part, whole in ((chunks == 1, True), (chunks > 1, False)):
        rows = w.rows[part]
        wide, sixteen = (channels // 32, channels % 32 // 16) if whole else (0, 0)
        eight = -(-(channels - 32 * wide - 16 * sixteen) // 8)
        for name, blocks in (("32", wide), ("16", sixteen), ("8", eight)):
            counts = {
                f"runs of {name}": runs * len(rows),
                f"pixels of {name}": float(w.batch * len(rows) * len(w.cols)),
                f"rows of {name}": float(w.batch * rows.sum() * len(w.cols)),
                f"taps of {name}": float(w.batch * rows.sum() * w.cols.sum()),
            }
            if name == "8":
                counts["chunks"] = float(w.batch * chunks[part].sum() * len(w.cols))
            for key, count in counts.items():
                features[key] = features.get(key, 0.0) + count * blocks
    return features


@register
class AvgPool2d(Operator):
    """Input int8 [N, H, W, C], output int8 [N, OH, OW, C]. Padding counts as real 0."""

    kind = "avg_pool2d"
    monotone = True
    carries_channels = True
    absorbs_clamp = True
    aten = (
        AtenRule(("avg_pool2d.default", "avg_pool1d.default"), _lower_pool, _ANNOTATION),
        AtenRule(("adaptive_avg_pool2d.default", "adaptive_avg_pool1d.default"), _lower_adaptive, _ANNOTATION),
        AtenRule(("mean.dim",), _lower_mean, _ANNOTATION),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x = inputs[0]
        if len(x.shape) != 4:
            raise ValueError(f"input {list(x.shape)} is not [N, H, W, C]")
        out_hw = output_hw(x.shape[1:3], attrs)
        check_windows(x.shape[1:3], out_hw, attrs)
        return spec((x.shape[0], *out_hw, x.shape[3]), x.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        low, high = build.clamp_range()
        build.emit(self.kind, build.inputs, replace(op.attrs, out_min=low, out_max=high))
        return None

    def check(self, op: Op, graph: Graph) -> None:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        _classes(x, y, op.attrs)
        window_params(x, y, op.attrs)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, y, attrs = graph.ins(op)[0], graph.outs(op)[0], op.attrs
        classes = _classes(x, y, attrs)
        acc = patches(inputs[0].astype(np.int64) - x.q.z, attrs, (y.shape[1], y.shape[2]), 0).sum(axis=(3, 4))
        at = np.ix_(classes.rows, classes.cols)
        multiplier, shift, pre = (
            np.array([[getattr(m, field) for m in row] for row in classes.terms])[at][None, :, :, None]
            for field in ("multiplier", "shift", "pre")
        )
        return [requantize(acc, multiplier, shift, pre, y.q.z, attrs.out_min, attrs.out_max)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        if kernel.tier == "mve":
            return _mve_features(kernel.params)
        p, tier, w = kernel.params, kernel.tier, pool_windows(kernel.params)
        channels = p["window.in_c"]
        blocks = -(-channels // QUAD) if tier == "dsp" else channels // QUAD
        pixels, columns = w.features["pixels"], len(w.cols)
        rows = float(w.batch * w.rows.sum() * columns)
        taps = float(w.batch * w.rows.sum() * w.cols.sum())
        features = w.features | {"blocks": pixels * blocks, "block rows": rows * blocks, "block taps": taps * blocks}
        if tier == "dsp":
            chunks = float(w.batch * (-(-w.rows // p["flush_rows"])).sum() * columns)
            return features | {"chunks": chunks * blocks}
        left = channels % QUAD
        return features | {"single": pixels * left, "single rows": rows * left, "single taps": taps * left}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, y, attrs = graph.ins(op)[0], graph.outs(op)[0], op.attrs
        classes = _classes(x, y, attrs)
        kernel_w = min(attrs.kernel[1], x.shape[2])
        params = window_params(x, y, attrs) | {
            "out_zero_point": y.q.z,
            "out_min": attrs.out_min,
            "out_max": attrs.out_max,
            "col_classes": classes.taps.shape[1],
            "flush_rows": max(1, TAPS_IN_16_BITS // kernel_w),
            "reserved": 0,
        }
        packed = np.zeros(classes.taps.shape, np.dtype([("b", "<i4"), ("m", "<i2"), ("s", "u1"), ("p", "u1")]))
        packed["b"] = -classes.taps * x.q.z
        for field, letter in (("multiplier", "m"), ("shift", "s"), ("pre", "p")):
            packed[letter] = [[getattr(m, field) for m in row] for row in classes.terms]
        constants = (
            Constant("classes", np.frombuffer(packed.tobytes(), "<i4"), "int32_t"),
            Constant("row_class", classes.rows.astype("<u2"), "uint16_t"),
            Constant("col_class", classes.cols.astype("<u2"), "uint16_t"),
        )
        found, note = [], ""
        for tier in (t for t in tiers if t in TIERS):
            if tier in ("mve", "dsp") and kernel_w > TAPS_IN_16_BITS:
                note = f"rows of {kernel_w} taps may overflow the {tier} kernel's 16-bit sums"
                continue
            if tier == "dsp" and x.shape[3] < QUAD:
                note = f"{x.shape[3]} channels are fewer than the dsp kernel's {QUAD}" if tiers[0] == "dsp" else note
                continue
            found.append(
                Kernel(
                    symbol=f"rl_avg_pool2d_s8_{tier}",
                    tier=tier,
                    header="avg_pool2d/avg_pool2d.h",
                    sources=(f"avg_pool2d/{tier}.c",),
                    params_type=PARAMS,
                    params=params,
                    constants=constants,
                    note=note,
                )
            )
        return found
