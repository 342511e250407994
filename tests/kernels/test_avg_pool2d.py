"""avg_pool2d: every kernel on every tier equals the reference over random geometry, and the rules give PyTorch's averages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.avg_pool2d import AvgPool2dAttrs
from rushlight.ops.base import Array
from tests.kernels.bands import load, run_in_bands
from tests.kernels.building import Context, dequantized, integer_graph, lowered, run
from tests.kernels.emulator import CORES, check_on_board
from tests.kernels.harness import (
    TIERS,
    check_kernels,
    emulated,
    geometries,
    random_inputs,
    random_int8,
    random_q,
    single_op,
)
from tests.kernels.pooling import run_lowered

Case = tuple[Graph, list[Array]]
SYMBOL = "rl_avg_pool2d_s8_"


def random_case(rng: np.random.Generator, batch: int | None = None, channels: int | None = None) -> Case:
    """Any kernel (three in ten global), stride, four unequal paddings that count, count in part or not at all."""
    while True:
        h, w = int(rng.integers(1, 12)), int(rng.integers(1, 12))
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6))) if rng.random() < 0.7 else (h, w)
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        top, bottom, left, right = (int(v) for v in rng.integers(0, 4, 4) * (rng.random(4) < 0.5))
        share = int(rng.integers(0, 3))
        counted = (top * share // 2, bottom * share // 2, left * share // 2, right * share // 2)
        divisor = 0 if rng.random() < 0.8 else int(rng.integers(1, 40))
        low, high = -128, 127
        if rng.random() < 0.5:
            low = int(rng.integers(-128, 60))
            high = int(rng.integers(low, 128))
        attrs = AvgPool2dAttrs(kernel, stride, (top, bottom, left, right), counted, divisor, low, high)
        x_q = random_q(rng)
        shape = (batch or int(rng.integers(1, 4)), h, w, channels or int(rng.integers(1, 34)))
        x = Tensor("x", shape, DType.INT8, x_q)
        narrow, wide = (0.1, 2.0) if rng.random() < 0.8 else (1e-3, 1e3)
        try:
            graph = single_op("avg_pool2d", attrs, [x], random_q(rng, x_q.s * narrow, x_q.s * wide))
        except ValueError:
            continue
        return graph, random_inputs(rng, graph)


def global_case(rng: np.random.Generator, h: int, w: int, channels: int, data: Array | None = None) -> Case:
    x = Tensor("x", (1, h, w, channels), DType.INT8, random_q(rng))
    graph = single_op("avg_pool2d", AvgPool2dAttrs((h, w), (h, w)), [x], random_q(rng, x.q.s * 0.1, x.q.s))
    return graph, random_inputs(rng, graph) if data is None else [data]


# --- kernels ---------------------------------------------------------------------------------------------------------


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(5)
    count = geometries(300)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
    assert all(checked.by_symbol[SYMBOL + tier] >= 200 for tier in TIERS), checked.by_symbol


@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_blocks_of_many_channels(toolchain: str, tmp_path: Path) -> None:
    """Helium takes 32 channels at once, then 16, then eight; only eight where a window's sum may leave 16 bits."""
    rng = np.random.default_rng(8)
    cases = [random_case(rng, channels=channels) for channels in (31, 32, 33, 48, 57, 64, 88, 97) for _ in range(3)]
    cases += [global_case(rng, 17, 16, channels) for channels in (32, 57)]
    assert check_kernels(cases).by_symbol[f"{SYMBOL}mve"] == len(cases)
    _, symbols = check_on_board(cases, "mve", tmp_path / "cases", toolchain)
    assert symbols == {f"{SYMBOL}mve"}


def test_each_count_of_channels() -> None:
    rng = np.random.default_rng(6)
    checked = check_kernels(random_case(rng, channels=channels) for channels in range(1, 34) for _ in range(3))
    assert checked.by_symbol[f"{SYMBOL}mve"] == 99


def test_sums_of_16_bits_are_flushed_before_they_overflow() -> None:
    """Windows around and far beyond 256 taps of extreme values, in few long and in many short rows."""
    rng = np.random.default_rng(7)
    cases: list[Case] = []
    for h, w in ((16, 16), (17, 16), (1, 256), (2, 256), (100, 7), (3, 129), (1, 257), (40, 40), (600, 1)):
        cases += [global_case(rng, h, w, 9, np.full((1, h, w, 9), v, np.int8)) for v in (-128, 127)]
        cases.append(global_case(rng, h, w, 9))
    checked = check_kernels(cases)
    # A row of 257 taps may overflow at once.
    assert checked.by_symbol[f"{SYMBOL}v7m"] == 27
    assert checked.by_symbol[f"{SYMBOL}dsp"] == checked.by_symbol[f"{SYMBOL}mve"] == 24


