"""max_pool2d: every kernel on every tier equals the reference over random geometry, and the rule gives PyTorch's values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.max_pool2d import MaxPool2dAttrs
from tests.kernels.bands import load, run_in_bands
from tests.kernels.building import lowered, run, try_integer
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
SYMBOL = "rl_max_pool2d_s8_"
#: What each tier's cores get for four channels and more.
KERNEL = {"mve": "mve", "dsp": "dsp", "v7m": "v7m", "v6m": "v6m"}


def random_case(rng: np.random.Generator, batch: int | None = None, channels: int | None = None) -> Case:
    """Any kernel, stride, dilation and four unequal paddings for which no window is padding alone."""
    q = random_q(rng)
    while True:
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        dilation = (1, 1) if rng.random() < 0.6 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        top, bottom, left, right = (int(v) for v in rng.integers(0, 4, 4) * (rng.random(4) < 0.6))
        attrs = MaxPool2dAttrs(kernel, stride, dilation, (top, bottom, left, right))
        shape = (batch or int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(1, 12)))
        x = Tensor("x", (*shape, channels or int(rng.integers(1, 34))), DType.INT8, q)
        try:
            graph = single_op("max_pool2d", attrs, [x], q)
        except ValueError:
            continue
        return graph, random_inputs(rng, graph)


# --- kernels ---------------------------------------------------------------------------------------------------------


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(4)
    count = geometries(300)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
    assert all(checked.by_symbol[SYMBOL + name] >= 200 for name in KERNEL.values()), checked.by_symbol


def test_each_count_of_channels() -> None:
    rng = np.random.default_rng(5)
    checked = check_kernels(random_case(rng, channels=channels) for channels in range(1, 34) for _ in range(3))
    assert checked.by_symbol[f"{SYMBOL}mve"] == 99


@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_blocks_of_many_channels(toolchain: str, tmp_path: Path) -> None:
    """Helium takes 64 channels at once, then 16, then what is left."""
    rng = np.random.default_rng(8)
    cases = [random_case(rng, channels=channels) for channels in (63, 64, 65, 80, 97, 127, 128, 145) for _ in range(3)]
    assert check_kernels(cases).by_symbol[f"{SYMBOL}mve"] == len(cases)
    _, symbols = check_on_board(cases, "mve", tmp_path / "cases", toolchain)
    assert symbols == {f"{SYMBOL}mve"}


def test_the_greatest_is_found_at_each_place_of_the_window() -> None:
    q = QParams((1.0,), (0,))
    cases: list[Case] = []
    for place in range(9):
        x = np.full((1, 3, 3, 21), -128, np.int8)
        x.reshape(9, 21)[place] = np.arange(21) - 127
        graph = single_op("max_pool2d", MaxPool2dAttrs((3, 3), (1, 1)), [Tensor("x", x.shape, DType.INT8, q)], q)
        np.testing.assert_array_equal(run(graph, x)[0, 0, 0], np.arange(21) - 127)
        cases.append((graph, [x]))
    assert check_kernels(cases).by_symbol[f"{SYMBOL}dsp"] == 9


def test_bands_of_rows_in_rolling_buffers() -> None:
    rng = np.random.default_rng(6)
    cases = [random_case(rng, batch=1) for _ in range(60)]
    kernels = [operator("max_pool2d").kernels(g.ops[0], g, TIERS) for g, _ in cases]
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
    rng = np.random.default_rng(7)
    cases = [random_case(rng, channels=int(rng.integers(4, 34))) for _ in range(emulated(30))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
    assert symbols == {SYMBOL + KERNEL[tier]}


# --- against PyTorch -------------------------------------------------------------------------------------------------


def test_sizes_and_values_are_torchs_with_ceil_mode_padding_and_dilation() -> None:
    rng = np.random.default_rng(8)
    compared = hung_over = 0
    while compared < 300:
        kernel, stride = rng.integers(1, 5, 2).tolist(), rng.integers(1, 5, 2).tolist()
        dilation = rng.integers(1, 3, 2).tolist()
        padding = [int(rng.integers(0, k // 2 + 1)) for k in kernel]
        ceil_mode = bool(rng.random() < 0.6)
        shape = (*rng.integers(1, 4, 2).tolist(), *rng.integers(1, 14, 2).tolist())
        if rng.random() < 0.2:
            shape = shape[1:]
        data = random_int8(rng, shape)
        try:
            theirs = torch.nn.functional.max_pool2d(
                torch.from_numpy(data).float(), kernel, stride, padding, dilation, ceil_mode
            )
        except RuntimeError:  # the window does not fit
            continue
        if torch.isinf(theirs).any():
            continue
        context, name = lowered(
            "max_pool2d.default",
            [Tensor("x", shape, DType.INT8)],
            theirs.shape,
            self="x",
            kernel_size=kernel,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
        )
        q = QParams((0.5,), (3,))
        got = run_lowered(context, name, data, q, q)
        np.testing.assert_array_equal(got, theirs.numpy().astype(np.int8))
        compared += 1
        (op,) = [op for op in context.ops if op.kind == "max_pool2d"]
        hung_over += op.attrs.padding[1] > op.attrs.padding[0] or op.attrs.padding[3] > op.attrs.padding[2]
    assert hung_over > 30


def lower(target: str, shape: tuple[int, ...], out: tuple[int, ...], **changed: object) -> MaxPool2dAttrs:
    arguments = {"kernel_size": [2], "stride": [], "padding": [0], "dilation": [1], "ceil_mode": False} | changed
    context, name = lowered(target, [Tensor("x", shape, DType.INT8)], out, self="x", **arguments)
    assert context.tensors[name].shape == out
    (op,) = [op for op in context.ops if op.kind == "max_pool2d"]
    attrs: MaxPool2dAttrs = op.attrs
    return attrs


def test_stride_left_out_is_the_kernel_and_one_number_stands_for_two() -> None:
    attrs = lower("max_pool2d.default", (1, 3, 8, 8), (1, 3, 4, 4))
    assert attrs.kernel == attrs.stride == (2, 2)


def test_one_dimension_is_a_window_of_height_1() -> None:
    attrs = lower("max_pool1d.default", (2, 3, 9), (2, 3, 5), padding=[1])
    assert attrs == MaxPool2dAttrs((1, 2), (1, 2), (1, 1), (0, 0, 1, 1))
    data = random_int8(np.random.default_rng(0), (3, 9))
    context, name = lowered(
        "max_pool1d.default",
        [Tensor("x", (3, 9), DType.INT8)],
        (3, 3),
        self="x",
        kernel_size=[3],
        stride=[3],
        padding=[0],
        dilation=[1],
        ceil_mode=False,
    )
    q = QParams((0.5,), (3,))
    np.testing.assert_array_equal(run_lowered(context, name, data, q, q), data.reshape(3, 3, 3).max(axis=2))


# --- errors ----------------------------------------------------------------------------------------------------------


def test_window_of_padding_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="window 0 along the height is padding only"):
        lower("max_pool2d.default", (1, 3, 1, 8), (1, 3, 1, 4), padding=[2], dilation=[4])


def test_other_output_quantisation_has_no_integer_form() -> None:
    x = Tensor("x", (1, 4, 4, 3), DType.INT8, QParams((0.5,), (3,)))
    _, why = try_integer("max_pool2d", MaxPool2dAttrs((2, 2), (2, 2)), [x], QParams((0.25,), (3,)))
    assert why is not None and "another quantisation (0.25, 3) than its input (0.5, 3)" in why
    graph = single_op("max_pool2d", MaxPool2dAttrs((2, 2), (2, 2)), [x], QParams((0.25,), (3,)))
    with pytest.raises(ValueError, match="different quantisation"):
        operator("max_pool2d").check(graph.ops[0], graph)
