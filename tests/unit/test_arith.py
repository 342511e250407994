"""The arithmetic's proofs: each tier's instruction sequence equals the one definition. ARITHMETIC.md names these tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.ops.common.arith import (
    MAX_SCALE,
    MAX_SHIFT,
    MIN_SCALE,
    MIN_SHIFT,
    check_accumulator,
    clamp_range,
    quantize_multiplier,
    requantize,
)

accumulators = st.integers(-(2**31), 2**31 - 1)
multipliers = st.integers(0, 2**15 - 1)
shifts = st.integers(MIN_SHIFT, MAX_SHIFT)
zero_points = st.integers(-128, 127)


def definition(acc: int, multiplier: int, shift: int, zero_point: int) -> int:
    """The formula of ARITHMETIC.md before the clamp, in unbounded integers."""
    return zero_point + ((acc * multiplier + (1 << (shift - 1))) >> shift)


def wrap32(value: int) -> int:
    """What a 32-bit register holds."""
    return (value + 2**31) % 2**32 - 2**31


@settings(max_examples=2000)
@given(accumulators, multipliers, shifts, zero_points)
def test_two_multiplies_of_v6m_equal_the_definition(acc: int, m: int, s: int, zp: int) -> None:
    high = wrap32((acc >> 16) * m + (((acc & 0xFFFF) * m) >> 16))
    assert high == (acc * m) >> 16, "no step may leave 32 bits"
    assert zp + (wrap32(high + (1 << (s - 17))) >> (s - 16)) == definition(acc, m, s, zp)


@settings(max_examples=2000)
@given(accumulators, multipliers, shifts, zero_points)
def test_smlawb_of_dsp_equals_the_definition_with_the_zero_point_free(acc: int, m: int, s: int, zp: int) -> None:
    constant = (1 << (s - 17)) + (zp << (s - 16))
    assert constant == wrap32(constant)
    total = ((acc * m) >> 16) + constant
    clamped = max(-128, min(127, wrap32(total) >> (s - 16)))
    assert total == wrap32(total), "SMLAWB must not overflow"
    assert clamped == max(-128, min(127, definition(acc, m, s, zp)))


@settings(max_examples=2000)
@given(accumulators, multipliers, shifts, zero_points)
def test_vqdmulh_and_vrshl_of_mve_equal_the_definition(acc: int, m: int, s: int, zp: int) -> None:
    doubled = (2 * acc * (m << 16)) >> 32  # never saturates: m << 16 is not -2^31
    right = s - 15
    assert zp + ((doubled + (1 << (right - 1))) >> right) == definition(acc, m, s, zp)


@given(st.floats(MIN_SCALE, MAX_SCALE))
def test_a_scale_is_kept_within_two_to_the_minus_15(scale: float) -> None:
    m = quantize_multiplier(scale)
    assert 0 <= m.multiplier < 2**15
    assert MIN_SHIFT <= m.shift <= MAX_SHIFT
    assert m.pre >= 0
    assert m.pre == 0 or scale >= 0.25 * (1 - 2**-15)
    real = m.multiplier * 2.0 ** (m.pre - m.shift)
    # What matters is the output: at most 0.008 of a step over the whole int8 range, for any 32-bit sum.
    reach = min(255.0, 2**31 * scale)
    assert abs(real - scale) / scale * reach <= 255 * 2**-15 + 1e-9


@pytest.mark.parametrize("scale", [0.0, -1.0, 2.0**-31, 2.0**14 * 1.001, math.inf, math.nan])
def test_a_scale_that_only_a_broken_calibration_gives_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="broken"):
        quantize_multiplier(scale)


@settings(max_examples=500)
@given(st.integers(-(2**20), 2**20), st.floats(1e-6, 1e3), zero_points)
def test_requantize_is_the_nearest_integer_to_the_real_product(acc: int, scale: float, zp: int) -> None:
    m = quantize_multiplier(scale)
    try:
        check_accumulator(abs(acc), m)
    except ValueError:
        return
    got = int(requantize(np.array([acc]), m.multiplier, m.shift, m.pre, zp, -128, 127)[0])
    real = acc * scale + zp
    inside = min(127.0, max(-128.0, real))
    assert abs(got - inside) <= 0.5 + abs(acc * scale) * 2**-15 + 1e-6


def test_a_sum_beyond_32_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="beyond 32 bits"):
        check_accumulator(2**31, quantize_multiplier(0.01))
    with pytest.raises(ValueError, match="beyond 32 bits"):
        check_accumulator(2**20, quantize_multiplier(2.0**13))
    check_accumulator(2**31 - 1, quantize_multiplier(0.01))


@given(st.floats(1e-4, 10), zero_points, st.floats(-20, 20), st.floats(0, 20))
def test_a_fused_clamp_lets_nothing_through_that_lies_outside(scale: float, zp: int, low: float, width: float) -> None:
    lowest, highest = clamp_range(scale, zp, -128, 127, (low, low + width))
    assert -128 <= lowest <= highest <= 127
    if -128 < lowest < 127:  # else the clamp lies outside what int8 can show
        assert (lowest - zp) * scale >= low - scale * 0.5000001
    if -128 < highest < 127:
        assert (highest - zp) * scale <= low + width + scale * 0.5000001