def test_report_says_why_a_tier_is_not_used() -> None:
    graph, _ = global_case(np.random.default_rng(0), 1, 300, 8)
    best = operator("avg_pool2d").kernels(graph.ops[0], graph, ("mve", "dsp", "v7m", "v6m"))[0]
    assert best.tier == "v7m" and "300 taps may overflow" in best.note
    graph, _ = global_case(np.random.default_rng(0), 4, 4, 3)
    best = operator("avg_pool2d").kernels(graph.ops[0], graph, ("dsp", "v7m", "v6m"))[0]
    assert best.tier == "v7m" and "3 channels are fewer than the dsp kernel's 4" in best.note


def test_bands_of_rows_in_rolling_buffers() -> None:
    rng = np.random.default_rng(8)
    cases = [random_case(rng, batch=1) for _ in range(60)]
    kernels = [operator("avg_pool2d").kernels(g.ops[0], g, TIERS) for g, _ in cases]
    library = load([k for candidates in kernels for k in candidates])
    bands = 0
    for (graph, (x,)), candidates in zip(cases, kernels, strict=True):
        expected = run(graph, x)
        for kernel in candidates:
            for band in {1, 2, 3, expected.shape[1]}:
                got = run_in_bands(library, kernel, graph, x, band, int(rng.integers(0, 6)))
                np.testing.assert_array_equal(got, expected, f"{kernel.symbol} {graph.ops[0].attrs} band {band}")
                bands += -(-expected.shape[1] // band)
    assert bands > 700


@pytest.mark.parametrize("tier", CORES)
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_sample_in_the_emulator(tier: str, toolchain: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    cases = [random_case(rng, channels=int(rng.integers(4, 34))) for _ in range(emulated(30))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
    assert symbols == {SYMBOL + tier}


# --- against PyTorch -------------------------------------------------------------------------------------------------


def close_to_torch(rule: tuple[Context, str], data: Array, theirs: torch.Tensor, x: QParams, y: QParams) -> None:
    context, name = rule
    got = run_lowered(context, name, data, x, y)
    assert got.shape == tuple(theirs.shape)
    steps = np.clip(theirs.numpy() / y.s + y.z, -128, 127)
    assert np.abs(got - steps).max(initial=0) <= 0.51, context.ops


def real(data: Array, q: QParams) -> torch.Tensor:
    return torch.from_numpy(dequantized(data, q))


def test_sizes_and_values_are_torchs_with_ceil_mode_counts_and_divisors() -> None:
    rng = np.random.default_rng(10)
    compared = 0
    while compared < 300:
        kernel, stride = rng.integers(1, 5, 2).tolist(), rng.integers(1, 5, 2).tolist()
        padding = [int(rng.integers(0, k // 2 + 1)) for k in kernel]
        ceil_mode, include = bool(rng.random() < 0.6), bool(rng.random() < 0.5)
        divisor = None if rng.random() < 0.8 else int(rng.integers(1, 20))
        shape = (*rng.integers(1, 4, 2).tolist(), *rng.integers(1, 14, 2).tolist())
        if rng.random() < 0.2:
            shape = shape[1:]
        data, x, y = random_int8(rng, shape), random_q(rng, 0.1, 1.0), random_q(rng, 0.05, 2.0)
        try:
            theirs = torch.nn.functional.avg_pool2d(real(data, x), kernel, stride, padding, ceil_mode, include, divisor)
        except RuntimeError:  # the window does not fit
            continue
        rule = lowered(
            "avg_pool2d.default",
            [Tensor("x", shape, DType.INT8)],
            theirs.shape,
            self="x",
            kernel_size=kernel,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=include,
            divisor_override=divisor,
        )
        close_to_torch(rule, data, theirs, x, y)
        compared += 1


@pytest.mark.parametrize(
    ("in_hw", "out_hw"), [((7, 7), (1, 1)), ((8, 6), (4, 3)), ((7, 9), (3, 1)), ((5, 4), (5, 4)), ((5, 3), (1, 3))]
)
def test_adaptive_windows_of_equal_size(in_hw: tuple[int, int], out_hw: tuple[int, int]) -> None:
    rng = np.random.default_rng(11)
    for shape in ((2, 3, *in_hw), (3, *in_hw)):
        data, x, y = random_int8(rng, shape), QParams((0.5,), (4,)), QParams((0.3,), (-7,))
        theirs = torch.nn.functional.adaptive_avg_pool2d(real(data, x), out_hw)
        given = [Tensor("x", shape, DType.INT8)]
        rule = lowered("adaptive_avg_pool2d.default", given, theirs.shape, self="x", output_size=list(out_hw))
        close_to_torch(rule, data, theirs, x, y)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    ("shape", "dims"),
    [
        ((2, 3, 5, 4), [2, 3]),
        ((2, 3, 5, 4), [-1, -2]),
        ((2, 3, 5, 4), [2]),
        ((2, 3, 5, 4), [3]),
        ((2, 3, 5, 4), [1]),
        ((2, 3, 5, 4), [0, 1]),
        ((2, 3, 5, 4), [0, 1, 2, 3]),
        ((2, 3, 5, 4), None),
        ((2, 7, 6), [1]),
        ((2, 7, 6), [2]),
        ((2, 7, 6), [1, 2]),
        ((3, 9), [1]),
        ((9,), [0]),
        ((2, 3, 2, 5, 4), [3, 4]),
    ],
)
def test_means_over_neighbouring_dims(shape: tuple[int, ...], dims: list[int] | None, keepdim: bool) -> None:
    data, x, y = random_int8(np.random.default_rng(12), shape), QParams((0.5,), (4,)), QParams((0.3,), (-7,))
    theirs = real(data, x).mean(dims, keepdim)
    given = [Tensor("x", shape, DType.INT8)]
    rule = lowered("mean.dim", given, theirs.shape, self="x", dim=dims, keepdim=keepdim, dtype=None)
    close_to_torch(rule, data, theirs, x, y)


def test_one_dimension_is_a_window_of_height_1() -> None:
    data, x, y = random_int8(np.random.default_rng(13), (2, 3, 10)), QParams((0.5,), (4,)), QParams((0.3,), (-7,))
    given = [Tensor("x", data.shape, DType.INT8)]
    theirs = torch.nn.functional.avg_pool1d(real(data, x), 3, 2, 1, True, False)
    arguments = {"kernel_size": [3], "stride": [2], "padding": [1], "ceil_mode": True, "count_include_pad": False}
    close_to_torch(lowered("avg_pool1d.default", given, theirs.shape, self="x", **arguments), data, theirs, x, y)
    theirs = torch.nn.functional.adaptive_avg_pool1d(real(data, x), 5)
    rule = lowered("adaptive_avg_pool1d.default", given, theirs.shape, self="x", output_size=[5])
    close_to_torch(rule, data, theirs, x, y)


def test_means_of_height_and_width_keep_channels_innermost() -> None:
    given = [Tensor("x", (2, 3, 5, 4), DType.INT8)]
    context, _ = lowered("mean.dim", given, (2, 3), self="x", dim=[3, 2], keepdim=False, dtype=None)
    assert [op.kind for op in context.ops] == ["permute", "avg_pool2d", "permute", "reshape"]
    assert context.ops[0].attrs.permutation == (0, 2, 3, 1)


# --- from float to integers, and errors ------------------------------------------------------------------------------


def test_integer_form_takes_the_clamp() -> None:
    x = Tensor("x", (1, 4, 4, 3), DType.INT8, QParams((0.5,), (3,)))
    graph = integer_graph("avg_pool2d", AvgPool2dAttrs((2, 2), (2, 2)), [x], QParams((0.25,), (-20,)), (0.0, 6.0))
    assert (graph.ops[0].attrs.out_min, graph.ops[0].attrs.out_max) == (-20, 4)


def test_adaptive_windows_of_unequal_size_are_refused_with_their_sizes() -> None:
    given = [Tensor("x", (1, 3, 7, 10), DType.INT8)]
    with pytest.raises(RushlightError, match="from 7x10 to 4x4 has windows of unequal sizes; choose output sizes that"):
        lowered("adaptive_avg_pool2d.default", given, (1, 3, 4, 4), self="x", output_size=[4, 4])


def test_mean_over_dims_apart_is_refused() -> None:
    given = [Tensor("x", (2, 3, 5, 4), DType.INT8)]
    with pytest.raises(RushlightError, match=r"mean over dims \[1, 3\] of \[2, 3, 5, 4\]"):
        lowered("mean.dim", given, (2, 5), self="x", dim=[1, -1], keepdim=False, dtype=None)


def test_mean_of_another_type_is_refused() -> None:
    given = [Tensor("x", (2, 3, 5, 4), DType.INT8)]
    with pytest.raises(RushlightError, match=r"a mean as torch\.float64; leave dtype out"):
        lowered("mean.dim", given, (2, 3), self="x", dim=[2, 3], keepdim=False, dtype=torch.float64)


def test_sums_beyond_32_bits_and_broken_scales_fail_the_check() -> None:
    x = Tensor("x", (1, 3000, 3000, 1), DType.INT8, QParams((1.0,), (0,)))
    graph = single_op("avg_pool2d", AvgPool2dAttrs((3000, 3000), (1, 1)), [x], QParams((1.0,), (0,)))
    with pytest.raises(ValueError, match="a sum can reach 2304000000, beyond 32 bits"):
        operator("avg_pool2d").check(graph.ops[0], graph)
    graph = single_op("avg_pool2d", AvgPool2dAttrs((2, 2), (1, 1)), [x], QParams((1e-9,), (0,)))
    with pytest.raises(ValueError, match="calibration is broken"):
        operator("avg_pool2d").check(graph.ops[0], graph)
