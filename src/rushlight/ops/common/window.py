"""Sliding windows: attributes, output shape and the C block ``rl_window`` that convolution and pooling share. NHWC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import Tensor
from rushlight.ops.base import Array

# The parameter blocks hold an rl_window as their first member, "window"; emitted C names its fields like this.
WINDOW_FIELDS = (
    ("window.in_pitch", "int32_t", 1),
    ("window.out_pitch", "int32_t", 1),
    *(
        (f"window.{name}", "int16_t", 1)
        for name in (
            "batch in_h in_w in_c out_h out_w out_c kernel_h kernel_w stride_h stride_w dilation_h dilation_w "
            "pad_top pad_left row_begin row_end in_ring out_ring reserved"
        ).split()
    ),
)


class WindowAttrs(Protocol):
    """What an operator's attributes must have to be a windowed one. Pairs are (height, width)."""

    @property
    def kernel(self) -> tuple[int, int]: ...
    @property
    def stride(self) -> tuple[int, int]: ...
    @property
    def dilation(self) -> tuple[int, int]: ...
    @property
    def padding(self) -> tuple[int, int, int, int]:
        """top, bottom, left, right"""
        ...


def output_hw(in_hw: Sequence[int], attrs: WindowAttrs) -> tuple[int, int]:
    """Output height and width; ValueError if the window does not fit into the padded input."""
    sizes = []
    for axis in range(2):
        padded = in_hw[axis] + attrs.padding[2 * axis] + attrs.padding[2 * axis + 1]
        extent = attrs.dilation[axis] * (attrs.kernel[axis] - 1) + 1
        if padded < extent:
            raise ValueError(f"a window of {extent} does not fit into {padded} (padding included)")
        sizes.append((padded - extent) // attrs.stride[axis] + 1)
    return sizes[0], sizes[1]


def window_params(x: Tensor, y: Tensor, attrs: WindowAttrs) -> dict[str, Any]:
    """The values of ``rl_window`` for a whole tensor; ValueError for a dimension beyond 16 bits."""
    n, in_h, in_w, in_c = x.shape
    _, out_h, out_w, out_c = y.shape
    values = {
        "in_pitch": in_w * in_c,
        "out_pitch": out_w * out_c,
        "batch": n,
        "in_h": in_h,
        "in_w": in_w,
        "in_c": in_c,
        "out_h": out_h,
        "out_w": out_w,
        "out_c": out_c,
        "kernel_h": attrs.kernel[0],
        "kernel_w": attrs.kernel[1],
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "dilation_h": attrs.dilation[0],
        "dilation_w": attrs.dilation[1],
        "pad_top": attrs.padding[0],
        "pad_left": attrs.padding[2],
        "row_begin": 0,
        "row_end": out_h,
        "in_ring": in_h,
        "out_ring": out_h,
        "reserved": 0,
    }
    for name, value in values.items():
        if not name.endswith("pitch") and value > 32767:
            raise ValueError(f"{name} = {value} is beyond 32767")
    return {f"window.{name}": value for name, value in values.items()}


def taps_in_input(in_hw: Sequence[int], out_hw: Sequence[int], attrs: WindowAttrs) -> NDArray[np.bool_]:
    """[borders, KH·KW]: which taps of a window lie in the input, for each kind of border that there is (none is one too)."""
    axes = []
    for axis in range(2):
        starts = np.arange(out_hw[axis])[:, None] * attrs.stride[axis] - attrs.padding[2 * axis]
        taps = starts + np.arange(attrs.kernel[axis]) * attrs.dilation[axis]
        axes.append(np.unique((taps >= 0) & (taps < in_hw[axis]), axis=0))
    both = axes[0][:, None, :, None] & axes[1][None, :, None, :]
    return both.reshape(len(axes[0]) * len(axes[1]), -1)


def patches(x: Array, attrs: WindowAttrs, out_hw: tuple[int, int], fill: int) -> Array:
    """int64 windows [N, OH, OW, KH, KW, C] of an NHWC array, what lies outside reading as ``fill``."""
    n, h, w, c = x.shape
    out_h, out_w = out_hw
    rows = np.arange(out_h)[:, None] * attrs.stride[0] + np.arange(attrs.kernel[0]) * attrs.dilation[0]
    cols = np.arange(out_w)[:, None] * attrs.stride[1] + np.arange(attrs.kernel[1]) * attrs.dilation[1]
    top, left = attrs.padding[0], attrs.padding[2]
    bottom = max(0, int(rows.max()) + 1 - top - h)
    right = max(0, int(cols.max()) + 1 - left - w)
    padded = np.pad(x.astype(np.int64), ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    return padded[:, rows[:, None, :, None], cols[None, :, None, :], :].reshape(
        n, out_h, out_w, attrs.kernel[0], attrs.kernel[1], c
    )
