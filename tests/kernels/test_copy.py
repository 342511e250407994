"""copy: bytes of any element type."""

from __future__ import annotations

import numpy as np

from rushlight.graph import DType, Graph, Tensor
from rushlight.ops.base import Array
from rushlight.ops.copy import CopyAttrs
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_q, single_op


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    shape = tuple(int(d) for d in rng.integers(1, 9, int(rng.integers(0, 5))))
    dtype, q = (DType.INT8, random_q(rng)) if rng.random() < 0.7 else (DType.FLOAT32, None)
    graph = single_op("copy", CopyAttrs(), [Tensor("x", shape, dtype, q)], q)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(41)
    count = geometries(200)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
