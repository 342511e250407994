"""How often the loops of the kernels' walks over windows run, from a parameter block: what costs are estimated from.

Counted as ``walk.h`` of convolution and depthwise convolution and ``common/pool.h`` go, padding and all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Features = dict[str, float]


@dataclass(frozen=True)
class Axis:
    """One axis of a windowed operator: where windows begin (one an output position) and which taps are inside."""

    begin: NDArray[np.int64]
    inside: NDArray[np.bool_]  # [output, tap]
    size: int

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Output positions whose window lies inside the input."""
        return np.asarray(self.inside.all(axis=1), np.bool_)


def axis(params: Mapping[str, Any], letter: str) -> Axis:
    """``letter``: "h" or "w"."""
    size, out, taps, stride, dilation = (
        int(params[f"window.{name}_{letter}"]) for name in ("in", "out", "kernel", "stride", "dilation")
    )
    begin = np.arange(out) * stride - int(params["window.pad_top" if letter == "h" else "window.pad_left"])
    at = begin[:, None] + np.arange(taps) * dilation
    return Axis(begin, (at >= 0) & (at < size), size)


def fills(sizes: NDArray[np.int64], counts: NDArray[np.int64] | int) -> Features:
    """Calls of memset: how many, their words and the bytes beside them."""
    many = np.broadcast_to(counts, sizes.shape) * (sizes > 0)
    return {
        "fills": float(many.sum()),
        "fill words": float((many * (sizes // 4)).sum()),
        "fill bytes": float((many * (sizes % 4)).sum()),
    }


def memcpy(size: int, aligned: int, times: int) -> Features:
    """``times`` calls of memcpy, ``aligned`` of them between multiples of 4, where it moves words, then bytes."""
    words, left, beside = size // 4, size % 4, times - aligned
    return {
        "copies": float(times),
        "word loops": float(aligned * (words > 0)),
        "words": float(aligned * words),
        "byte loops": float(aligned * (left > 0) + beside * (size > 0)),
        "bytes": float(aligned * left + beside * size),
    }


def aligned(*offsets: NDArray[np.int64]) -> int:
    """In how many places all of the offsets are multiples of 4."""
    return int(np.logical_and.reduce([offset % 4 == 0 for offset in offsets]).sum())


def added(parts: Iterable[Features]) -> Features:
    """The sum of features by name."""
    total: Features = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0.0) + count
    return total


def copies(tier: str, sizes: NDArray[np.int64], aligned: NDArray[np.bool_]) -> Features:
    """Runs copied by the tier's copy function. Armv6-M copies words only where both sides are ``aligned``."""
    if tier == "mve":
        return {"copy vectors": float(((sizes + 15) // 16).sum())}
    words = sizes // 4 * aligned if tier == "v6m" else sizes // 4
    left = sizes - 4 * words
    return {
        "copy loops": float((words > 0).sum()),
        "copy words": float(words.sum()),
        "copy tails": float((left > 0).sum()),
        "copy bytes": float(left.sum()),
    }


def gather_runs(tier: str, params: Mapping[str, Any], depth: int) -> Features:
    """``rl_conv2d_gather_runs`` for all pixels."""
    down, across = axis(params, "h"), axis(params, "w")
    channels, batch = int(params["window.in_c"]), int(params["window.batch"])
    width = across.inside.shape[1]
    begin = np.clip(across.begin, 0, across.size)
    inside = across.inside.sum(axis=1) * channels
    before = np.clip(-across.begin, 0, width) * channels
    rows_in = int(down.inside.sum())
    rows_out = down.inside.size - rows_in
    # Where each run comes from and goes to: [output row, kernel row, column].
    ky = np.arange(down.inside.shape[1])
    from_row = (down.begin[:, None] + ky * int(params["window.dilation_h"])) * int(params["window.in_pitch"])
    source = from_row[:, :, None] + begin * channels
    columns = np.arange(len(across.begin))
    to = ky[:, None] * width * channels + columns % 2 * depth + before
    taken = np.broadcast_to(down.inside[:, :, None], source.shape)
    sizes = np.broadcast_to(inside, source.shape)
    pads = np.concatenate([before, width * channels - before - inside, np.full(len(columns), width * channels)])
    counts = np.repeat([rows_in, rows_in, rows_out], len(columns))
    one = {
        "gathers": float(down.inside.shape[0] * len(columns)),
        "gather rows": float(rows_in * len(columns)),
        "pad rows": float(rows_out * len(columns)),
        **fills(pads, counts),
        **copies(tier, sizes[taken], ((source | to) % 4 == 0)[taken]),
    }
    return {name: value * batch for name, value in one.items()}


def gather_taps(tier: str, params: Mapping[str, Any], groups: int, group_in: int) -> Features:
    """``rl_conv2d_gather_taps`` for all pixels and groups."""
    down, across = axis(params, "h"), axis(params, "w")
    taps = down.inside.size * across.inside.size
    inside = int(down.inside.sum()) * int(across.inside.sum())
    aligned = group_in % 4 == 0 and int(params["window.in_c"]) % 4 == 0
    run = copies(tier, np.array([group_in]), np.array([aligned]))
    pixels = down.inside.shape[0] * across.inside.shape[0]
    one = {
        "gathers": float(pixels),
        "gather rows": float(pixels * down.inside.shape[1]),
        "gather taps": float(inside),
        **{name: inside * value for name, value in run.items()},
        **fills(np.array([group_in]), taps - inside),
    }
    return {name: value * groups * int(params["window.batch"]) for name, value in one.items()}


def pair_pixels(params: Mapping[str, Any], flushes: int, pixels: int) -> Features:
    """``rl_conv2d_pair_walk``: tiles of ``pixels`` output pixels, the last one overlapping, and single ones.

    ``flushes``: the groups that the taps of all channels are cut into.
    """
    down, across = axis(params, "h"), axis(params, "w")
    height, width, batch = down.inside.shape[0], across.inside.shape[0], int(params["window.batch"])
    groups, depth, channels = (int(params[name]) for name in ("groups", "depth", "group_out"))
    tiles, single = divmod(height * width, pixels)
    if tiles and single >= 3:  # RL_PAIR_OVERLAP
        tiles, single = tiles + 1, 0
    run_taps = int(params["run_taps"])
    runs = down.inside.shape[1] * across.inside.shape[1] // run_taps
    size = run_taps * int(params["group_in"])
    # Runs that are partly padding are put together first: filled, and the inside copied over.
    inside = across.inside.sum(axis=1)
    cut = inside[(inside > 0) & (inside < run_taps)] if run_taps > 1 else np.zeros(0, np.int64)
    cut_bytes = float(down.inside.sum() * (len(cut) * run_taps + cut.sum()) * int(params["group_in"]))
    even = int(params["window.in_c"]) % 4 == 0 and int(params["group_in"]) % 4 == 0
    unit, wide = ("words", 4) if even else ("bytes", 1)
    lines = float(batch * groups)
    packed = lines * tiles * pixels / 2 * runs
    narrow = (params["out_min"], params["out_max"]) != (-128, 127)
    return {
        "calls": 1.0,
        "lines": lines,
        "tiles": lines * tiles,
        "tile channels": lines * tiles * channels,
        "tile taps": lines * tiles * channels * depth,
        "flushes": float(batch * tiles * flushes),
        "packed runs": packed,
        "packed fours": packed * (size // 4),
        "packed left": packed * (size % 4),
        "cut runs": lines * float(down.inside.sum()) * len(cut),
        f"cut {unit}": lines * cut_bytes / wide,
        "single": lines * single,
        "single runs": lines * single * runs,
        f"single {unit}": lines * single * depth / wide,
        "single channels": lines * single * channels,
        "single taps": lines * single * channels * depth,
        "single flushes": float(batch * single * flushes),
        "clamped": lines * height * width * channels * narrow,
    }


def depthwise_points(params: Mapping[str, Any], pixels: int) -> Features:
    """``rl_dw_row`` for all rows: tiles, lists of pointers made anew, and lists that only move on."""
    down, across = axis(params, "h"), axis(params, "w")
    batch, rows, columns = int(params["window.batch"]), down.inside.shape[0], across.inside.shape[0]
    taps = down.inside.shape[1] * across.inside.shape[1]
    tiles = -(-columns // pixels)
    last = np.minimum(np.arange(tiles) * pixels + pixels - 1, columns - 1)
    full = np.arange(tiles) * pixels + pixels <= columns
    whole = across.whole[np.arange(tiles) * pixels] & across.whole[last] & full
    moves = int((whole[1:] & whole[:-1]).sum()) * int(down.whole.sum())
    # Lists made anew: all but those that move on; each looks at all its taps.
    anew = np.ones((rows, tiles), bool)
    anew[:, 1:] = ~(down.whole[:, None] & (whole[1:] & whole[:-1]))
    at = np.minimum(np.arange(tiles)[:, None] * pixels + np.arange(pixels), columns - 1)
    rows_in = down.inside.sum(axis=1)
    cols_in = across.inside[at].sum(axis=(1, 2))
    taps_in = float((anew * rows_in[:, None] * cols_in).sum())
    lists = float(anew.sum() * pixels)
    row_taps = float((anew * (down.inside.shape[1] - rows_in)[:, None]).sum() * pixels * across.inside.shape[1])
    one = {
        "lines": float(rows),
        "tiles": float(rows * tiles),
        "moved": float(moves * taps * pixels),
        "lists": lists,
        "list rows": lists * down.inside.shape[1],
        "taps in": taps_in,
        "taps beside": lists * taps - taps_in - row_taps,
        "taps above": row_taps,
    }
    return {name: value * batch for name, value in one.items()}


@dataclass(frozen=True)
class Windows:
    """The clipped windows of a pooling: output rows and columns by their taps inside the input."""

    batch: int
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    features: Features


def pool_windows(params: Mapping[str, Any]) -> Windows:
    """``rl_pool_walk`` for all rows."""
    down, across = axis(params, "h"), axis(params, "w")
    batch, rows, cols = int(params["window.batch"]), down.inside.sum(axis=1), across.inside.sum(axis=1)
    clipped = float((down.inside.shape[1] - rows).sum() + len(rows) * (across.inside.shape[1] - cols).sum())
    features = {
        "calls": 1.0,
        "lines": float(batch * len(rows)),
        "pixels": float(batch * len(rows) * len(cols)),
        "clipped": batch * clipped,
    }
    return Windows(batch, rows, cols, features)


def pool_runs(params: Mapping[str, Any]) -> Windows:
    """``rl_pool_runs`` for all rows: windows between the input's sides are one run, each other window is one."""
    windows, across = pool_windows(params), axis(params, "w").inside
    inside = int(across.all(axis=1).sum())
    runs = windows.features["lines"] * (len(across) - inside + (inside > 0))
    return replace(windows, features=windows.features | {"runs": runs})
