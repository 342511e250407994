"""The matrix tiles that convolution and linear share: how each tier's weights and channels are packed, and its scratch.

device/kernels/conv2d/README.md draws the layouts; device/kernels/common/tile.h declares the functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushlight.ops.base import Array, Constant
from rushlight.ops.common.tiles_mve import two_row_channels, two_row_weights
from rushlight.ops.common.weighted import ChannelTerms

TILE_ROWS = 2  # RL_TILE_ROWS
TILES = ("mve", "dsp", "v7m", "v6m")


def usable_tiers(tiers: Sequence[str], terms: ChannelTerms) -> tuple[list[str], str]:
    """The tiers whose tile computes these channels exactly, and why not the others ("" if all do)."""
    if not terms.pre.any():
        return [t for t in tiers if t in TILES], ""
    scalar = [t for t in tiers if t in ("v7m", "v6m")]
    channel = int(terms.pre.argmax())
    note = f"no {tiers[0]} kernel: output channel {channel} is requantised by a scale of 1/4 or more"
    return scalar, note if tiers[0] not in scalar else ""


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def tile_scratch(tier: str, depth: int) -> int:
    """Bytes that the tile itself needs: the DSP one widens its rows to int16."""
    return TILE_ROWS * 2 * _round_up(depth, 4) if tier == "dsp" else 0


def pack_weights(tier: str, rows: Array, groups: int = 1) -> Array:
    """int8 weights [output channels, depth], as one array [groups, bytes a group], in the order the tier's tile reads them."""
    channels, depth = rows.shape[0] // groups, rows.shape[1]
    if tier == "mve":
        return two_row_weights(rows, groups)
    if tier != "dsp":
        return rows.reshape(groups, channels * depth)
    filled = np.pad(rows, ((0, 0), (0, _round_up(depth, 4) - depth)))
    quads = filled.reshape(groups, channels, filled.shape[1] // 4, 4)
    pairs, single = quads[:, : channels // 2 * 2], quads[:, channels // 2 * 2 :]
    interleaved = pairs.reshape(groups, channels // 2, 2, filled.shape[1] // 4, 4).swapaxes(2, 3)
    return np.hstack([interleaved.reshape(groups, pairs[0].size), single.reshape(groups, single[0].size)])


def pack_channels(tier: str, terms: ChannelTerms, zero_point: int, groups: int = 1) -> Constant:
    """``rl_channel`` entries, for DSP ``rl_channel_dsp``, for MVE ``rl_channels_mve``."""
    if tier == "mve":
        return two_row_channels(terms, groups)
    if tier != "dsp":
        return terms.constant()
    packed = np.zeros(len(terms.bias), np.dtype([("b", "<i4"), ("a", "<i4"), ("m", "<i2"), ("s", "<u2")]))
    packed["b"], packed["m"], packed["s"] = terms.bias, terms.multiplier, terms.shift - 16
    packed["a"] = (zero_point << (terms.shift - 16)) + (1 << (terms.shift - 17))
    return Constant("channels", np.frombuffer(packed.tobytes(), "<i4"), "int32_t")


def tile_constants(
    tier: str, rows: Array, terms: ChannelTerms, zero_point: int, groups: int = 1
) -> tuple[Constant, Constant]:
    """The packed weights and channels of a layer whose weights are ``rows`` [output channels, depth]."""
    weights = np.ascontiguousarray(pack_weights(tier, rows, groups).reshape(-1))
    return Constant("weights", weights), pack_channels(tier, terms, zero_point, groups)


def tile_features(tier: str, pixels: int, runs: int, channels: int, depth: int) -> dict[str, float]:
    """How often the loops of the tier's tile run, for ``runs`` times ``pixels`` rows of ``depth`` bytes.

    Rows go in twos; what is left over at a run's end goes alone. "2" and "1" in the names say which.
    """
    found: dict[str, float] = {"calls": 1, "runs": runs}
    for rows, tiles in ((2, runs * (pixels // TILE_ROWS)), (1, runs * (pixels % TILE_ROWS))):
        loops = _LOOPS[tier](rows, channels, depth)
        found |= {f"{name} {rows}": float(tiles * count) for name, count in loops.items()}
    return found


def _v6m_loops(rows: int, channels: int, depth: int) -> dict[str, int]:
    pairs = -(-channels // 2)
    return {"tiles": 1, "blocks": pairs, "taps": pairs * depth}


def _v7m_loops(rows: int, channels: int, depth: int) -> dict[str, int]:
    blocks, left = (-(-channels // 2), 0) if rows == 2 else divmod(channels, 4)
    pairs = -(-left // 2)
    loops = {"tiles": 1, "blocks": blocks, "steps": blocks * (depth // 4), "taps": blocks * (depth % 4)}
    return loops | {"pairs": pairs, "pair taps": pairs * depth}


def _dsp_loops(rows: int, channels: int, depth: int) -> dict[str, int]:
    pairs, quads = channels // 2, -(-depth // 4)
    turn = 2 if rows == 2 else 4
    return {
        "tiles": 1,
        "widened": depth // 4,
        "tail bytes": depth % 4,
        "blocks": pairs,
        "steps": pairs * (quads // turn),
        "quads": pairs * (quads % turn),
        "single": channels % 2,
        "single quads": channels % 2 * quads,
    }


_LOOPS = {"v6m": _v6m_loops, "v7m": _v7m_loops, "dsp": _dsp_loops}
