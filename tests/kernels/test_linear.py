"""linear: every kernel on every tier equals the reference over random geometry, and the reference equals PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.linear import LinearAttrs
from tests.kernels.building import dequantized, integer_graph, lowered, run, try_integer
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


def tensors(rng: np.random.Generator, shape: tuple[int, ...], features: int, per_tensor: bool = False) -> list[Tensor]:
    """x, w and b: channel scales up to 10 apart, or one for all."""
    x = Tensor("x", shape, DType.INT8, random_q(rng))
    scales = tuple(float(s) for s in np.exp(rng.uniform(np.log(1e-2), np.log(1e-1), features)))
    q = QParams(scales[:1], (0,), None, -127, 127) if per_tensor else QParams(scales, (0,) * features, 0, -127, 127)
    w = Tensor("w", (features, shape[-1]), DType.INT8, q, random_int8(rng, (features, shape[-1])))
    b = Tensor("b", (features,), DType.INT32, None, rng.integers(-5000, 5000, features).astype(np.int32))
    return [x, w, b]


def output_q(rng: np.random.Generator, x: Tensor, w: Tensor, low: float, high: float) -> QParams:
    """An output scale that is ``low``..``high`` steps of the largest channel's sum."""
    step = x.q.s * max(w.q.scale) * float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return QParams((float(np.float32(step)),), (int(rng.integers(-128, 128)),))


def random_case(rng: np.random.Generator, low: float = 4.1, high: float = 2000.0) -> Case:
    """1 to 3 rows, with none to three leading dimensions; any sizes; half of the cases with a clamp."""
    leading = [(), (1,), (2,), (3,), (2, 2), (1, 3, 1)][int(rng.integers(0, 6))]
    shape = (*leading, int(rng.integers(1, 70)))
    x, w, b = tensors(rng, shape, int(rng.integers(1, 34)), per_tensor=bool(rng.random() < 0.3))
    attrs = LinearAttrs()
    if rng.random() < 0.5:
        lowest = int(rng.integers(-128, 100))
        attrs = LinearAttrs(lowest, int(rng.integers(lowest, 128)))
    graph = single_op("linear", attrs, [x, w, b], output_q(rng, x, w, low, high))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(1)
    count = geometries(220)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert {checked.by_symbol[f"rl_linear_s8_{tier}"] for tier in TIERS} == {count}


def test_coarse_outputs_take_the_scalar_kernel_and_say_why() -> None:
    rng = np.random.default_rng(2)
    cases = [random_case(rng, 0.05, 3.9) for _ in range(40)]
    checked = check_kernels(cases)
    assert checked.by_symbol["rl_linear_s8_v7m"] == checked.by_symbol["rl_linear_s8_v6m"] == 40
    graph = cases[0][0]
    best = operator("linear").kernels(graph.ops[0], graph, TIERS[1:])[0]
    assert best.tier == "v7m"
    assert "no dsp kernel" in best.note


@pytest.mark.parametrize("depth", [1023, 4096])
def test_thousands_of_features_all_extreme(depth: int) -> None:
    rng = np.random.default_rng(depth)
    cases: list[Case] = []
    for rows in (1, 2, 3):
        for value, weight in ((-128, -127), (127, -127), (-128, -128)):
            x, w, b = tensors(rng, (rows, depth), 5)
            assert w.data is not None
            w.data[:] = weight
            graph = single_op("linear", LinearAttrs(), [x, w, b], output_q(rng, x, w, 1e5, 1e6))
            cases.append((graph, [np.full((rows, depth), value, np.int8)]))
    checked = check_kernels(cases)
    assert {checked.by_symbol[f"rl_linear_s8_{tier}"] for tier in TIERS} == {9}


