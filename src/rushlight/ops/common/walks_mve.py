"""How often the loops of the MVE matrix tiles, and of the convolution in front of them, run: see ``walks``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rushlight.ops.common.tiles_mve import STEP, beyond, gathered, whole_steps
from rushlight.ops.common.walks import Features, added, axis

DIRECT = 0  # RL_CONV2D_DIRECT
TAPS = 2  # RL_CONV2D_TAPS


def two_row_tile(rows: int, channels: int, depth: int) -> Features:
    """``rl_tile_mve`` for ``rows`` rows."""
    steps = whole_steps(depth) // STEP - 1
    few = channels < 4
    pairs = rows if few else -(-rows // 2)
    blocks = pairs * -(-channels // 4)
    counts = {
        "tiles": 1,
        "pairs": pairs,
        "blocks": blocks,
        "steps": blocks * steps,
        "turns": blocks * -(-steps // 4),
        "last blocks": pairs * (not few and channels % 4 > 0),
        "few": rows * few,
        "few outputs": rows * few * channels,
    }
    return {name: float(count) for name, count in counts.items()}


def one_row_tile(channels: int, depth: int) -> Features:
    """``rl_linear_s8_mve_row``."""
    steps = whole_steps(depth) // STEP
    blocks = 1 if channels < 8 else -(-channels // 8)
    passes = blocks * (1 if channels <= 4 else 2)
    counts = {
        "calls": 1,
        "blocks": blocks,
        "passes": passes,
        "steps": passes * steps,
        "turns": passes * -(-steps // 4),
        "last blocks": channels >= 8 and channels % 8 > 0,
        "few": channels < 8,
        "few outputs": channels * (channels < 8),
        **_copied(depth % STEP > 0, 1, depth),
    }
    return {name: float(count) for name, count in counts.items()}


def linear_rows(rows: int, channels: int, depth: int) -> Features:
    """``rl_linear_s8_mve``: the last rows are copied where their last step would read beyond the input."""
    aside = beyond(depth, depth, rows)
    parts = [{"calls": 1.0}, two_row_tile(rows - aside, channels, depth), _copied(aside > 0, aside, depth)]
    return added([*parts, two_row_tile(aside, channels, depth)] if aside else parts)


def _copied(calls: int, runs: int, size: int) -> Features:
    """``rl_copy_runs``: calls, runs of all of them, and their vectors."""
    counts = {"copies": calls, "copied runs": calls * runs, "copied vectors": calls * runs * -(-size // STEP)}
    return {name: float(count) for name, count in counts.items()}


def convolution(params: Mapping[str, Any]) -> Features:
    """``rl_conv2d_s8_mve``."""
    groups, batch = int(params["groups"]), int(params["window.batch"])
    direct = params["gather"] == DIRECT
    one = added([part for group in range(groups) for part in _direct(params, group)] if direct else _gathered(params))
    each = batch if direct else groups * batch
    return {"calls": 1.0, "groups": float(groups * batch), **{name: value * each for name, value in one.items()}}


def columns(p: Mapping[str, Any], most: int) -> Features:
    """``rl_conv2d_s8_mve_columns``, which copies the columns under up to ``most`` windows at a time."""
    down, across = axis(p, "h"), axis(p, "w")
    kernel, column = down.inside.shape[1], down.inside.shape[1] * int(p["window.in_c"])
    taps_down = down.inside.sum(axis=1)
    parts: list[Features] = []
    for ox in range(0, len(across.begin), most):
        begin = across.begin[ox : ox + most]
        width = int(begin[-1] - begin[0]) + across.inside.shape[1]
        inside = max(0, min(int(begin[0]) + width, across.size) - max(int(begin[0]), 0))
        fills = len(taps_down) if inside < width else int((taps_down < kernel).sum())
        parts += [{"fills": float(fills), "filled": float(fills * -(-width * column // STEP))}]
        parts += [_copied(taps > 0, int(taps) * inside, int(p["window.in_c"])) for taps in taps_down if inside]
        tile = two_row_tile(len(begin), p["group_out"], p["depth"])
        parts.append({name: value * len(taps_down) for name, value in tile.items()})
    one = {"lines": float(len(taps_down)), **added(parts)}
    return {"calls": 1.0, **{name: value * int(p["window.batch"]) for name, value in one.items()}}


def _direct(p: Mapping[str, Any], group: int) -> list[Features]:
    """A group's pixels read where they lie, but for those whose last step would read beyond the input: they are copied."""
    height, width, depth, channels = (p[name] for name in ("window.out_h", "window.out_w", "depth", "group_out"))
    dense = p["window.kernel_w"] == p["window.stride_h"] == p["window.stride_w"] == 1
    lines, pixels = (1, height * width) if dense else (height, width)
    step, pitch = p["window.stride_w"] * p["window.in_c"], p["window.in_pitch"]
    parts: list[Features] = [{"lines": float(lines), "tiles": 1.0}]
    for line in range(lines):
        room = (p["window.in_h"] - line * p["window.stride_h"]) * pitch - group * p["group_in"]
        in_place = max(0, min(pixels, (room - whole_steps(depth)) // step + 1))
        parts.append(two_row_tile(in_place, channels, depth))
        if aside := pixels - in_place:
            parts += [{"aside": float(aside)}, _copied(1, aside, depth), two_row_tile(aside, channels, depth)]
    return parts


def _gathered(p: Mapping[str, Any]) -> list[Features]:
    """Windows copied side by side, and several given to the tile together."""
    down, across = axis(p, "h"), axis(p, "w")
    depth, channels, group_in = (p[name] for name in ("depth", "group_out", "group_in"))
    most, vectors, by_taps = gathered(depth), whole_steps(depth) // STEP, p["gather"] == TAPS
    whole, taps_across = across.whole.tolist(), across.inside.sum(axis=1).tolist()
    counts: dict[str, float] = dict.fromkeys(("gathers", "clips", "filled", "fills"), 0.0)
    parts: list[Features] = []
    waiting = 0
    for taps in down.inside.sum(axis=1).tolist():
        column = 0
        while column < len(whole):
            count = 1
            if whole[column]:
                run = whole.index(False, column) if False in whole[column:] else len(whole)
                count = min(run - column, most - waiting)
            counts["clips"] += not whole[column]
            if not whole[column] or taps < down.inside.shape[1]:
                counts["fills"] += 1
                counts["filled"] += count * vectors
            if taps_across[column] > 0:
                counts["gathers"] += 1
                calls = max(0, taps) if by_taps else 1
                runs = (taps_across[column] if by_taps else taps) * count
                parts.append(_copied(calls, runs, group_in if by_taps else taps_across[column] * group_in))
            column += count
            waiting = (waiting + count) % most
    pixels = len(whole) * down.inside.shape[0]
    full, left = divmod(pixels, most)
    tile = {name: value * full for name, value in two_row_tile(most, channels, depth).items()}
    lines = {"lines": float(down.inside.shape[0])}
    return [*parts, counts, lines, tile, two_row_tile(left, channels, depth)]
