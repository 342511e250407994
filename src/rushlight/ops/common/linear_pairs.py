"""linear with two output channels a multiply: packing for device/kernels/linear/pair.h, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.ops.base import Array, Constant, Kernel, ParamsType
from rushlight.ops.common.pairs import group_ends, group_lengths
from rushlight.ops.common.weighted import ChannelTerms

CHANNELS = 8  # that share their groups
LONGEST = 10
TAP_BYTES = 30  # of v6m's assembly
ORDER = (0, 2, 1, 3)  # channels of a word's bytes
# Instructions: a tap of 8 channels, a group of them, an output; plainly, a product and an output.
COSTS = {"v7m": (8, 25, 14, 2.4, 20), "v6m": (15, 47, 26, 4.5, 42)}


def _words(tier: str, rows: Array, ends: NDArray[np.bool_]) -> Array:
    """The stream of words that pair.h describes."""
    blocks = (rows.reshape(-1, 2, 4, rows.shape[1])[:, :, ORDER].astype(np.int64) + 128).astype(np.uint8)
    words = np.ascontiguousarray(blocks.transpose(0, 3, 1, 2)).view("<u4")[..., 0]  # [blocks, taps, 2]
    parts: list[Any] = []
    for block, lengths in zip(words, group_lengths(ends), strict=True):
        parts.append([len(lengths)])
        begin = 0
        for length in lengths.tolist():
            parts.append([length] if tier == "v7m" else [TAP_BYTES * (LONGEST - length), 4 * length])
            parts.append(block[begin : begin + length].reshape(-1))
            begin += length
        parts.append([0] if tier == "v7m" else [2**32 - 1] * 2)
    return np.concatenate(parts).astype("<u4")


def pair_kernel(
    tier: str,
    params_type: ParamsType,
    params: Mapping[str, Any],
    weights: Array,
    terms: ChannelTerms,
    note: str,
) -> tuple[Kernel, bool] | None:
    """The pair kernel of a layer with ``weights`` [out, in], and whether it takes fewer instructions than the plain one.

    None where the tier has none.
    """
    if tier not in COSTS:
        return None
    channels, depth = weights.shape
    rows = np.pad(weights, ((0, -channels % CHANNELS), (0, 0)))
    ends = group_ends(rows, LONGEST, CHANNELS)
    kernel = Kernel(
        symbol=f"rl_linear_s8_{tier}_pair",
        tier=tier,
        header="linear/pair.h",
        sources=(f"linear/{tier}_pair.c",),
        params_type=params_type,
        params=params,
        constants=(Constant("weights", _words(tier, rows, ends), "uint32_t"), terms.constant()),
        takes_scratch=True,
        scratch=4 * (depth + 1),
        note=note,
    )
    tap, group, output, product, plain_output = COSTS[tier]
    pair = len(rows) // CHANNELS * (depth * tap + 60) + int(ends.sum()) * group + channels * output + 6 * depth
    return kernel, pair < channels * (depth * product + plain_output)


def pair_features(kernel: Kernel) -> dict[str, float]:
    """How often the loops of a pair kernel run, see ``Operator.features``."""
    p = kernel.params
    rows, depth, channels = (int(p[name]) for name in ("rows", "in_features", "out_features"))
    blocks = -(-channels // CHANNELS)
    words = int(kernel.constants[0].data.size) - blocks * 2 * depth
    groups = words - 2 * blocks if kernel.tier == "v7m" else (words - 3 * blocks) // 2
    counts = {
        "rows": rows,
        "values": rows * depth,
        "blocks": rows * blocks,
        "taps": rows * blocks * depth,
        "groups": rows * groups,
        "outputs": rows * channels,
        "odd outputs": rows * (channels % 2),
    }
    return {"calls": 1.0} | {name: float(count) for name, count in counts.items()}
