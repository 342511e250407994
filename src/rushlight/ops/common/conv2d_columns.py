"""The MVE convolution that copies the input columns under windows side by side once: when it saves, its constants and loops.

device/kernels/conv2d/mve_columns.c is the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rushlight.ops.base import Array, Kernel
from rushlight.ops.common.tiles import tile_constants
from rushlight.ops.common.tiles_mve import STEP, gathered, whole_steps
from rushlight.ops.common.walks import Features
from rushlight.ops.common.walks_mve import columns
from rushlight.ops.common.weighted import ChannelTerms

COLUMNS = "rl_conv2d_s8_mve_columns"
RUNS = 1  # RL_CONV2D_RUNS
STRIP = 1024  # bytes of columns, or as many as windows one by one take, where more than two windows are copied together


def _strip(params: Mapping[str, Any], windows: int) -> int:
    """Bytes of the columns under so many windows."""
    columns = (windows - 1) * params["window.stride_w"] + params["window.kernel_w"]
    return int(columns * params["window.kernel_h"] * params["window.in_c"])


def _windows(params: Mapping[str, Any]) -> int:
    """How many windows are copied together."""
    depth = params["depth"]
    room = max(STRIP, gathered(depth) * whole_steps(depth))
    most = 8
    while most > 2 and _strip(params, most) > room:
        most //= 2
    return min(most, int(params["window.out_w"]))


def _copying(runs: int, size: int) -> int:
    """Instructions of ``rl_copy_runs`` for a group of runs."""
    return runs * (5 + 3 * -(-size // STEP)) + 5


def saves(params: Mapping[str, Any]) -> bool:
    """Whether a row of output takes fewer instructions than with windows copied one by one."""
    height, width, channels, stride, depth = (
        params[name] for name in ("window.kernel_h", "window.kernel_w", "window.in_c", "window.stride_w", "depth")
    )
    pixels, windows = params["window.out_w"], _windows(params)
    call = 150  # to copy and to go to the tile, besides what is in proportion
    by_columns = -(-pixels // windows) * (((windows - 1) * stride + width) * _copying(height, channels) + call)
    by_windows = pixels * (_copying(height, width * channels) + call / gathered(depth))
    # A window left alone at a row's end is computed twice; windows one by one go on over the ends.
    twice = pixels % 2 * params["group_out"] * (2 * whole_steps(depth) // STEP + 4)
    return bool(by_columns + twice < by_windows)


def columns_kernel(plain: Kernel, weight: Array, terms: ChannelTerms) -> Kernel | None:
    """The kernel like the MVE one, ``plain``, if windows overlap. ``weight``: [O, KH, KW, C]."""
    params = plain.params
    if params["gather"] != RUNS or params["window.kernel_w"] <= params["window.stride_w"]:
        return None
    depth, strip = params["depth"], _strip(params, _windows(params))
    rows = weight.swapaxes(1, 2).reshape(weight.shape[0], depth)
    return replace(
        plain,
        symbol=COLUMNS,
        sources=("conv2d/mve_columns.c", "common/tile_mve.c"),
        constants=tile_constants("mve", rows, terms, params["out_zero_point"]),
        scratch=max(whole_steps(strip), strip + whole_steps(depth) - depth),
    )


def columns_features(kernel: Kernel) -> Features:
    """How often its loops run."""
    return columns(kernel.params, _windows(kernel.params))
