"""max_pool2d: every kernel on every tier equals the reference, and the reference torch's max pooling."""

import numpy as np

from rushlight.graph import DType, Graph, Tensor
from rushlight.ops.base import Array
from rushlight.ops.max_pool2d import MaxPool2dAttrs
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_q, single_op


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    q = random_q(rng)
    while True:
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        dilation = (1, 1) if rng.random() < 0.6 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        top, bottom, left, right = (int(v) for v in rng.integers(0, 4, 4))
        attrs = MaxPool2dAttrs(kernel, stride, dilation, (top, bottom, left, right))
        n, h, w = int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(1, 12))
        x = Tensor("x", (n, h, w, int(rng.integers(1, 34))), DType.INT8, q)
        try:
            graph = single_op("max_pool2d", attrs, [x], q)
        except ValueError:
            continue
        return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(4)
    checked = check_kernels(random_case(rng) for _ in range(240))
    assert all(checked.by_tier[tier] == 240 for tier in TIERS)
    for tier in ("mve", "dsp", "v6m"):
        assert checked.by_symbol[f"rl_max_pool2d_s8_{tier}"] >= 150, checked.by_symbol
