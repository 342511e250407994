"""The integer arithmetic that all operators share. ARITHMETIC.md states the formulas; these functions define them.

``requantize``: ``y = clamp(zero_point + (((acc << pre) * multiplier + 2^(shift-1)) >> shift))`` with one rounding, an exact
product, ``0 <= multiplier < 2^15``, ``17 <= shift <= 39`` and ``pre >= 0`` (0 except where the scale is 1/4 or more).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_SCALE = 2.0**-30
MAX_SCALE = 2.0**14
MIN_SHIFT = 17
MAX_SHIFT = 39
INT32_MAX = 2**31 - 1


@dataclass(frozen=True)
class Multiplier:
    """A positive real scale as integers: ``scale ≈ multiplier * 2^(pre - shift)``, relative error below 2^-15.

    Scales below 2^-24 lose bits of the multiplier so that the shift stays at 39: no 32-bit sum shows the difference.
    """

    multiplier: int
    shift: int
    pre: int


def quantize_multiplier(scale: float) -> Multiplier:
    """The integers for a scale; ValueError for one outside 2^-30 … 2^14, which only a broken calibration gives."""
    if not (MIN_SCALE <= scale <= MAX_SCALE):
        raise ValueError(f"the requantisation scale {scale:g} lies outside 2^-30 … 2^14: the calibration is broken")
    fraction, exponent = math.frexp(scale)
    multiplier = round(fraction * 2**15)
    if multiplier == 2**15:
        multiplier, exponent = 2**14, exponent + 1
    shift = 15 - exponent
    if shift > MAX_SHIFT:
        drop = shift - MAX_SHIFT
        multiplier, shift = (multiplier + (1 << (drop - 1))) >> drop, MAX_SHIFT
    pre = max(0, MIN_SHIFT - shift)
    return Multiplier(multiplier, shift + pre, pre)


def check_accumulator(bound: int, m: Multiplier) -> None:
    """Proof that a sum of at most ``bound`` in magnitude stays in 32 bits through ``requantize``; else ValueError."""
    if bound << m.pre > INT32_MAX:
        raise ValueError(f"a sum can reach {bound << m.pre}, beyond 32 bits")


def requantize(
    acc: NDArray[Any],
    multiplier: NDArray[Any] | int,
    shift: NDArray[Any] | int,
    pre: NDArray[Any] | int,
    zero_point: int,
    low: int,
    high: int,
) -> NDArray[np.int8]:
    """The definition above on int64 arrays (broadcast); returns int8."""
    wide = acc.astype(np.int64) << np.asarray(pre, np.int64)
    shift64 = np.asarray(shift, np.int64)
    rounded = (wide * np.asarray(multiplier, np.int64) + (np.int64(1) << (shift64 - 1))) >> shift64
    clipped: NDArray[np.int8] = np.clip(rounded + zero_point, low, high).astype(np.int8)
    return clipped


def quantize_to(real: float, scale: float, zero_point: int) -> int:
    """The integer (not clamped) that stands for a real number; halves go to the even neighbour."""
    return round(real / scale) + zero_point


def clamp_range(scale: float, zero_point: int, qmin: int, qmax: int, clamp: tuple[float, float]) -> tuple[int, int]:
    """The integers an output may take: its quantised range narrowed by a real-valued clamp (may be infinite)."""
    low, high = clamp
    lowest = qmin if math.isinf(low) else max(qmin, min(qmax, quantize_to(low, scale, zero_point)))
    highest = qmax if math.isinf(high) else max(qmin, min(qmax, quantize_to(high, scale, zero_point)))
    return lowest, max(lowest, highest)
