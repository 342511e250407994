"""Two products a multiply (convolution and linear on cores without SIMD): exact up to the bound of a lane, and no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import rushlight.ops.common.pairs as pairs
from rushlight.graph import DType, Graph, Op, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array, Kernel
from rushlight.ops.common.arith import requantize
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.linear import LinearAttrs
from tests.kernels import test_conv2d, test_linear
from tests.kernels.emulator import check_on_board
from tests.kernels.harness import check_kernels, emulated, geometries, single_op

Case = tuple[Graph, list[Array]]
SCALAR = ("v7m", "v6m")
#: What the pair kernels' symbols end with.
ENDINGS = {"conv2d": ("_pair8", "_pair4"), "linear": ("_pair",)}


def symbols(kind: str) -> set[str]:
    """The pair kernels of an operator."""
    return {f"rl_{kind}_s8_{tier}{ending}" for tier in SCALAR for ending in ENDINGS[kind]}


def trained(rng: np.random.Generator, shape: tuple[int, ...], spread: float) -> Array:
    """Normal weights with a standard deviation of ``spread``, as training leaves them; some channels are dead."""
    weights = np.rint(rng.normal(0.0, spread, shape))
    weights[rng.random(shape[0]) < 0.1] = 0
    return np.clip(weights, -127, 127).astype(np.int8)


def with_weights(case: Case, weights: Array) -> Case:
    """The case with other weights."""
    graph, given = case
    tensors = {**graph.tensors, "w": replace(graph["w"], data=weights)}
    return replace(graph, tensors=tensors), given


def conv_case(rng: np.random.Generator, spread: float) -> Case:
    graph, given = test_conv2d.random_case(rng)
    return with_weights((graph, given), trained(rng, graph["w"].shape, spread))


def linear_case(rng: np.random.Generator, spread: float) -> Case:
    graph, given = test_linear.random_case(rng)
    return with_weights((graph, given), trained(rng, graph["w"].shape, spread))


@pytest.mark.parametrize("kind", ["conv2d", "linear"])
def test_random_geometry_with_trained_weights(kind: str) -> None:
    """Groups of one tap up to the longest that a tier has."""
    rng = np.random.default_rng(1)
    make = conv_case if kind == "conv2d" else linear_case
    count = geometries(220)
    checked = check_kernels((make(rng, float(rng.uniform(1, 60))) for _ in range(count)), tiers=SCALAR)
    assert {checked.by_symbol[symbol] for symbol in symbols(kind)} == {count}


@pytest.mark.parametrize(
    ("kind", "ending"), [(kind, ending) for kind, endings in ENDINGS.items() for ending in endings]
)
@pytest.mark.parametrize("tier", SCALAR)
@pytest.mark.parametrize(("toolchain", "opt"), [("gcc", "-O2"), ("gcc", "-O0"), ("clang", "-O2"), ("clang", "-Oz")])
def test_sample_in_the_emulator(
    kind: str, ending: str, tier: str, toolchain: str, opt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    symbol = f"rl_{kind}_s8_{tier}{ending}"
    declared = operator(kind)

    def only(op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        return [kernel for kernel in type(declared).kernels(declared, op, graph, tiers) if kernel.symbol == symbol]

    monkeypatch.setattr(declared, "kernels", only)
    rng = np.random.default_rng(2)
    make = conv_case if kind == "conv2d" else linear_case
    cases = [make(rng, float(rng.uniform(1, 60))) for _ in range(emulated(25))]
    for weights in (AT_BOUND, BEYOND, trained(rng, (9, 120), 10).tolist(), trained(rng, (5, 70), 60).tolist()):
        cases.append(layer(kind, weights, adversarial(weights, rng), 1000.0))
    _, used = check_on_board(cases, tier, tmp_path / "cases", toolchain, opt)
    assert used == {symbol}


def layer(kind: str, weights: list[list[int]], given: Array, scale: float = 100.0) -> Case:
    """A layer with these weights [channels, taps] on pixels (or rows) ``given`` [pixels, taps]."""
    w = np.array(weights, np.int8)
    shape = given.shape if kind == "linear" else (1, 1, *given.shape)
    x = Tensor("x", shape, DType.INT8, QParams((1.0,), (3,)))
    q = QParams((1.0,) * len(w), (0,) * len(w), 0, -127, 127)
    data = w if kind == "linear" else w[:, None, None, :]
    wt = Tensor("w", data.shape, DType.INT8, q, np.ascontiguousarray(data))
    b = Tensor("b", (len(w),), DType.INT32, None, np.arange(len(w), dtype=np.int32))
    attrs = LinearAttrs() if kind == "linear" else Conv2dAttrs((1, 1))
    return single_op(kind, attrs, [x, wt, b], QParams((scale,), (-5,))), [given.reshape(shape)]


def adversarial(weights: list[list[int]], rng: np.random.Generator) -> Array:
    """Pixels that drive each channel's sums as far up or down as they go, each pixel its own way, some taps at random."""
    rows: list[NDArray[np.int64]] = []
    w = np.array(weights, np.int64)
    for channel in w:
        for sign in (1, -1):
            rows.append(np.where(channel * sign > 0, 127, -128))
            noisy = np.where(rng.random(w.shape[1]) < 0.1, rng.integers(-128, 128, w.shape[1]), rows[-1])
            rows.append(noisy)
    order = np.concatenate([rng.permutation(len(rows)) for _ in range(8)])
    pixels: Array = np.array(rows, np.int8)[order]
    return pixels


