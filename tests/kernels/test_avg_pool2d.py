"""avg_pool2d: every kernel on every tier equals the reference, and the reference torch's average pooling."""

import numpy as np

from rushlight.graph import DType, Graph, Tensor
from rushlight.ops.avg_pool2d import AvgPool2dAttrs
from rushlight.ops.base import Array
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_q, single_op


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    while True:
        h, w = int(rng.integers(1, 12)), int(rng.integers(1, 12))
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6))) if rng.random() < 0.7 else (h, w)
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        top, bottom, left, right = (int(v) for v in (rng.integers(0, 4, 4) if rng.random() < 0.6 else (0, 0, 0, 0)))
        padding = (top, bottom, left, right)
        share = int(rng.integers(0, 3))  # none, half or all of the padding counts
        counted = (top * share // 2, bottom * share // 2, left * share // 2, right * share // 2)
        divisor = 0 if rng.random() < 0.8 else int(rng.integers(1, 40))
        low = int(rng.integers(-128, 60))
        attrs = AvgPool2dAttrs(kernel, stride, padding, counted, divisor, low, int(rng.integers(low, 128)))
        x_q = random_q(rng)
        x = Tensor("x", (int(rng.integers(1, 4)), h, w, int(rng.integers(1, 34))), DType.INT8, x_q)
        low_s, high_s = (0.1, 2.0) if rng.random() < 0.8 else (1e-3, 1e3)
        y_q = random_q(rng, x_q.s * low_s, x_q.s * high_s)
        try:
            graph = single_op("avg_pool2d", attrs, [x], y_q)
        except ValueError:
            continue
        return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(5)
    checked = check_kernels(random_case(rng) for _ in range(240))
    assert all(checked.by_tier[tier] == 240 for tier in TIERS)
    for tier in TIERS:
        assert checked.by_symbol[f"rl_avg_pool2d_s8_{tier}"] >= 150, checked.by_symbol
