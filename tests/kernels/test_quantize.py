"""quantize and dequantize: kernels, all the corners of float32, agreement with torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.quantize import QuantizeAttrs
from tests.kernels.building import run
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_q, single_op

CORNERS = np.array(
    [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1e-45,
        -1e-45,
        3.4e38,
        -3.4e38,
        0.5,
        -0.5,
        1.5,
        2.5,
        -1.5,
        126.5,
        127.5,
        -128.5,
    ],
    np.float32,
)


def quantize_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    shape = tuple(int(d) for d in rng.integers(1, 9, int(rng.integers(0, 5))))
    q = random_q(rng, 1e-6, 100.0)
    graph = single_op("quantize", QuantizeAttrs(), [Tensor("x", shape, DType.FLOAT32)], q)
    x = (rng.standard_normal(shape) * q.s * 100).astype(np.float32)
    halves = (np.rint(x / np.float32(q.s)) + 0.5).astype(np.float32) * np.float32(q.s)
    return graph, [np.asarray(np.where(rng.random(shape) < 0.3, halves, x), np.float32)]


def dequantize_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    shape = tuple(int(d) for d in rng.integers(1, 9, int(rng.integers(0, 5))))
    x = Tensor("x", shape, DType.INT8, random_q(rng, 1e-6, 100.0))
    graph = single_op("dequantize", DequantizeAttrs(), [x], None)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(61)
    count = geometries(200)
    for make in (quantize_case, dequantize_case):
        checked = check_kernels(make(rng) for _ in range(count))
        assert all(checked.by_tier[tier] == count for tier in TIERS)


def test_corners_of_float32() -> None:
    full = np.arange(-128, 128).astype(np.int8)
    cases: list[tuple[Graph, list[Array]]] = []
    for scale in (1.0, 0.0078125, 1e-30, 1e30):
        for zero_point in (-128, -3, 0, 127):
            q = QParams((scale,), (zero_point,))
            graph = single_op("quantize", QuantizeAttrs(), [Tensor("x", CORNERS.shape, DType.FLOAT32)], q)
            assert run(graph, CORNERS)[:3].tolist() == [-128, 127, -128]  # NaN goes to the lowest
            back = single_op("dequantize", DequantizeAttrs(), [Tensor("x", (256,), DType.INT8, q)], None)
            cases += [(graph, [CORNERS]), (back, [full])]
    check_kernels(cases)


def test_equal_to_torch_but_for_the_reciprocal() -> None:
    rng = np.random.default_rng(62)
    for _ in range(50):
        q = random_q(rng)
        x = (rng.standard_normal(1000) * 60 * q.s).astype(np.float32)
        graph = single_op("quantize", QuantizeAttrs(), [Tensor("x", x.shape, DType.FLOAT32)], q)
        expected = torch.fake_quantize_per_tensor_affine(torch.from_numpy(x), q.s, q.z, -128, 127).numpy()
        y = run(graph, x)
        assert (np.rint(expected / q.s) + q.z != y).mean() < 0.002
        back = single_op("dequantize", DequantizeAttrs(), [Tensor("x", x.shape, DType.INT8, q)], None)
        assert np.array_equal(run(back, y), ((y.astype(np.int32) - q.z) * np.float32(q.s)).astype(np.float32))


def test_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="int8, not float32"):
        operator("quantize").infer(QuantizeAttrs(), [Tensor("x", (1,), DType.INT8)])
    with pytest.raises(ValueError, match="not quantised"):
        operator("dequantize").infer(DequantizeAttrs(), [Tensor("x", (1,), DType.INT8)])
