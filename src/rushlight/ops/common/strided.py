"""Walking tensors by strides: what permute, pad and the broadcasting operators prepare for ``common/odometer.h``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: A dimension of the output and the stride of each operand along it (in elements; 0: the operand is broadcast).
Axis = tuple[int, tuple[int, ...]]


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements of a dense tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same walk with as few axes as possible: those of size 1 are left out, those that continue each other are one."""
    result: list[Axis] = []
    for size, strides in axes:
        if size == 1:
            continue
        if result:
            outer_size, outer = result[-1]
            if all(o == s * size for o, s in zip(outer, strides, strict=True)):
                result[-1] = (outer_size * size, strides)
                continue
        result.append((size, strides))
    return result


def odometer(axes: Sequence[Axis], count: int, operand: int) -> tuple[list[int], list[int]]:
    """Sizes, and for each axis what an operand's offset grows by when that axis moves on and those inside it start anew.

    Both have ``count`` entries; axes in front that are not needed have size 1.
    """
    assert len(axes) <= count, f"{len(axes)} axes, {count} at most"
    sizes = [1] * (count - len(axes)) + [size for size, _ in axes]
    strides = [0] * (count - len(axes)) + [strides[operand] for _, strides in axes]
    steps, inside = [0] * count, 0
    for k in reversed(range(count)):
        steps[k] = strides[k] - inside
        inside += strides[k] * (sizes[k] - 1)
    return sizes, steps


def walked(sizes: Sequence[int], steps: Sequence[int]) -> NDArray[np.int64]:
    """An operand's offset in each turn of an ``odometer``, from 0 on."""
    offsets, inside = np.zeros(1, np.int64), 0
    for size, step in zip(reversed(sizes), reversed(steps), strict=True):
        stride = step + inside
        offsets = (stride * np.arange(size)[:, None] + offsets).reshape(-1)
        inside += stride * (size - 1)
    return offsets
