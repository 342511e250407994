"""Two products by one 32-bit multiply, for cores without SIMD: how taps are cut into groups, packing, and what it costs.

device/kernels/common/pair.h says how it works. A word holds the sums of two pixels (or of two output channels); it is exact
while the lower sum stays in 16 bits. The weights are known, so each channel's taps are cut here into the longest groups for
which that holds whatever the int8 inputs are, padding included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushlight.ops.base import Array, Constant
from rushlight.ops.weighted import ChannelTerms

PIXELS = 8  # RL_PAIR_PIXELS
LANE_MAX = 2**15 - 1  # a lane's sum keeps within plus and minus this
LONGEST = {"v7m": 16}  # taps that a tier's assembly has in a row
MOST_GROUPS = 255  # rl_channel_pair counts them in a byte


def lane_bounds(weights: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What each tap adds to a lane at most, and takes away at most, over all int8 inputs."""
    w = weights.astype(np.int64)
    return np.maximum(127 * w, -128 * w), np.maximum(128 * w, -127 * w)


def group_ends(rows: Array, longest: int, shared: int = 1) -> NDArray[np.bool_]:
    """True [channels / shared, taps] where a group ends: each is the longest whose lanes cannot overflow.

    ``shared`` successive channels end their groups together.
    """
    up, down = (b.reshape(-1, shared, rows.shape[1]) for b in lane_bounds(rows))
    ends = np.zeros((up.shape[0], rows.shape[1]), np.bool_)
    high, low = np.zeros(up.shape[:2], np.int64), np.zeros(up.shape[:2], np.int64)
    length = np.zeros(up.shape[0], np.int64)
    for k in range(rows.shape[1]):
        high, low = high + up[:, :, k], low + down[:, :, k]
        over = (high > LANE_MAX).any(axis=1) | (low > LANE_MAX).any(axis=1) | (length == longest)
        if k:
            ends[:, k - 1] = over
        high = np.where(over[:, None], up[:, :, k], high)
        low = np.where(over[:, None], down[:, :, k], low)
        length = np.where(over, 1, length + 1)
    ends[:, -1] = True
    return ends


def group_lengths(ends: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Taps of each group, channel by channel."""
    return [np.diff(np.flatnonzero(channel), prepend=-1) for channel in ends]


@dataclass(frozen=True)
class PairPlan:
    """The groups of a layer for a tier; ``rows`` are the weights [output channels, taps]."""

    tier: str
    rows: Array
    ends: NDArray[np.bool_]

    @property
    def groups(self) -> NDArray[np.int64]:
        """Groups of each channel."""
        counts: NDArray[np.int64] = self.ends.sum(axis=1)
        return counts

    def constants(self, terms: ChannelTerms) -> tuple[Constant, ...]:
        """Weights and channels as the tier's tile reads them."""
        parts: list[Array] = []
        for row, lengths in zip(self.rows, group_lengths(self.ends), strict=True):
            begin = 0
            for length in lengths:
                parts += [np.array([length], np.int8), row[begin : begin + length]]
                begin += int(length)
            parts.append(np.zeros(1, np.int8))
        channels = np.zeros(len(self.rows), np.dtype([("b", "<i4"), ("m", "<i2"), ("s", "u1"), ("g", "u1")]))
        channels["b"], channels["m"] = terms.bias, terms.multiplier
        channels["s"], channels["g"] = terms.shift - 17, self.groups
        return (
            Constant("weights", np.concatenate(parts)),
            Constant("channels", np.frombuffer(channels.tobytes(), "<i4"), "int32_t"),
        )

    def saves(self, pixels: int, runs: int, groups: int) -> bool:
        """Whether the pair tile takes fewer instructions than the plain one for ``pixels`` outputs of each channel.

        ``runs``: pieces that a window is packed from; ``groups``: of a grouped convolution. From counts of both kernels.
        """
        channels, depth = self.rows.shape
        cost = COSTS[self.tier]
        tiles, left = divmod(pixels, PIXELS)
        if left >= 3 and tiles:
            tiles, left = tiles + 1, 0
        tile = channels * (depth * cost.tap + cost.channel) + int(self.groups.sum()) * cost.flush
        tile += groups * PIXELS // 2 * (depth * cost.pack + runs * cost.run)
        pair = tiles * tile + left * channels * (depth * cost.single + cost.plain_channel)
        return bool(pair < pixels * channels * (depth * cost.plain + cost.plain_channel))


@dataclass(frozen=True)
class _Cost:
    """Instructions of a tier: per tap, flush and channel of a tile; per word and run packed; per product and output else."""

    tap: float
    flush: float
    channel: float
    pack: float
    run: float
    single: float
    plain: float
    plain_channel: float


COSTS = {"v7m": _Cost(6, 15, 78, 4.7, 35, 5, 2.06, 22)}


def pair_plan(tier: str, rows: Array, terms: ChannelTerms) -> PairPlan | None:
    """The plan for a tier; None where the pair tile cannot compute the layer."""
    if tier not in LONGEST or terms.pre.any():
        return None
    plan = PairPlan(tier, rows, group_ends(rows, LONGEST[tier]))
    return plan if plan.groups.max() <= MOST_GROUPS else None
