"""conv2d: every kernel on every tier equals the reference over random geometry, and the reference equals PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.conv2d import Conv2dAttrs
from tests.kernels.bands import load, run_in_bands
from tests.kernels.building import as_float, dequantized, integer_graph, lowered, run, try_integer
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


def random_attrs(rng: np.random.Generator, in_hw: tuple[int, int], groups: int) -> Conv2dAttrs | None:
    """Any kernel, stride, dilation and four unequal paddings, some wider than the kernel; None if the window does not fit."""
    kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    if rng.random() < 0.3:
        kernel = (1, 1)
    stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
    dilation = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    top, bottom, left, right = (int(p) for p in rng.integers(0, 7, 4) * (rng.random(4) < 0.5))
    if in_hw[0] + top + bottom <= dilation[0] * (kernel[0] - 1):
        return None
    if in_hw[1] + left + right <= dilation[1] * (kernel[1] - 1):
        return None
    low = int(rng.integers(-128, 100))
    high = int(rng.integers(low, 128))
    if rng.random() < 0.5:
        low, high = -128, 127
    return Conv2dAttrs(kernel, stride, dilation, (top, bottom, left, right), groups, low, high)


def tensors(rng: np.random.Generator, attrs: Conv2dAttrs, in_shape: tuple[int, ...], channels: int) -> list[Tensor]:
    """x, w and b: channel scales up to 10 apart."""
    x = Tensor("x", in_shape, DType.INT8, random_q(rng))
    scales = tuple(float(s) for s in np.exp(rng.uniform(np.log(1e-2), np.log(1e-1), channels)))
    weights = random_int8(rng, (channels, *attrs.kernel, in_shape[3] // attrs.groups))
    w = Tensor("w", weights.shape, DType.INT8, QParams(scales, (0,) * channels, 0, -127, 127), weights)
    b = Tensor("b", (channels,), DType.INT32, None, rng.integers(-5000, 5000, channels).astype(np.int32))
    return [x, w, b]


def output_q(rng: np.random.Generator, x: Tensor, w: Tensor, low: float, high: float) -> QParams:
    """An output scale that is ``low``..``high`` steps of the largest channel's sum."""
    step = x.q.s * max(w.q.scale) * float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return QParams((float(np.float32(step)),), (int(rng.integers(-128, 128)),))


def random_geometry(rng: np.random.Generator, batch: int | None = None) -> tuple[Conv2dAttrs, tuple[int, ...], int]:
    """Attributes, input shape and output channels."""
    while True:
        groups = int(rng.choice([1, 1, 1, 2, 3, 4]))
        group_in, group_out = int(rng.integers(1, 34)), int(rng.integers(1, 34))
        if groups > 1:
            group_in, group_out = int(rng.integers(1, 10)), int(rng.integers(1, 10))
        n = int(rng.integers(1, 4)) if batch is None else batch
        in_shape = (n, int(rng.integers(1, 9)), int(rng.integers(1, 9)), group_in * groups)
        attrs = random_attrs(rng, (in_shape[1], in_shape[2]), groups)
        if attrs is not None:
            return attrs, in_shape, group_out * groups


def random_case(rng: np.random.Generator, steps: tuple[float, float] = (4.1, 2000.0), batch: int | None = None) -> Case:
    attrs, in_shape, channels = random_geometry(rng, batch)
    x, w, b = tensors(rng, attrs, in_shape, channels)
    graph = single_op("conv2d", attrs, [x, w, b], output_q(rng, x, w, *steps))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(2)
    count = geometries(220)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert {checked.by_symbol[f"rl_conv2d_s8_{tier}"] for tier in TIERS} == {count}
    assert checked.by_symbol["rl_conv2d_s8_mve_columns"] > 5