@pytest.mark.parametrize("tier", CORES)
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_sample_in_the_emulator(tier: str, toolchain: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    cases = [random_case(rng) for _ in range(emulated(30))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
    assert {symbol.removesuffix("_pair").removesuffix("_row").removesuffix("_few") for symbol in symbols} == {
        f"rl_linear_s8_{tier}"
    }


def one_row_case(rng: np.random.Generator, depth: int, features: int) -> Case:
    x, w, b = tensors(rng, (1, depth), features)
    graph = single_op("linear", LinearAttrs(), [x, w, b], output_q(rng, x, w, 4.1, 1000.0))
    return graph, random_inputs(rng, graph)


def test_one_row_of_each_depth_and_number_of_features() -> None:
    rng = np.random.default_rng(8)
    checked = check_kernels((one_row_case(rng, 1 + i % 67, 1 + i % 33) for i in range(300)), tiers=("mve",))
    assert checked.by_symbol["rl_linear_s8_mve_row"] == 300


FEW = [(depth, features) for depth in (*range(1, 41), 256, 1023) for features in range(1, 5)]


def test_one_row_of_each_depth_with_few_features_takes_no_scratch() -> None:
    rng = np.random.default_rng(10)
    cases = [one_row_case(rng, *sizes) for sizes in FEW]
    assert check_kernels(cases, tiers=("dsp",)).by_symbol["rl_linear_s8_dsp_few"] == len(FEW)
    for graph, _ in cases:
        first = operator("linear").kernels(graph.ops[0], graph, TIERS[1:])[0]
        assert (first.symbol, first.scratch, first.takes_scratch) == ("rl_linear_s8_dsp_few", 0, False)


def test_more_features_or_rows_are_widened_in_scratch() -> None:
    rng = np.random.default_rng(11)
    x, w, b = tensors(rng, (2, 32), 4)
    two_rows = single_op("linear", LinearAttrs(), [x, w, b], output_q(rng, x, w, 4.1, 1000.0))
    for graph in (two_rows, one_row_case(rng, 32, 5)[0]):
        symbols = [k.symbol for k in operator("linear").kernels(graph.ops[0], graph, ("dsp",))]
        assert symbols == ["rl_linear_s8_dsp"]


@pytest.mark.parametrize(("toolchain", "opt"), [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2"), ("clang", "-Oz")])
def test_few_features_in_the_emulator(toolchain: str, opt: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    cases = [one_row_case(rng, *sizes) for sizes in FEW[:80]]
    _, symbols = check_on_board(cases, "dsp", tmp_path / "cases", toolchain, opt)
    assert symbols == {"rl_linear_s8_dsp", "rl_linear_s8_dsp_few"}


@pytest.mark.parametrize(("toolchain", "opt"), [("gcc", "-O3"), ("clang", "-O3"), ("clang", "-Os")])
def test_each_number_of_steps_on_helium(toolchain: str, opt: str, tmp_path: Path) -> None:
    """A row of 1 to 9 steps of 16 taps, whole or not, with 1 to 20 features: every way into the loops of assembly."""
    rng = np.random.default_rng(9)
    cases = [one_row_case(rng, 16 * (1 + i % 9) - (i % 2) * (i % 16), 1 + i % 20) for i in range(100)]
    _, symbols = check_on_board(cases, "mve", tmp_path / "cases", toolchain, opt)
    assert symbols == {"rl_linear_s8_mve", "rl_linear_s8_mve_row"}


def steps_of_torch(graph: Graph, x: Array) -> Array:
    """PyTorch's float layer on dequantised values, in steps of the output, clipped to its range."""
    op = graph.ops[0]
    tx, tw, tb = graph.ins(op)
    assert tw.data is not None and tb.data is not None
    scales = np.broadcast_to(np.array(tw.q.scale), tw.shape[:1])
    weight = torch.from_numpy(tw.data.astype(np.float64) * scales[:, None])
    y = torch.nn.functional.linear(
        torch.from_numpy(dequantized(x, tx.q)), weight, torch.from_numpy(tb.data * scales * tx.q.s)
    )
    q = graph.outs(op)[0].q
    steps: Array = np.clip(y.numpy() / q.s + q.z, op.attrs.out_min, op.attrs.out_max)
    return steps


def test_reference_is_within_half_a_step_of_torch() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        graph, (x,) = random_case(rng)
        # Rounding once is half a step; the multiplier's 15 bits move an output within the range by 0.008.
        assert np.abs(run(graph, x) - steps_of_torch(graph, x)).max() <= 0.51


def test_rule_and_integer_form() -> None:
    rng = np.random.default_rng(5)
    x, w, _ = tensors(rng, (2, 6), 4)
    bias = Tensor("b", (4,), DType.FLOAT32, None, rng.standard_normal(4).astype(np.float32))
    for names in (["x", "w", "b"], ["x", "w"]):
        bias_name = names[2] if len(names) == 3 else None
        context, name = lowered("linear.default", [x, w, bias], (2, 4), input="x", weight="w", bias=bias_name)
        assert [op.kind for op in context.ops] == ["linear"]
        assert context.ops[0].inputs == tuple(names)
        assert context.tensors[name].shape == (2, 4)
    y = QParams((20 * x.q.s,), (-100,))
    graph = integer_graph("linear", LinearAttrs(), [x, w, bias], y, (0.0, np.inf))
    assert (graph.ops[0].attrs.out_min, graph.ops[0].attrs.out_max) == (-100, 127)
    data = random_int8(rng, x.shape)
    assert np.abs(run(graph, data) - steps_of_torch(graph, data)).max() <= 0.51


def test_bias_beyond_32_bits_has_no_integer_form() -> None:
    rng = np.random.default_rng(6)
    x, w, _ = tensors(rng, (2, 6), 4)
    bias = Tensor("b", (4,), DType.FLOAT32, None, np.full(4, 1e9, np.float32))
    _, why = try_integer("linear", LinearAttrs(), [x, w, bias], QParams((1.0,), (0,)))
    assert why is not None and "beyond 32 bits" in why


def test_shapes_that_do_not_fit_are_named() -> None:
    x, w, b = tensors(np.random.default_rng(7), (2, 6), 4)
    with pytest.raises(ValueError, match=r"input \[2, 5\] does not fit weight \[4, 6\]"):
        operator("linear").infer(LinearAttrs(), [Tensor("x", (2, 5), DType.INT8, x.qparams), w, b])
