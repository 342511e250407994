"""depthwise_conv2d: every kernel on every tier equals the reference over random geometry, and the reference equals PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs, tap_groups
from tests.kernels.bands import load, run_in_bands
from tests.kernels.building import as_float, dequantized, integer_graph, run, try_integer
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

Case = tuple[Graph, list[Array]]
SYMBOL = "rl_depthwise_conv2d_s8_"


def random_attrs(rng: np.random.Generator, in_hw: tuple[int, int], multiplier: int) -> DepthwiseConv2dAttrs | None:
    """Any kernel, stride, dilation and four unequal paddings, some wider than the kernel; None if the window does not fit."""
    kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    dilation = (1, 1) if rng.random() < 0.6 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    most = 3 if rng.random() < 0.8 else 8
    top, bottom, left, right = (int(v) for v in rng.integers(0, most, 4))
    low, high = -128, 127
    if rng.random() < 0.5:
        low = int(rng.integers(-128, 60))
        high = int(rng.integers(low, 128))
    if in_hw[0] + top + bottom <= dilation[0] * (kernel[0] - 1):
        return None
    if in_hw[1] + left + right <= dilation[1] * (kernel[1] - 1):
        return None
    return DepthwiseConv2dAttrs(kernel, stride, dilation, (top, bottom, left, right), multiplier, low, high)


def tensors(
    rng: np.random.Generator, attrs: DepthwiseConv2dAttrs, shape: tuple[int, ...]
) -> tuple[list[Tensor], QParams]:
    """x, w and b, and the output's quantisation; requantisation scales as in real layers, one in five extreme."""
    channels = shape[3] * attrs.multiplier
    x = Tensor("x", shape, DType.INT8, random_q(rng))
    y = random_q(rng, 1e-2, 10.0)
    low, high = [(1e-4, 3e-2), (1e-9, 1e-4), (1e-2, 100.0)][int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
    ratios = np.exp(rng.uniform(np.log(low), np.log(high), channels))
    data = random_int8(rng, (channels, *attrs.kernel))
    if rng.random() < 0.5:
        data = (data // int(rng.integers(2, 16))).astype(np.int8)
    scales = tuple(float(s) for s in ratios * y.s / x.q.s)
    w = Tensor("w", data.shape, DType.INT8, QParams(scales, (0,) * channels, 0), data)
    b = Tensor("b", (channels,), DType.INT32, None, rng.integers(-5000, 5000, channels).astype(np.int32))
    return [x, w, b], y


def random_case(rng: np.random.Generator, batch: int | None = None, channels: int | None = None) -> Case:
    while True:
        multiplier = 1 if rng.random() < 0.75 else int(rng.integers(2, 4))
        h, w = int(rng.integers(1, 12)), int(rng.integers(1, 12))
        attrs = random_attrs(rng, (h, w), multiplier)
        if attrs is not None:
            break
    shape = (batch or int(rng.integers(1, 4)), h, w, channels or int(rng.integers(1, 34)))
    inputs, y = tensors(rng, attrs, shape)
    graph = single_op("depthwise_conv2d", attrs, inputs, y)
    return graph, random_inputs(rng, graph)


def random_3x3(rng: np.random.Generator, stride: int, channels: int | None = None) -> Case:
    """3 x 3 taps, any padding and vertical stride, mostly without a change of size."""
    pads = (1, 1, 1, 1) if rng.random() < 0.5 else tuple(int(v) for v in rng.integers(0, 4, 4))
    down = stride if rng.random() < 0.8 else int(rng.integers(1, 4))
    low = int(rng.integers(-128, 60)) if rng.random() < 0.3 else -128
    multiplier = 1 if rng.random() < 0.8 else 2
    top, bottom, left, right = pads
    attrs = DepthwiseConv2dAttrs((3, 3), (down, stride), (1, 1), (top, bottom, left, right), multiplier, low)
    shape = (int(rng.integers(1, 3)), *(int(v) for v in rng.integers(3, 15, 2)), channels or int(rng.integers(1, 34)))
    inputs, y = tensors(rng, attrs, shape)
    graph = single_op("depthwise_conv2d", attrs, inputs, y)
    return graph, random_inputs(rng, graph)


# --- kernels ---------------------------------------------------------------------------------------------------------


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(3)
    count = geometries(300)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
    assert checked.by_symbol[f"{SYMBOL}any"] == count
    assert all(checked.by_symbol[SYMBOL + tier] >= 150 for tier in ("mve", "v7m", "v6m")), checked.by_symbol


@pytest.mark.parametrize("stride", [1, 2])
def test_windows_of_3_by_3(stride: int) -> None:
    rng = np.random.default_rng(30 + stride)
    checked = check_kernels(random_3x3(rng, stride) for _ in range(geometries(200)))
    for tier in ("dsp", "v7m", "v6m"):
        assert checked.by_symbol[f"{SYMBOL}{tier}_3x3" + ("_s2" if stride == 2 else "")] >= 150, checked.by_symbol
    assert stride == 2 or checked.in_place >= 10


def nine_taps(rng: np.random.Generator, channels: int) -> Case:
    """Nine taps in any arrangement."""
    kernel = [(3, 3), (3, 3), (1, 9), (9, 1)][int(rng.integers(4))]
    low = int(rng.integers(-128, 60)) if rng.random() < 0.3 else -128
    stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    dilation = (1, 1) if rng.random() < 0.7 else (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    top, bottom, left, right = (int(v) + (9 if max(kernel) == 9 else 2) for v in rng.integers(0, 3, 4))
    attrs = DepthwiseConv2dAttrs(kernel, stride, dilation, (top, bottom, left, right), 1, low)
    inputs, y = tensors(rng, attrs, (int(rng.integers(1, 3)), *(int(v) for v in rng.integers(1, 10, 2)), channels))
    graph = single_op("depthwise_conv2d", attrs, inputs, y)
    return graph, random_inputs(rng, graph)


def test_nine_taps_on_helium() -> None:
    rng = np.random.default_rng(33)
    cases = [nine_taps(rng, channels) for channels in (*range(1, 9), 16, 32, 48, 64) * 20]
    checked = check_kernels(cases, tiers=("mve",))
    assert checked.by_symbol[f"{SYMBOL}mve_9"] >= 40 and checked.by_symbol[f"{SYMBOL}mve_9_few"] >= 80, (
        checked.by_symbol
    )


@pytest.mark.parametrize(("pair", "fits"), [((-128, -127), True), ((127, 127), True), ((-128, -128), False)])
@pytest.mark.parametrize(("channels", "name"), [(16, "mve_9"), (8, "mve_9_few")])
def test_pairs_of_products_reach_the_bound_of_16_bits(
    channels: int, name: str, pair: tuple[int, int], fits: bool, tmp_path: Path
) -> None:
    """-128 · -128 twice is 32768, one too many: that pair takes the general kernel."""
    rng = np.random.default_rng(34)
    attrs = DepthwiseConv2dAttrs((3, 3), padding=(1, 1, 1, 1))
    cases: list[Case] = []
    for value in (-128, 127):
        (x, w, b), _ = tensors(rng, attrs, (1, 4, 4, channels))
        weights = np.resize(np.array(pair, np.int8), (channels, 9)).reshape(w.shape)
        w = Tensor(
            "w", w.shape, DType.INT8, QParams((float(np.float32(1e-3)),) * channels, (0,) * channels, 0), weights
        )
        graph = single_op("depthwise_conv2d", attrs, [x, w, b], QParams((x.q.s * 4,), (3,)))
        cases.append((graph, [np.full(x.shape, value, np.int8)]))
    checked = check_kernels(cases, tiers=("mve",))
    assert (checked.by_symbol[SYMBOL + name] > 0) == fits and checked.by_symbol[f"{SYMBOL}mve"] == 2
    if fits:
        _, symbols = check_on_board(cases, "mve", tmp_path / "cases")
        assert SYMBOL + name in symbols


@pytest.mark.parametrize("width", [70, 130])
def test_images_beyond_one_plane(width: int) -> None:
    """Planes of 4096 bytes at most: the rest follows in bands of rows."""
    rng = np.random.default_rng(width)
    for stride in ((1, 1), (2, 2)):
        attrs = DepthwiseConv2dAttrs((3, 3), stride, padding=(1, 1, 1, 1))
        cases: list[Case] = []
        for kernel in ((3, 3), (5, 2)):
            inputs, y = tensors(rng, replace(attrs, kernel=kernel), (2, 67, width, 3))
            graph = single_op("depthwise_conv2d", replace(attrs, kernel=kernel), inputs, y)
            cases.append((graph, random_inputs(rng, graph)))
            best = operator("depthwise_conv2d").kernels(graph.ops[0], graph, ("v7m", "v6m"))[0]
            assert best.symbol.endswith("any") or best.params["plane_rows"] < graph.outs(graph.ops[0])[0].shape[1]
        check_kernels(cases)


def test_each_count_of_channels() -> None:
    """1..33 channels: the last quad and the last Helium block overlap those before, or the only block is partly there."""
    rng = np.random.default_rng(4)
    checked = check_kernels(random_case(rng, channels=channels) for channels in range(1, 34) for _ in range(2))
    assert checked.by_symbol[f"{SYMBOL}mve"] >= 33


def test_extremes_of_weights_and_inputs() -> None:
    """All ±127/-128: 16-bit sums overflow where a run of taps is one too long."""
    rng = np.random.default_rng(5)
    cases: list[Case] = []
    for value in (-128, 127):
        for weight in (-128, -127, 127, 64, 43, -43, 16):
            attrs = DepthwiseConv2dAttrs((5, 5), padding=(2, 2, 2, 2))
            (x, w, b), _ = tensors(rng, attrs, (1, 6, 6, 17))
            assert w.data is not None
            w.data[:] = weight
            scales = QParams((float(np.float32(1e-3)),) * 17, (0,) * 17, 0)
            w = Tensor("w", w.shape, DType.INT8, scales, w.data)
            graph = single_op("depthwise_conv2d", attrs, [x, w, b], QParams((x.q.s * 4,), (3,)))
            cases.append((graph, [np.full(x.shape, value, np.int8)]))
    assert check_kernels(cases).by_symbol[f"{SYMBOL}mve"] == 14


def test_runs_of_taps_fit_16_bits_and_could_not_be_longer() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        rows = (random_int8(rng, (20, 25)) // int(rng.integers(1, 20))).astype(np.int64)
        for block, plan in enumerate(tap_groups(rows.astype(np.int8))):
            weights = rows[[0, 4][block] :][:16]
            high, low = np.maximum(weights * 127, weights * -128), np.minimum(weights * 127, weights * -128)
            lengths = [int(n) for n in plan if n]
            assert sum(lengths) == 25 and plan[-1] == 0
            at = 0
            for length in lengths:
                fits = [
                    high[:, at : at + n].sum(1).max() <= 32767 and low[:, at : at + n].sum(1).min() >= -32768
                    for n in (length, length + 1)
                ]
                assert fits[0] and (not fits[1] or at + length == 25)
                at += length


def test_bands_of_rows_in_rolling_buffers() -> None:
    rng = np.random.default_rng(7)
    cases = [random_case(rng, batch=1) for _ in range(60)]
    cases += [case for case in (nine_taps(rng, 8 << i % 2) for i in range(60)) if case[1][0].shape[0] == 1]
    cases += [case for case in (random_3x3(rng, 1 + i % 2) for i in range(60)) if case[1][0].shape[0] == 1]
    kernels = [operator("depthwise_conv2d").kernels(g.ops[0], g, TIERS) for g, _ in cases]
    library = load([k for candidates in kernels for k in candidates])
    bands = 0
    for (graph, (x,)), candidates in zip(cases, kernels, strict=True):
        expected = run(graph, x)
        for kernel in candidates:
            for band in {1, 2, 3, expected.shape[1]}:
                got = run_in_bands(library, kernel, graph, x, band, int(rng.integers(0, 6)))
                np.testing.assert_array_equal(got, expected, f"{kernel.symbol} {graph.ops[0].attrs} band {band}")
                bands += -(-expected.shape[1] // band)
    assert bands > 1000


@pytest.mark.parametrize("tier", CORES)
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_sample_in_the_emulator(tier: str, toolchain: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    cases = [random_case(rng) for _ in range(emulated(20))]
    cases += [random_3x3(rng, 1 + i % 2) for i in range(emulated(40))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
    if tier == "mve":
        cases += [nine_taps(rng, channels) for channels in (*range(1, 9), 16, 32) * 4]
        _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
        assert {f"{SYMBOL}{name}" for name in ("mve", "mve_9", "mve_9_few", "any")} <= symbols
        return
    own = {"dsp": {"dsp_3x3", "dsp_3x3_s2", "v7m"}}.get(tier, {f"{tier}_3x3", f"{tier}_3x3_s2", tier})
    assert {SYMBOL + name for name in own | {"any"}} <= symbols


def notes_on(tiers: Sequence[str], kernel: int, channels: int, multiplier: int, scale: float) -> tuple[str, str]:
    """The best kernel for a core and its note; a square window of ones."""
    attrs, out = DepthwiseConv2dAttrs((kernel, kernel), multiplier=multiplier), channels * multiplier
    x = Tensor("x", (1, 6, 6, channels), DType.INT8, QParams((1.0,), (0,)))
    weight = np.ones((out, kernel, kernel), np.int8)
    w = Tensor("w", weight.shape, DType.INT8, QParams((scale,) * out, (0,) * out, 0), weight)
    b = Tensor("b", (out,), DType.INT32, None, np.zeros(out, np.int32))
    graph = single_op("depthwise_conv2d", attrs, [x, w, b], QParams((1.0,), (0,)))
    best = operator("depthwise_conv2d").kernels(graph.ops[0], graph, tiers)[0]
    return best.symbol.removeprefix(SYMBOL), best.note


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("wanted", TIERS)
def test_report_says_why_the_tier_of_the_core_is_not_used(wanted: str, kernel: int) -> None:
    tiers = TIERS[TIERS.index(wanted) :]
    coarse = f"a requantisation scale of 1/4 or more has no {wanted} kernel"
    assert notes_on(tiers, kernel, 8, 1, 0.3) == ("any", coarse)
    note = notes_on(tiers, kernel, 8, 2, 0.1)[1]
    assert note == ("channel multiplier 2 has no mve kernel" if wanted == "mve" else "")


@pytest.mark.parametrize("channels", [8, 12, 16])
def test_a_layer_that_its_tier_computes_has_nothing_to_say(channels: int) -> None:
    for kernel in (3, 5):
        symbol, note = notes_on(TIERS, kernel, channels, 1, 0.1)
        assert symbol.startswith("mve") and note == ""


# --- against PyTorch -------------------------------------------------------------------------------------------------


def torch_depthwise(graph: Graph, x: Array) -> Array:
    """PyTorch's float convolution of the dequantised input, weights and bias, in steps of the output, not clamped. NHWC."""
    op = graph.ops[0]
    tx, tw, tb = graph.ins(op)
    a: DepthwiseConv2dAttrs = op.attrs
    assert tw.data is not None and tb.data is not None
    scales = np.array(tw.q.scale)
    weight = torch.from_numpy(tw.data.astype(np.float64) * scales[:, None, None])[:, None]
    top, bottom, left, right = a.padding
    image = torch.from_numpy(dequantized(x, tx.q)).permute(0, 3, 1, 2)
    padded = torch.nn.functional.pad(image, (left, right, top, bottom))
    bias = torch.from_numpy(tb.data * (scales * tx.q.s))
    y = torch.nn.functional.conv2d(padded, weight, bias, stride=a.stride, dilation=a.dilation, groups=tx.shape[3])
    steps: Array = y.permute(0, 2, 3, 1).numpy() / graph.outs(op)[0].q.s + graph.outs(op)[0].q.z
    return steps


def test_reference_is_within_half_a_step_of_torch() -> None:
    rng = np.random.default_rng(9)
    for _ in range(200):
        graph, (x,) = random_case(rng)
        attrs = graph.ops[0].attrs
        steps = np.clip(torch_depthwise(graph, x), attrs.out_min, attrs.out_max)
        assert np.abs(run(graph, x) - steps).max() <= 0.51


# --- from float to integers, and errors ------------------------------------------------------------------------------


def test_integer_form_takes_the_bias_and_the_clamp() -> None:
    rng = np.random.default_rng(10)
    attrs = DepthwiseConv2dAttrs((3, 3), padding=(1, 1, 1, 1))
    (x, w, _), _ = tensors(rng, attrs, (1, 6, 6, 5))
    w = Tensor("w", w.shape, DType.INT8, QParams((0.01,) * 5, (0,) * 5, 0), w.data)
    bias = Tensor("b", (5,), DType.FLOAT32, None, rng.standard_normal(5).astype(np.float32))
    y = QParams((4 * x.q.s,), (-100,))
    graph = integer_graph("depthwise_conv2d", attrs, [x, w, bias], y, (0.0, 6.0))
    attrs = graph.ops[0].attrs
    assert (attrs.out_min, attrs.out_max) == (-100, min(127, round(6 / y.s) - 100))
    data = random_int8(rng, x.shape)
    steps = np.clip(torch_depthwise(graph, data), attrs.out_min, attrs.out_max)
    assert np.abs(run(graph, data) - steps).max() <= 0.51


def test_float_weight_has_no_integer_form() -> None:
    rng = np.random.default_rng(11)
    attrs = DepthwiseConv2dAttrs((3, 3))
    (x, w, _), y = tensors(rng, attrs, (1, 6, 6, 5))
    _, why = try_integer("depthwise_conv2d", attrs, [x, as_float(w)], y)
    assert why is not None and "not a constant quantised to int8" in why


@pytest.mark.parametrize(
    ("shape", "weight", "reason"),
    [
        ((1, 4, 4, 3), (4, 3, 3), r"weight \[4, 3, 3\] is not \[3, 3, 3\]"),
        ((1, 2, 4, 3), (3, 3, 3), "window of 3 does not fit into 2"),
        ((4, 4, 3), (3, 3, 3), "not .N, H, W, C."),
    ],
)
def test_shapes_that_do_not_fit(shape: tuple[int, ...], weight: tuple[int, ...], reason: str) -> None:
    inputs = [Tensor("x", shape, DType.FLOAT32), Tensor("w", weight, DType.FLOAT32)]
    with pytest.raises(ValueError, match=reason):
        operator("depthwise_conv2d").infer(DepthwiseConv2dAttrs((3, 3)), inputs)


def test_sums_beyond_32_bits_and_long_dimensions_fail_the_check() -> None:
    rng = np.random.default_rng(12)
    attrs = DepthwiseConv2dAttrs((1, 1))
    (x, w, _), y = tensors(rng, attrs, (1, 1, 1, 3))
    huge = Tensor("b", (3,), DType.INT32, None, np.full(3, 2**31 - 1, np.int32))
    graph = single_op("depthwise_conv2d", attrs, [x, w, huge], y)
    with pytest.raises(ValueError, match=r"output channel 0: a sum can reach .* beyond 32 bits"):
        operator("depthwise_conv2d").check(graph.ops[0], graph)
    (x, w, b), y = tensors(rng, attrs, (1, 1, 40000, 3))
    graph = single_op("depthwise_conv2d", attrs, [x, w, b], y)
    with pytest.raises(ValueError, match="in_w = 40000 is beyond 32767"):
        operator("depthwise_conv2d").check(graph.ops[0], graph)
