"""What max and average pooling share: torch's output sizes, windows without input, the way to NHWC and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.ops.base import ImportContext
from rushlight.ops.common.window import WindowAttrs

Padding = tuple[int, int, int, int]


def pair(values: Any, spatial: int = 2) -> tuple[int, int]:
    """An ATen size argument (an int, one entry, or one for each of ``spatial`` axes) as (height, width)."""
    entries = [int(v) for v in values] if isinstance(values, (list, tuple)) else [int(values)]
    if spatial == 1:
        return 1, entries[0]
    return entries[0], entries[-1]


def pooled_size(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """torch's output size along one axis: with ``ceil_mode`` the last window may hang over the end, but must start inside
    the input or the padding before it."""
    extent = dilation * (kernel - 1) + 1
    out = (size + 2 * pad - extent + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (out - 1) * stride >= size + pad:
        out -= 1
    return out


def effective_padding(
    in_hw: Sequence[int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
    dilation: tuple[int, int],
    ceil_mode: bool,
) -> Padding:
    """Padding (top, bottom, left, right) with which the floor rule gives torch's output size; the last windows' overhang
    counts as padding."""
    sides: list[int] = []
    for axis in range(2):
        out = pooled_size(in_hw[axis], kernel[axis], stride[axis], pad[axis], dilation[axis], ceil_mode)
        end = (out - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1
        sides += [pad[axis], max(pad[axis], end - in_hw[axis] - pad[axis])]
    return sides[0], sides[1], sides[2], sides[3]


def taps_inside(
    size: int, out: int, kernel: int, stride: int, dilation: int, pad: int, counted: tuple[int, int] = (0, 0)
) -> NDArray[np.int64]:
    """How many taps of each output position's window lie in the input, widened by ``counted`` at its two ends."""
    taps = np.arange(out)[:, None] * stride - pad + np.arange(kernel) * dilation
    inside: NDArray[np.int64] = ((taps >= -counted[0]) & (taps < size + counted[1])).sum(axis=1)
    return inside


def check_windows(in_hw: Sequence[int], out_hw: Sequence[int], attrs: WindowAttrs) -> None:
    """ValueError if a window holds padding alone."""
    for axis in range(2):
        pad, kernel, stride = attrs.padding[2 * axis], attrs.kernel[axis], attrs.stride[axis]
        inside = taps_inside(in_hw[axis], out_hw[axis], kernel, stride, attrs.dilation[axis], pad)
        if not inside.all():
            raise ValueError(
                f"window {int(np.argmin(inside))} along the {'height' if axis == 0 else 'width'} is padding only"
            )


def to_nhwc(ctx: ImportContext, name: str, spatial: int) -> str:
    """[(N,) C, H, W] (spatial 2) or [(N,) C, L] (spatial 1) as NHWC; L is the width."""
    shape = ctx.tensor(name).shape
    if len(shape) == spatial + 1:
        name, shape = ctx.reshape(name, (1, *shape)), (1, *shape)
    if spatial == 2:
        return ctx.permute(name, (0, 2, 3, 1))
    n, c, length = shape
    return ctx.reshape(ctx.permute(name, (0, 2, 1)), (n, 1, length, c))


def from_nhwc(ctx: ImportContext, name: str, spatial: int, shape: Sequence[int]) -> str:
    """The way back, to the shape that the ATen operator has."""
    if spatial == 2:
        return ctx.reshape(ctx.permute(name, (0, 3, 1, 2)), shape)
    n, _, length, c = ctx.tensor(name).shape
    return ctx.reshape(ctx.permute(ctx.reshape(name, (n, length, c)), (0, 2, 1)), shape)
