"""How the MVE tiles' weights and channels are packed, and their scratch.

device/kernels/conv2d/README.md draws the layouts; device/kernels/common/dot_mve.h reads them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushlight.ops.base import Array, Constant
from rushlight.ops.common.weighted import ChannelTerms

STEP = 16  # RL_STEP


def whole_steps(depth: int) -> int:
    """Bytes of a row in the tile: depth, filled up to whole steps."""
    return -(-depth // STEP) * STEP


def beyond(depth: int, row_step: int, rows: int) -> int:
    """How many of ``rows`` rows, ``row_step`` bytes apart, end less than a whole step before the input's end."""
    return min(rows, -(-(whole_steps(depth) - depth) // row_step))


def gathered(depth: int) -> int:
    """How many windows a convolution gathers before they go to the tile."""
    pitch = whole_steps(depth)
    return 8 if pitch <= 64 else 4 if pitch <= 256 else 2


def block_channels(channels: int, size: int) -> NDArray[np.int64]:
    """The channels of each block of ``size``, -1 where there is none.

    The last block is that of the last channels of all, some of which are in the block before too.
    """
    starts = [min(start, max(channels - size, 0)) for start in range(0, channels, size)]
    found = np.add.outer(np.array(starts), np.arange(size))
    return np.where(found < channels, found, -1)


def _ordered(rows: Array, order: NDArray[np.int64]) -> Array:
    """``rows`` in the order given, zeros for -1."""
    return np.asarray(np.where((order < 0).reshape(-1, *[1] * (rows.ndim - 1)), 0, rows[order.reshape(-1)]))


def pack_weights(rows: Array, passes: Array) -> Array:
    """int8 weights [output channels, depth] in the order of reading.

    ``passes`` [blocks, passes a block, channels a pass] are the channels; a pass takes 16 taps of each of its channels in
    turn, a second one from the last taps to the first.
    """
    filled = np.pad(rows, ((0, 0), (0, whole_steps(rows.shape[1]) - rows.shape[1])))
    steps = _ordered(filled, passes.reshape(-1)).reshape(*passes.shape, -1, STEP).swapaxes(2, 3)
    steps[:, 1:] = steps[:, 1:, ::-1]
    return np.ascontiguousarray(steps).reshape(-1)


def two_row_passes(channels: int) -> NDArray[np.int64]:
    """Blocks of four channels: 0 and 2, then 1 and 3."""
    return block_channels(channels, 4).reshape(-1, 2, 2).swapaxes(1, 2)


def pack_channels(terms: ChannelTerms, fours: NDArray[np.int64]) -> Constant:
    """``rl_channels_mve`` for each four channels."""
    fields = np.stack([terms.bias, terms.multiplier << 16, 15 - terms.shift], axis=1)
    entries = _ordered(fields, fours.reshape(-1)).reshape(-1, 4, 3).swapaxes(1, 2)
    return Constant("channels", np.ascontiguousarray(entries).astype("<i4").reshape(-1), "int32_t")


def two_row_weights(rows: Array, groups: int) -> Array:
    """Packed weights of the tile of 2 rows x 4 channels, [groups, bytes a group]."""
    channels = rows.shape[0] // groups
    passes = two_row_passes(channels)
    return np.stack([pack_weights(group, passes) for group in np.split(rows, groups)])


def two_row_channels(terms: ChannelTerms, groups: int) -> Constant:
    """``rl_channels_mve`` of the tile of 2 rows x 4 channels."""
    channels = len(terms.bias) // groups
    fours = block_channels(channels, 4)
    each = [np.where(fours < 0, -1, fours + group * channels) for group in range(groups)]
    return pack_channels(terms, np.concatenate(each))


def one_row_constants(rows: Array, terms: ChannelTerms) -> tuple[Constant, Constant]:
    """Packed weights and channels of the tile of 1 row x 8 channels: in a block the even channels, then the odd ones.

    Of up to four channels there is just the first pass.
    """
    channels = len(rows)
    if channels <= 4:
        passes = block_channels(channels, 4).reshape(1, 1, 4)
    else:
        passes = block_channels(channels, 8).reshape(-1, 4, 2).swapaxes(1, 2)
    return Constant("weights", pack_weights(rows, passes)), pack_channels(terms, passes)
