"""depthwise_conv2d: every kernel on every tier equals the reference, and the reference torch's convolution."""

import numpy as np

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops.base import Array
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_int8, random_q, single_op


def random_geometry(rng: np.random.Generator) -> tuple[DepthwiseConv2dAttrs, tuple[int, int, int, int]]:
    """Attributes and an input shape into which the window fits."""
    while True:
        kernel = (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
        stride = (int(rng.integers(1, 5)), int(rng.integers(1, 5)))
        dilation = (1, 1) if rng.random() < 0.6 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        most = 3 if rng.random() < 0.8 else 8
        top, bottom, left, right = (int(v) for v in rng.integers(0, most, 4))
        multiplier = 1 if rng.random() < 0.7 else int(rng.integers(2, 4))
        low = int(rng.integers(-128, 60))
        attrs = DepthwiseConv2dAttrs(
            kernel, stride, dilation, (top, bottom, left, right), multiplier, low, int(rng.integers(low, 128))
        )
        n, h, w = int(rng.integers(1, 4)), int(rng.integers(1, 12)), int(rng.integers(1, 12))
        extent = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
        if h + top + bottom >= extent[0] and w + left + right >= extent[1]:
            return attrs, (n, h, w, int(rng.integers(1, 34)))


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    attrs, shape = random_geometry(rng)
    channels = shape[3] * attrs.multiplier
    x = Tensor("x", shape, DType.INT8, random_q(rng))
    y_q = random_q(rng, 1e-2, 10.0)
    # Requantisation scales: mostly as in real layers, sometimes the extremes.
    low, high = [(1e-4, 3e-2), (1e-9, 1e-4), (1e-2, 100.0)][int(rng.choice(3, p=[0.8, 0.1, 0.1]))]
    ratios = np.exp(rng.uniform(np.log(low), np.log(high), channels))
    scales = tuple(float(s) for s in ratios * y_q.s / x.q.s)
    data = random_int8(rng, (channels, *attrs.kernel))
    if rng.random() < 0.5:
        data = (data // int(rng.integers(2, 16))).astype(np.int8)
    w = Tensor("w", data.shape, DType.INT8, QParams(scales, (0,) * channels, 0), data)
    b = Tensor("b", (channels,), DType.INT32, None, rng.integers(-5000, 5000, channels).astype(np.int32))
    graph = single_op("depthwise_conv2d", attrs, [x, w, b], y_q)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(3)
    checked = check_kernels(random_case(rng) for _ in range(240))
    assert all(checked.by_tier[tier] == 240 for tier in TIERS)
    assert checked.by_symbol["rl_depthwise_conv2d_s8_any"] == 240
    for tier in TIERS:
        assert checked.by_symbol[f"rl_depthwise_conv2d_s8_{tier}"] >= 100, checked.by_symbol