def overlapping_case(rng: np.random.Generator) -> Case:
    """Windows that overlap enough for Helium to copy the columns under them once."""
    kernel = (int(rng.integers(1, 4)), int(rng.integers(3, 6)))
    dilation, stride = (int(rng.integers(1, 3)), 1), (int(rng.integers(1, 4)), int(rng.integers(1, 3)))
    top, bottom, left, right = (int(p) for p in rng.integers(0, 4, 4))
    attrs = Conv2dAttrs(kernel, stride, dilation, (top, bottom, left, right))
    shape = (int(rng.integers(1, 3)), int(rng.integers(5, 9)), int(rng.integers(6, 20)), int(rng.integers(6, 40)))
    x, w, b = tensors(rng, attrs, shape, int(rng.integers(1, 20)))
    graph = single_op("conv2d", attrs, [x, w, b], output_q(rng, x, w, 4.1, 2000.0))
    return graph, random_inputs(rng, graph)


def test_windows_over_columns_that_were_copied_once() -> None:
    rng = np.random.default_rng(21)
    checked = check_kernels((overlapping_case(rng) for _ in range(160)), tiers=("mve",))
    assert checked.by_symbol["rl_conv2d_s8_mve_columns"] > 50


def test_coarse_outputs_take_the_scalar_kernel_and_say_why() -> None:
    rng = np.random.default_rng(3)
    cases = [random_case(rng, (0.05, 3.9)) for _ in range(40)]
    checked = check_kernels(cases)
    assert checked.by_symbol["rl_conv2d_s8_v7m"] == checked.by_symbol["rl_conv2d_s8_v6m"] == 40
    graph = cases[0][0]
    best = operator("conv2d").kernels(graph.ops[0], graph, TIERS)[0]
    assert best.tier == "v7m"
    assert "no mve kernel" in best.note and "1/4" in best.note


@pytest.mark.parametrize("depth", [1024, 2051, 4096])
def test_thousands_of_taps_all_extreme(depth: int) -> None:
    rng = np.random.default_rng(depth)
    cases: list[Case] = []
    for value, weight in ((-128, -127), (127, -127), (-128, 127), (-128, -128)):
        attrs = Conv2dAttrs((1, 1))
        x, w, b = tensors(rng, attrs, (1, 1, 3, depth), 5)
        assert w.data is not None
        w.data[:] = weight
        graph = single_op("conv2d", attrs, [x, w, b], output_q(rng, x, w, 1e5, 1e6))
        cases.append((graph, [np.full((1, 1, 3, depth), value, np.int8)]))
    checked = check_kernels(cases)
    assert {checked.by_symbol[f"rl_conv2d_s8_{tier}"] for tier in TIERS} == {4}


def test_each_tail_of_depth_and_channels() -> None:
    """Depths 1..33 with channels 1..9: the ends of every tile."""
    rng = np.random.default_rng(4)
    cases: list[Case] = []
    for depth in range(1, 34):
        attrs = Conv2dAttrs((1, 1))
        x, w, b = tensors(rng, attrs, (1, 1, 1 + depth % 4, depth), 1 + depth % 9)
        graph = single_op("conv2d", attrs, [x, w, b], output_q(rng, x, w, 4.1, 1000.0))
        cases.append((graph, random_inputs(rng, graph)))
    assert check_kernels(cases).by_symbol["rl_conv2d_s8_mve"] == 33


def test_extremes_of_scales() -> None:
    """Requantisation scales from 2^-30 up to just below 1/4 in one layer."""
    rng = np.random.default_rng(5)
    cases: list[Case] = []
    for _ in range(10):
        attrs = Conv2dAttrs((3, 3), padding=(1, 1, 1, 1))
        x, w, b = tensors(rng, attrs, (1, 4, 4, 3), 12)
        scales = tuple(float(s) for s in np.exp2(rng.uniform(-29.9, -2.01, 12)) / x.q.s)
        w = Tensor("w", w.shape, w.dtype, QParams(scales, (0,) * 12, 0, -127, 127), w.data)
        graph = single_op("conv2d", attrs, [x, w, b], QParams((1.0,), (0,)))
        cases.append((graph, random_inputs(rng, graph)))
    assert check_kernels(cases).by_symbol["rl_conv2d_s8_dsp"] == 10


