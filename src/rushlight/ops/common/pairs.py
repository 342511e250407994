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
from rushlight.ops.common.weighted import ChannelTerms

LANE_MAX = 2**15 - 1  # a lane's sum keeps within plus and minus this
PIXELS = (8, 4)  # of a tile
#: Taps in a row that the assembly of a tier has for so many pixels, and on v6m the bytes of each.
LONGEST = {("v7m", 8): 16, ("v7m", 4): 16, ("v6m", 8): 13, ("v6m", 4): 16}
TAP_BYTES = {8: 20, 4: 12}
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
    """The groups of a layer for a tier and tiles of so many pixels; ``rows`` are the weights [output channels, taps]."""

    tier: str
    pixels: int
    rows: Array
    ends: NDArray[np.bool_]
    channels: Array  # int32, the entries one after the other

    @property
    def groups(self) -> NDArray[np.int64]:
        """Groups of each channel."""
        counts: NDArray[np.int64] = self.ends.sum(axis=1)
        return counts

    def constants(self, groups: int = 1) -> tuple[Constant, ...]:
        """Weights, (for v6m) lengths and channels as the tier's tile reads them; ``groups``: of a grouped convolution."""
        if self.tier == "v6m":
            return (
                Constant("weights", _interleaved(self.rows, groups, 2 * self.pixels)),
                Constant("lengths", self._jumps(), "uint8_t"),
                Constant("channels", self.channels, "int32_t"),
            )
        parts: list[Array] = []
        for row, lengths in zip(self.rows, group_lengths(self.ends), strict=True):
            begin = 0
            for length in lengths:
                parts += [np.array([length], np.int8), row[begin : begin + length]]
                begin += int(length)
            parts.append(np.zeros(1, np.int8))
        return Constant("weights", np.concatenate(parts)), Constant("channels", self.channels, "int32_t")

    def _jumps(self) -> Array:
        """The number of groups of each channel, then for each how far to jump into the run of taps."""
        longest = LONGEST[self.tier, self.pixels]
        parts = [
            np.concatenate([[len(channel)], TAP_BYTES[self.pixels] * (longest - channel)])
            for channel in group_lengths(self.ends)
        ]
        return np.concatenate(parts).astype(np.uint8)

    @property
    def channel_bytes(self) -> int:
        """Bytes of a channel's entry."""
        return self.channels.nbytes // len(self.rows)

    def cost(self, pixels: int, runs: int, groups: int) -> float:
        """About the instructions for ``pixels`` outputs of each channel.

        ``runs``: pieces that a window is packed from; ``groups``: of a grouped convolution.
        """
        channels, depth = self.rows.shape
        cost = COSTS[self.tier, self.pixels]
        tiles, left = divmod(pixels, self.pixels)
        if left >= 3 and tiles:
            tiles, left = tiles + 1, 0
        tile = channels * (depth * cost.tap + cost.channel) + int(self.groups.sum()) * cost.flush
        tile += groups * self.pixels // 2 * (depth * cost.pack + runs * cost.run)
        return float(tiles * tile + left * channels * (depth * cost.single + cost.plain_channel))

    def plain_cost(self, pixels: int) -> float:
        """The same for the plain tile."""
        cost = COSTS[self.tier, self.pixels]
        return float(pixels * self.rows.shape[0] * (self.rows.shape[1] * cost.plain + cost.plain_channel))

    def filled(self, groups: int) -> int:
        """Bytes of weights that only fill up blocks of channels."""
        channels, depth = self.rows.shape
        return groups * (-(channels // groups) % (2 * self.pixels)) * depth if self.tier == "v6m" else 0


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


COSTS = {
    ("v7m", 8): _Cost(6, 15, 78, 4.7, 35, 5, 2.06, 22),
    ("v7m", 4): _Cost(4, 8, 53, 4.7, 35, 5, 2.06, 22),
    ("v6m", 8): _Cost(10, 31, 150, 6.5, 50, 7, 4, 42),
    ("v6m", 4): _Cost(6, 13, 95, 6.5, 50, 7, 4, 42),
}


def _interleaved(rows: Array, groups: int, block: int) -> Array:
    """[groups, channels / block, depth, block], each group of channels filled up with zeros."""
    depth = rows.shape[1]
    grouped = rows.reshape(groups, -1, depth)
    filled = np.pad(grouped, ((0, 0), (0, -grouped.shape[1] % block), (0, 0)))
    return np.ascontiguousarray(filled.reshape(groups, -1, block, depth).swapaxes(2, 3)).reshape(-1)


def _v7m_channels(terms: ChannelTerms, groups: NDArray[np.int64]) -> Array:
    packed = np.zeros(len(terms.bias), np.dtype([("b", "<i4"), ("m", "<i2"), ("s", "u1"), ("g", "u1")]))
    packed["b"], packed["m"], packed["s"], packed["g"] = terms.bias, terms.multiplier, terms.shift - 17, groups
    return np.frombuffer(packed.tobytes(), "<i4")


def _v6m_channel(
    bias: int, m: int, shift: int, reach: tuple[int, int], y: tuple[int, int, int]
) -> tuple[int, ...] | None:
    """The seven words of rl_channel_pair_v6m; None if they do not fit.

    ``reach``: the least and greatest sum that an input can give; ``y``: zero point, lowest and highest output.
    ``(acc * m + base) >> shift`` is the output plus 128. Sums outside lowest..highest give the outputs at these ends, and
    are taken for them. A multiplier is below a quarter, so each output is the one of some sum.
    """
    zero_point, low, high = y
    base = (1 << (shift - 1)) + ((zero_point + 128) << shift)
    first = -((base - ((low + 128) << shift)) // m)  # the least sum that gives low
    last = (((high + 129) << shift) - 1 - base) // m  # the greatest that gives high
    lowest, highest = max(first, reach[0]), min(last, reach[1])
    if lowest > highest:  # all sums are on one side
        value = low if highest < first else high
        return 0, 0, 0, ((value + 128) << 24) ^ 2**31, 0, 0, 0
    split = max(shift - 24, 0)
    scale = 1 << max(24 - shift, 0)
    product, addend, span = m * scale, (lowest * m + base) * scale, highest - lowest
    mask = (1 << split) - 1
    top, top_addend = product >> split, addend >> split
    lower, lower_addend = product & mask, addend & mask
    if lower == 0:
        split = lower_addend = 0
    fits = (
        span < 2**31
        and span * lower + lower_addend < 2**32
        and reach[0] - lowest >= -(2**31)
        and reach[1] - lowest < 2**31
    )
    if not fits:
        return None
    assert top_addend >= 0 and (span * product + addend) >> (split if lower else max(shift - 24, 0)) < 2**32
    return bias - lowest, span | (2**31 if lower else 0), top, (top_addend + 2**31) % 2**32, lower, lower_addend, split


def _v6m_channels(rows: Array, terms: ChannelTerms, y: tuple[int, int, int]) -> Array | None:
    up, down = (bound.sum(axis=1) for bound in lane_bounds(rows))
    entries = [
        _v6m_channel(int(bias), int(m), int(shift), (int(bias - less), int(bias + more)), y)
        for bias, m, shift, less, more in zip(terms.bias, terms.multiplier, terms.shift, down, up, strict=True)
    ]
    words = [entry for entry in entries if entry is not None]
    if len(words) < len(entries):
        return None
    table = np.array(words, np.int64)
    if not table[:, 4].any():
        table = table[:, :4]
    return (table % 2**32).astype("<u4").view("<i4").reshape(-1)


def pair_plan(tier: str, pixels: int, rows: Array, terms: ChannelTerms, y: tuple[int, int, int]) -> PairPlan | None:
    """The plan for a tier and tiles of ``pixels``; None where they cannot compute the layer.

    ``y``: the output's zero point, its lowest and highest integer.
    """
    if (tier, pixels) not in LONGEST or terms.pre.any():
        return None
    ends = group_ends(rows, LONGEST[tier, pixels])
    groups: NDArray[np.int64] = ends.sum(axis=1)
    if groups.max() > MOST_GROUPS:
        return None
    channels = _v7m_channels(terms, groups) if tier == "v7m" else _v6m_channels(rows, terms, y)
    return None if channels is None else PairPlan(tier, pixels, rows, ends, channels)
