"""conv2d: every kernel on every tier equals the reference over random geometry, and the reference equals PyTorch."""

import numpy as np
import pytest

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops.base import Array
from rushlight.ops.conv2d import Conv2dAttrs
from tests.kernels.harness import TIERS, check_kernels, random_inputs, random_int8, random_q, single_op


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


def case(rng: np.random.Generator, attrs: Conv2dAttrs, in_shape: tuple[int, ...], channels: int) -> Graph:
    """A graph of one conv2d with random weights and an output range that its sums use."""
    depth = attrs.kernel[0] * attrs.kernel[1] * in_shape[3] // attrs.groups
    x = Tensor("x", in_shape, DType.INT8, random_q(rng))
    scales = tuple(float(s) for s in np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), channels)))
    weights = random_int8(rng, (channels, *attrs.kernel, in_shape[3] // attrs.groups))
    w = Tensor("w", weights.shape, DType.INT8, QParams(scales, (0,) * channels, 0, -127, 127), weights)
    b = Tensor("b", (channels,), DType.INT32, None, rng.integers(-5000, 5000, channels).astype(np.int32))
    spread = x.q.s * scales[0] * np.sqrt(depth) * float(np.exp(rng.uniform(np.log(20), np.log(2000))))
    return single_op("conv2d", attrs, [x, w, b], QParams((float(spread),), (int(rng.integers(-128, 128)),)))


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    while True:
        groups = int(rng.choice([1, 1, 1, 2, 3, 4]))
        group_in, group_out = int(rng.integers(1, 34)), int(rng.integers(1, 34))
        if groups > 1:
            group_in, group_out = int(rng.integers(1, 10)), int(rng.integers(1, 10))
        in_shape = (int(rng.integers(1, 4)), int(rng.integers(1, 9)), int(rng.integers(1, 9)), group_in * groups)
        attrs = random_attrs(rng, (in_shape[1], in_shape[2]), groups)
        if attrs is not None:
            graph = case(rng, attrs, in_shape, group_out * groups)
            return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(2)
    checked = check_kernels(random_case(rng) for _ in range(220))
    assert all(checked.by_tier[tier] == 220 for tier in TIERS)


@pytest.mark.parametrize("depth", [1024, 2048 + 3])
def test_thousands_of_taps_all_extreme(depth: int) -> None:
    rng = np.random.default_rng(depth)
    cases: list[tuple[Graph, list[Array]]] = []
    for value in (-128, 127):
        graph = case(rng, Conv2dAttrs((1, 1)), (1, 1, 3, depth), 5)
        graph["w"].data[:] = -127  # type: ignore[index]
        cases.append((graph, [np.full((1, 1, 3, depth), value, np.int8)]))
    checked = check_kernels(cases)
    assert checked.by_symbol["rl_conv2d_s8_v6m"] == 2