def test_bands_of_rows_in_rolling_buffers() -> None:
    rng = np.random.default_rng(6)
    cases = [random_case(rng, batch=1) for _ in range(60)]
    kernels = [operator("conv2d").kernels(g.ops[0], g, TIERS) for g, _ in cases]
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
@pytest.mark.parametrize(("toolchain", "opt"), [("gcc", "-O2"), ("gcc", "-Os"), ("gcc", "-O0"), ("clang", "-O2")])
def test_sample_in_the_emulator(tier: str, toolchain: str, opt: str, tmp_path: Path) -> None:
    """Without optimisation, and at -Os on Armv6-M, the inner loops are the plain-C ones."""
    rng = np.random.default_rng(7)
    cases = [random_case(rng) for _ in range(emulated(30))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain, opt)
    assert {symbol.partition("_pair")[0].removesuffix("_columns") for symbol in symbols} == {f"rl_conv2d_s8_{tier}"}


@pytest.mark.parametrize(("toolchain", "opt"), [("gcc", "-O3"), ("clang", "-O3"), ("clang", "-Os")])
def test_each_number_of_steps_on_helium(toolchain: str, opt: str, tmp_path: Path) -> None:
    """Rows of 1 to 9 steps of 16 taps, whole or not, with 1 to 9 channels: every way into the loops of assembly."""
    rng = np.random.default_rng(22)
    cases: list[Case] = []
    for steps in range(1, 10):
        for channels in range(1, 10):
            attrs, depth = Conv2dAttrs((1, 1)), 16 * steps - int(rng.integers(0, 16) * (channels % 2))
            x, w, b = tensors(rng, attrs, (1, 1, 1 + channels % 3, depth), channels)
            graph = single_op("conv2d", attrs, [x, w, b], output_q(rng, x, w, 4.1, 1000.0))
            cases.append((graph, random_inputs(rng, graph)))
    cases += [overlapping_case(rng) for _ in range(20)]
    _, symbols = check_on_board(cases, "mve", tmp_path / "cases", toolchain, opt)
    assert symbols == {"rl_conv2d_s8_mve", "rl_conv2d_s8_mve_columns"}


# --- against PyTorch -------------------------------------------------------------------------------------------------


def torch_conv2d(graph: Graph, x: Array) -> Array:
    """PyTorch's float convolution of the dequantised input, weights and bias, in steps of the output, not clamped. NHWC."""
    op = graph.ops[0]
    tx, tw, tb = graph.ins(op)
    a: Conv2dAttrs = op.attrs
    assert tw.data is not None and tb.data is not None
    scales = np.array(tw.q.scale)
    real_w = tw.data.astype(np.float64) * scales[:, None, None, None]
    real_b = tb.data * (scales * tx.q.s)
    top, bottom, left, right = a.padding
    padded = torch.nn.functional.pad(
        torch.from_numpy(dequantized(x, tx.q)).permute(0, 3, 1, 2), (left, right, top, bottom)
    )
    weight = torch.from_numpy(real_w).permute(0, 3, 1, 2)
    y = torch.nn.functional.conv2d(
        padded, weight, torch.from_numpy(real_b), stride=a.stride, dilation=a.dilation, groups=a.groups
    )
    steps: Array = y.permute(0, 2, 3, 1).numpy() / graph.outs(op)[0].q.s + graph.outs(op)[0].q.z
    return steps


def test_reference_is_within_half_a_step_of_torch() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        graph, (x,) = random_case(rng)
        attrs = graph.ops[0].attrs
        steps = np.clip(torch_conv2d(graph, x), attrs.out_min, attrs.out_max)
        # Rounding once is half a step; the multiplier's 15 bits move an output within the range by 0.008.
        assert np.abs(run(graph, x) - steps).max() <= 0.51