# 127 * 1 + 128 * 255: the least sum is -32767 exactly; with the signs turned, 32767 is the greatest.
AT_BOUND = [[127, 127, 1, -1], [-127, -127, -1, 1], [-1, 1, 127, 127], [64, 64, 127, -1]]
# 128 * 256 = 32768: one more than a lane holds.
BEYOND = [[-127, -127, -1, -1], [127, 127, 1, 1]]


def test_bounds_are_those_of_the_worst_inputs() -> None:
    w = np.arange(-128, 128)
    up, down = pairs.lane_bounds(w)
    products = w[:, None] * np.arange(-128, 128)
    np.testing.assert_array_equal(up, products.max(axis=1))
    np.testing.assert_array_equal(down, -products.min(axis=1))


def test_a_group_ends_where_its_lane_would_overflow() -> None:
    assert [list(g) for g in pairs.group_lengths(pairs.group_ends(np.array(AT_BOUND, np.int8), 16))] == [[4]] * 4
    assert [list(g) for g in pairs.group_lengths(pairs.group_ends(np.array(BEYOND, np.int8), 16))] == [[3, 1]] * 2
    # Channels that share their groups end them at the first that is full.
    shared = pairs.group_ends(np.array([[127, 127, 127, 0], [1, 1, 1, 1]], np.int8), 16, 2)
    assert [list(g) for g in pairs.group_lengths(shared)] == [[2, 2]]
    assert [list(g) for g in pairs.group_lengths(pairs.group_ends(np.zeros((1, 20), np.int8), 16))] == [[16, 4]]


def test_no_group_can_overflow() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        rows = trained(rng, (8, int(rng.integers(1, 200))), float(rng.uniform(1, 90)))
        up, down = pairs.lane_bounds(rows)
        for channel, lengths in enumerate(pairs.group_lengths(pairs.group_ends(rows, 16))):
            assert lengths.sum() == rows.shape[1]
            ends = np.cumsum(lengths)
            for begin, end in zip(ends - lengths, ends, strict=True):
                sums = up[channel, begin:end].sum(), down[channel, begin:end].sum()
                assert max(sums) <= pairs.LANE_MAX
                if end < rows.shape[1] and end - begin < 16:  # nor could it be longer
                    assert max(sums[0] + up[channel, end], sums[1] + down[channel, end]) > pairs.LANE_MAX


@pytest.mark.parametrize("kind", ["conv2d", "linear"])
def test_inputs_that_reach_the_bound_are_exact(kind: str) -> None:
    rng = np.random.default_rng(4)
    cases = [layer(kind, w, adversarial(w, rng)) for w in (AT_BOUND, BEYOND, AT_BOUND * 5)]
    for spread in (2, 10, 30, 60):
        weights = trained(rng, (9, 120), spread).tolist()
        cases.append(layer(kind, weights, adversarial(weights, rng), 2000.0))
    checked = check_kernels(cases, tiers=SCALAR)
    assert {checked.by_symbol[symbol] for symbol in symbols(kind)} == {len(cases)}


