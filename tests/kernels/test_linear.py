"""linear: every kernel on every tier equals the reference, over random geometry."""

import numpy as np

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops.base import Array
from rushlight.ops.linear import LinearAttrs
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_int8, random_q, single_op


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    rows, k, o = int(rng.integers(1, 4)), int(rng.integers(1, 70)), int(rng.integers(1, 34))
    x = Tensor("x", (rows, k), DType.INT8, random_q(rng))
    scales = tuple(float(s) for s in np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), o)))
    w = Tensor("w", (o, k), DType.INT8, QParams(scales, (0,) * o, 0, -127, 127), random_int8(rng, (o, k)))
    b = Tensor("b", (o,), DType.INT32, None, rng.integers(-5000, 5000, o).astype(np.int32))
    low = int(rng.integers(-128, 100))
    attrs = LinearAttrs(low, int(rng.integers(low, 128)))
    graph = single_op("linear", attrs, [x, w, b], random_q(rng, 1e-2, 10.0))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(1)
    checked = check_kernels(random_case(rng) for _ in range(200))
    assert all(checked.by_tier[tier] == 200 for tier in TIERS)