def weight_and_bias(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    w = Tensor("w", shape, DType.FLOAT32, None, rng.standard_normal(shape).astype(np.float32))
    b = Tensor("b", shape[:1], DType.FLOAT32, None, rng.standard_normal(shape[0]).astype(np.float32))
    return w, b


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("kernel", [(1, 1), (2, 3), (4, 4), (5, 2)])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_same_padding_is_placed_as_in_torch(kernel: tuple[int, int], dilation: int) -> None:
    rng = np.random.default_rng(9)
    weight, bias = weight_and_bias(rng, (3, 2, *kernel))
    x = Tensor("x", (1, 2, 7, 8), DType.FLOAT32)
    context, name = lowered(
        "conv2d.padding",
        [x, weight, bias],
        (1, 3, 7, 8),
        input="x",
        weight="w",
        bias="b",
        stride=[1, 1],
        padding="same",
        dilation=[dilation, dilation],
        groups=1,
    )
    (conv,) = [op for op in context.ops if op.kind == "conv2d"]
    assert context.tensors[name].shape == (1, 3, 7, 8)
    image = torch.from_numpy(rng.standard_normal((1, 2, 7, 8)))
    assert weight.data is not None
    w = torch.from_numpy(weight.data).double()
    top, bottom, left, right = conv.attrs.padding
    by_hand = torch.nn.functional.conv2d(
        torch.nn.functional.pad(image, (left, right, top, bottom)), w, dilation=dilation
    )
    theirs = torch.nn.functional.conv2d(image, w, padding="same", dilation=dilation)
    torch.testing.assert_close(by_hand, theirs)


def lower_conv(x: Tensor, weight: Tensor, out: tuple[int, ...], **changed: object) -> tuple[list[str], Tensor]:
    """Kinds that the rule emits, and the tensor it returns."""
    arguments = {"stride": [1], "padding": [0], "dilation": [1], "groups": 1} | changed
    context, name = lowered(
        "conv2d.default", [x, weight], out, input=x.name, weight=weight.name, bias=None, **arguments
    )
    return [op.kind for op in context.ops], context.tensors[name]


def test_unbatched_input_and_arguments_of_one_number() -> None:
    weight, _ = weight_and_bias(np.random.default_rng(0), (6, 4, 3, 3))
    kinds, y = lower_conv(Tensor("x", (4, 9, 9), DType.FLOAT32), weight, (6, 5, 5), stride=[2], padding=[1])
    assert kinds == ["reshape", "permute", "permute", "conv2d", "permute", "reshape"]
    assert y.shape == (6, 5, 5)


def test_groups_of_one_channel_become_depthwise_with_any_multiplier() -> None:
    x = Tensor("x", (2, 4, 9, 9), DType.FLOAT32)
    for channels in (4, 12):
        weight, _ = weight_and_bias(np.random.default_rng(0), (channels, 1, 3, 3))
        kinds, y = lower_conv(x, weight, (2, channels, 7, 7), groups=4)
        assert kinds == ["permute", "reshape", "depthwise_conv2d", "permute"]
        assert y.shape == (2, channels, 7, 7)
    one, _ = weight_and_bias(np.random.default_rng(0), (3, 1, 3, 3))
    kinds, _ = lower_conv(Tensor("x", (1, 1, 9, 9), DType.FLOAT32), one, (1, 3, 7, 7))
    assert "conv2d" in kinds


def test_window_larger_than_the_padded_input_is_refused() -> None:
    weight, _ = weight_and_bias(np.random.default_rng(0), (3, 1, 5, 5))
    with pytest.raises(ValueError, match="window of 5 does not fit into 4"):
        lower_conv(Tensor("x", (1, 1, 2, 9), DType.FLOAT32), weight, (1, 3, 1, 1), padding=[1])


def test_five_dimensions_are_refused_in_one_line() -> None:
    weight, _ = weight_and_bias(np.random.default_rng(0), (3, 1, 5, 5))
    with pytest.raises(RushlightError, match=r"its input has shape \[1, 1, 1, 2, 9\]"):
        lower_conv(Tensor("x", (1, 1, 1, 2, 9), DType.FLOAT32), weight, (1, 3, 1, 1))


# --- from float to integers ------------------------------------------------------------------------------------------


def test_integer_form_takes_the_bias_at_the_scale_of_the_products_and_the_clamp() -> None:
    rng = np.random.default_rng(10)
    attrs = Conv2dAttrs((3, 3), padding=(1, 1, 1, 1))
    x, w, _ = tensors(rng, attrs, (1, 6, 6, 4), 5)
    bias = Tensor("b", (5,), DType.FLOAT32, None, rng.standard_normal(5).astype(np.float32))
    y = QParams((20 * x.q.s,), (-100,))
    graph = integer_graph("conv2d", attrs, [x, w, bias], y, (0.0, 6.0))
    op = graph.ops[0]
    integer_bias = graph.ins(op)[2]
    assert integer_bias.data is not None and bias.data is not None
    np.testing.assert_array_equal(integer_bias.data, np.rint(bias.data / (np.array(w.q.scale) * x.q.s)))
    data = random_int8(rng, x.shape)
    steps = np.clip(torch_conv2d(graph, data), -100, min(127, round(6 / y.s) - 100))
    assert np.abs(run(graph, data) - steps).max() <= 0.51
    without = integer_graph("conv2d", attrs, [x, w], y)
    zero = without.ins(without.ops[0])[2].data
    assert zero is not None and not zero.any()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"zero_point": (1, 0, 0, 0, 0)}, "zero point other than 0"),
        ({"axis": 1}, "scales along axis 1"),
    ],
)
def test_weights_quantised_otherwise_have_no_integer_form(change: dict[str, object], reason: str) -> None:
    rng = np.random.default_rng(11)
    attrs = Conv2dAttrs((1, 1))
    x, w, _ = tensors(rng, attrs, (1, 2, 2, 5), 5)
    fields = {"scale": w.q.scale, "zero_point": w.q.zero_point, "axis": 0} | change
    odd = Tensor("w", w.shape, w.dtype, QParams(**fields), w.data)  # type: ignore[arg-type]
    _, why = try_integer("conv2d", attrs, [x, odd], QParams((1.0,), (0,)))
    assert why is not None and reason in why