@pytest.mark.parametrize("kind", ["conv2d", "linear"])
def test_a_bound_one_higher_would_overflow(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is: the cases above reach the bound, and the kernels' arithmetic has nothing to spare."""
    monkeypatch.setattr(pairs, "LANE_MAX", pairs.LANE_MAX + 1)
    given = adversarial(BEYOND, np.random.default_rng(5))
    for tier in SCALAR:
        with pytest.raises(AssertionError, match=rf"rl_{kind}_s8_{tier}_pair\d? .*\n.*first difference"):
            check_kernels([layer(kind, BEYOND, given)], tiers=[tier])


def test_the_kernel_that_takes_fewer_instructions_comes_first() -> None:
    """Convolution gains from a whole tile on; linear from groups of more than two taps, whose flushes it has to pay for."""
    rng = np.random.default_rng(6)
    for tier in SCALAR:
        for kind, pixels, size, ending in (
            ("conv2d", 3, 20, ""),
            ("conv2d", 4, 20, "_pair4"),
            ("conv2d", 8, 20, "_pair8"),
            ("conv2d", 8, 127, "_pair"),
            ("linear", 1, 127, ""),
            ("linear", 1, 20, "_pair"),
        ):
            given = rng.integers(-128, 128, (pixels, 64)).astype(np.int8)
            graph, _ = layer(kind, [[size, -size] * 32] * 32, given, 10000.0)
            kernels = operator(kind).kernels(graph.ops[0], graph, (tier,))
            assert kernels[0].symbol.startswith(f"rl_{kind}_s8_{tier}{ending}")
            assert ending or not kernels[0].symbol.endswith(ENDINGS[kind])
            assert len(kernels) == 1 + len(ENDINGS[kind])


def test_short_scratch_takes_the_smaller_tile_or_the_plain_kernel() -> None:
    for depth, ending in ((250, "_pair8"), (500, "_pair4"), (1000, "")):
        graph, _ = layer("conv2d", [[5] * depth] * 16, np.zeros((8, depth), np.int8), 10000.0)
        best = operator("conv2d").kernels(graph.ops[0], graph, ("v7m",))[0]
        assert best.symbol == f"rl_conv2d_s8_v7m{ending}"
        assert best.scratch <= 4096


def test_too_many_groups_have_no_pair_kernel() -> None:
    graph, _ = layer("conv2d", [[127] * 600], np.zeros((8, 600), np.int8), 10000.0)
    for tier in SCALAR:
        assert [k.symbol for k in operator("conv2d").kernels(graph.ops[0], graph, (tier,))] == [f"rl_conv2d_s8_{tier}"]


def test_armv6m_requantises_as_the_definition_does() -> None:
    """By one multiply for shifts up to 24 and by two beyond, for all sums that inputs can give, at each output's ends."""
    rng = np.random.default_rng(7)
    split: set[bool] = set()
    for _ in range(3000):
        shift, m = int(rng.integers(17, 40)), int(rng.integers(2**14, 2**15))
        if shift == 39 and rng.random() < 0.5:
            m >>= int(rng.integers(0, 7))
        bias, reach = int(rng.integers(-(2**27), 2**27)), int(2 ** rng.uniform(0, 22))
        if rng.random() < 0.7:
            bias >>= 12
        zero_point, low = int(rng.integers(-128, 128)), int(rng.integers(-128, 128))
        high = int(rng.integers(low, 128))
        entry = pairs._v6m_channel(bias, m, shift, (bias - reach, bias + reach), (zero_point, low, high))
        if entry is None:
            assert shift > 31
            continue
        start, span, multiplier, addend, lower, lower_addend, right = entry
        split.add(span >= 2**31)
        outputs = [*range(-129, 129, 8), low - 1, low, high - 1, high]
        ends = [((y - zero_point) * 2 + 1) * 2 ** (shift - 1) // m + d for y in outputs for d in (-1, 0, 1)]
        sums = np.unique(np.clip([*ends, bias - reach, bias + reach], bias - reach, bias + reach))
        u = np.clip(sums - bias + start, 0, span % 2**31)
        assert (u * lower + lower_addend < 2**32).all()
        v = u * multiplier + addend - 2**31 + (((u * lower + lower_addend) >> right) if span >= 2**31 else 0)
        got = (v % 2**32 >> 24) - 128
        np.testing.assert_array_equal(got, requantize(sums, m, shift, 0, zero_point, low, high))
    assert split == {True, False}
