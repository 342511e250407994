"""copy: bytes of any element type."""

from __future__ import annotations

import numpy as np

from rushlight.graph import DType, Tensor
from rushlight.ops.copy import CopyAttrs
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_q, single_op


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(41)
    cases = []
    for _ in range(200):
        shape = tuple(int(d) for d in rng.integers(1, 9, int(rng.integers(0, 5))))
        dtype, q = (DType.INT8, random_q(rng)) if rng.random() < 0.7 else (DType.FLOAT32, None)
        graph = single_op("copy", CopyAttrs(), [Tensor("x", shape, dtype, q)], q)
        cases.append((graph, random_inputs(rng, graph)))
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == 200 for tier in TIERS)