def test_float_weight_has_no_integer_form() -> None:
    rng = np.random.default_rng(11)
    x, w, _ = tensors(rng, Conv2dAttrs((1, 1)), (1, 2, 2, 5), 5)
    _, why = try_integer("conv2d", Conv2dAttrs((1, 1)), [x, as_float(w)], QParams((1.0,), (0,)))
    assert why is not None and "not a constant quantised to int8" in why


def test_sums_beyond_32_bits_and_broken_scales_fail_the_check() -> None:
    rng = np.random.default_rng(12)
    attrs = Conv2dAttrs((1, 1))
    x, w, _ = tensors(rng, attrs, (1, 1, 1, 8), 3)
    huge = Tensor("b", (3,), DType.INT32, None, np.full(3, 2**31 - 1, np.int32))
    graph = single_op("conv2d", attrs, [x, w, huge], output_q(rng, x, w, 10, 20))
    with pytest.raises(ValueError, match=r"output channel 0: a sum can reach .* beyond 32 bits"):
        operator("conv2d").check(graph.ops[0], graph)
    graph = single_op("conv2d", attrs, [x, w, huge], QParams((1e-9,), (0,)))
    with pytest.raises(ValueError, match="calibration is broken"):
        operator("conv2d").check(graph.ops[0], graph)
