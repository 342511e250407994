"""max_pool2d: the greatest input of each window, channel by channel. NHWC. Padding never wins: windows are clipped."""

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
    ImportContext,
    IntegerBuilder,
    Kernel,
    Operator,
    ParamsType,
    register,
    spec,
)
from rushlight.ops.common.pooling import check_windows, effective_padding, from_nhwc, pair, to_nhwc
from rushlight.ops.common.walks import pool_runs, pool_windows
from rushlight.ops.common.window import WINDOW_FIELDS, output_hw, patches, window_params

PARAMS = ParamsType("rl_max_pool2d_params", WINDOW_FIELDS)
TIERS = ("mve", "dsp", "v7m", "v6m")
QUAD = 4  # channels of a word
TAPS = 4  # RL_MAX_POOL_TAPS, FEW


@dataclass(frozen=True)
class MaxPool2dAttrs:
    """Pairs are (height, width). ``padding``: top, bottom, left, right; what ``ceil_mode`` hangs over is padding too."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    spatial = 1 if node.target.endswith("max_pool1d.default") else 2
    x = to_nhwc(ctx, node["self"], spatial)
    kernel, dilation = pair(node["kernel_size"], spatial), pair(node["dilation"], spatial)
    stride = pair(node["stride"], spatial) if node["stride"] else kernel
    pad = pair(node["padding"], spatial) if spatial == 2 else (0, pair(node["padding"])[0])
    padding = effective_padding(ctx.tensor(x).shape[1:3], kernel, stride, pad, dilation, node["ceil_mode"])
    y = ctx.emit("max_pool2d", [x], MaxPool2dAttrs(kernel, stride, dilation, padding))
    return from_nhwc(ctx, y, spatial, node.out_shapes[0])


def _mve_features(p: Mapping[str, Any]) -> dict[str, float]:
    """Loops of the mve kernel: blocks of 16 channels of windows of few taps, else of 64 and 16, and the rest of the channels."""
    w, channels = pool_runs(p), int(p["window.in_c"])
    taps = w.rows[:, None] * w.cols
    few = taps <= TAPS
    # A run counts as its first pixel; the windows of a run are alike.
    first = np.ones(taps.shape, bool)
    inside = np.flatnonzero(w.cols == p["window.kernel_w"])
    first[:, inside[1:]] = False

    def counts(name: str, windows: NDArray[np.bool_], blocks: int) -> dict[str, float]:
        found = {
            "runs": windows & first,
            "pixels": windows,
            "rows": windows * w.rows[:, None],
            "taps": windows * taps,
        }
        return {f"{key} of {name}": float(w.batch * count.sum() * blocks) for key, count in found.items()}

    listed = counts("few", few & first, 1)
    features = dict(w.features) | {"few": listed["runs of few"], "few rows": listed["rows of few"]}
    features |= {
        "few taps": listed["taps of few"],
        "few repeated": TAPS * listed["runs of few"] - listed["taps of few"],
    }
    blocks = counts("few", few, channels // 16)
    features |= {"few blocks": blocks["runs of few"], "few pixels": blocks["pixels of few"]}
    features |= counts("64", ~few, channels // 64) | counts("16", ~few, channels % 64 // 16)
    return features | counts("rest", few | ~few, int(channels % 16 > 0))


@register
class MaxPool2d(Operator):
    """Input int8 [N, H, W, C], output int8 [N, OH, OW, C] of the same quantisation."""

    kind = "max_pool2d"
    monotone = True
    carries_channels = True
    aten = (AtenRule(("max_pool2d.default", "max_pool1d.default"), _lower, Annotation(("self",), output="same")),)

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x = inputs[0]
        if len(x.shape) != 4:
            raise ValueError(f"input {list(x.shape)} is not [N, H, W, C]")
        out_hw = output_hw(x.shape[1:3], attrs)
        check_windows(x.shape[1:3], out_hw, attrs)
        return spec((x.shape[0], *out_hw, x.shape[3]), x.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        q = build.tensor(build.inputs[0]).q
        if not q.same_mapping(build.output):
            return (
                f"its output has another quantisation ({build.output.s:g}, {build.output.z}) than its input "
                f"({q.s:g}, {q.z}); let the two share one"
            )
        build.emit(self.kind, build.inputs, op.attrs)
        return None

    def check(self, op: Op, graph: Graph) -> None:
        x, y = graph.ins(op)[0], graph.outs(op)[0]
        if not x.q.same_mapping(y.q):
            raise ValueError("its input and output have different quantisation")
        window_params(x, y, op.attrs)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, y = inputs[0], graph.outs(op)[0]
        windows = patches(x, op.attrs, (y.shape[1], y.shape[2]), -128)
        return [windows.max(axis=(3, 4)).astype(x.dtype)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        if kernel.tier == "mve":
            return _mve_features(kernel.params)
        channels, w = kernel.params["window.in_c"], pool_windows(kernel.params)
        taps = w.rows[:, None] * w.cols
        moved = np.zeros(taps.shape, bool)
        moved[:, 1:] = (w.cols[1:] == w.cols[:-1]) & (taps[:, 1:] <= TAPS)
        listed = ~moved
        # Of four taps, and then of the greatest so far and three more.
        rounds = np.maximum(1, -(-(taps - 1) // (TAPS - 1)))
        repeated = rounds * (TAPS - 1) + 1 - taps
        short = repeated > 0  # the last round
        lanes = QUAD if kernel.tier in ("dsp", "v7m") else 1
        counts = {
            "moved": float(moved.sum()),
            "listed rows": float((listed * w.rows[:, None]).sum()),
            "listed taps": float((listed * taps).sum()),
            "repeated": float((listed * repeated).sum()),
            "rounds": float(rounds.sum()),
            "loops": float(rounds.sum() * (channels >= lanes)),
            "blocks": float(rounds.sum() * (channels // lanes)),
            "tails": float(rounds.sum() * (channels % lanes > 0)),
        }
        if kernel.tier == "v7m":
            counts["short"] = float(short.sum())
            counts["short blocks"] = float(short.sum() * (channels // lanes))
            counts["short tails"] = float(short.sum() * (channels % lanes > 0))
            counts["blocks"] -= counts["short blocks"]
            counts["tails"] -= counts["short tails"]
        return w.features | {name: w.batch * count for name, count in counts.items()}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x = graph.ins(op)[0]
        params = window_params(x, graph.outs(op)[0], op.attrs)
        found, note = [], ""
        for tier in (t for t in tiers if t in TIERS):
            if tier in ("dsp", "v7m") and x.shape[3] < QUAD:
                if tier == tiers[0]:
                    note = f"{x.shape[3]} channels are fewer than the {tier} kernel's {QUAD}"
                continue
            symbol, sources = f"rl_max_pool2d_s8_{tier}", (f"max_pool2d/{tier}.c",)
            found.append(Kernel(symbol, tier, "max_pool2d/max_pool2d.h", sources, PARAMS, params, note=note))
        return found
