"""Single layers as graphs of one operator, with seeded weights and inputs as trained nets have them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.baselines import LayerShape
from rushlight.graph import DType, Graph, Op, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.add import AddAttrs
from rushlight.ops.avg_pool2d import AvgPool2dAttrs
from rushlight.ops.base import Array
from rushlight.ops.common.arith import clamp_range
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.max_pool2d import MaxPool2dAttrs
from rushlight.ops.mul import MulAttrs
from rushlight.ops.softmax import SoftmaxAttrs
from rushlight.ops.table import TableAttrs, function_table

#: What a ReLU leaves: all of int8 stands for 0 and above.
RELU = QParams((0.02,), (-128,))
_UNIT = QParams((1 / 256,), (-128,))

Maker = Callable[[LayerShape, np.random.Generator], tuple[Graph, list[Array]]]


def single_layer(layer: LayerShape) -> tuple[Graph, list[Array]] | None:
    """The layer's integer graph and its inputs; None where there is no such operator yet.

    The same layer has the same weights each time. Weights are normal and scaled so that each channel's largest is 127;
    inputs are those that a ReLU leaves; the output's scale holds four standard deviations of the sums.
    """
    make = _MAKERS.get(layer.op)
    if make is None:
        return None
    rng = np.random.default_rng(zlib.crc32(f"{layer.net} {layer.index}".encode()))
    return make(layer, rng)


def activation(name: str, shape: Sequence[int], rng: np.random.Generator) -> tuple[Tensor, Array]:
    """A tensor with the values that a ReLU leaves."""
    data = np.clip(np.rint(np.maximum(rng.normal(0.0, 60.0, shape), 0.0)) - 128, -128, 127).astype(np.int8)
    return Tensor(name, tuple(shape), DType.INT8, RELU), data


def one_op(kind: str, attrs: Any, inputs: Sequence[Tensor], q: QParams | None) -> Graph:
    """The graph of one operator; ``q``: the quantisation of its output."""
    out = operator(kind).infer(attrs, inputs)[0]
    y = Tensor("y", out.shape, out.dtype, q)
    op = Op(kind, "layer", tuple(t.name for t in inputs), ("y",), attrs)
    names = tuple(t.name for t in inputs if not t.constant)
    return Graph("layer", {t.name: t for t in (*inputs, y)}, (op,), names, ("y",))


def _weighted(
    kind: str, attrs: Any, shape: Sequence[int], weight_shape: Sequence[int], rng: np.random.Generator
) -> tuple[Graph, list[Array]]:
    """A layer with weights per channel and a ReLU."""
    channels, taps = weight_shape[0], int(np.prod(weight_shape[1:]))
    real: NDArray[np.float64] = rng.normal(0.0, 1.0, (channels, taps))
    real /= np.sqrt(taps)
    scales = np.abs(real).max(axis=1) / 127
    integers = np.clip(np.rint(real / scales[:, None]), -127, 127).astype(np.int8).reshape(weight_shape)
    bias = np.rint(rng.normal(0.0, 0.2, channels) / (scales * RELU.s)).astype(np.int32)
    x, data = activation("x", shape, rng)
    w = Tensor(
        "w", tuple(weight_shape), DType.INT8, QParams(tuple(scales.tolist()), (0,) * channels, 0, -127), integers
    )
    b = Tensor("b", (channels,), DType.INT32, None, bias)
    # Σw² is about 1; a few inputs may all be 0.
    deviation = max(0.1, float(np.sqrt(np.mean((data.astype(np.float64) + 128) ** 2))) * RELU.s)
    q = QParams((4 * deviation / 255,), (-128,))
    low, high = clamp_range(q.s, q.z, q.qmin, q.qmax, (0.0, np.inf))
    return one_op(kind, attrs(low, high), [x, w, b], q), [data]


def _padding(layer: LayerShape) -> tuple[int, int, int, int]:
    """Top, bottom, left, right: bottom and right are what the output's size needs."""
    sides: list[int] = []
    for axis in range(2):
        reach = (layer.out_shape[axis] - 1) * layer.stride[axis] + layer.kernel[axis]
        sides += [layer.pad[axis], max(0, reach - layer.in_shape[axis] - layer.pad[axis])]
    return sides[0], sides[1], sides[2], sides[3]


def _conv(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    channels = layer.in_shape[2]

    def attrs(low: int, high: int) -> Conv2dAttrs:
        return Conv2dAttrs(layer.kernel, layer.stride, (1, 1), _padding(layer), layer.groups, low, high)

    weight = (layer.out_shape[2], *layer.kernel, channels // layer.groups)
    return _weighted("conv2d", attrs, (1, *layer.in_shape), weight, rng)


def _depthwise(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    channels = layer.in_shape[2]
    if channels == 1:
        return _conv(layer, rng)  # one group: that is how a compiled model has it
    multiplier = layer.out_shape[2] // channels

    def attrs(low: int, high: int) -> DepthwiseConv2dAttrs:
        return DepthwiseConv2dAttrs(layer.kernel, layer.stride, (1, 1), _padding(layer), multiplier, low, high)

    weight = (layer.out_shape[2], *layer.kernel)
    return _weighted("depthwise_conv2d", attrs, (1, *layer.in_shape), weight, rng)


def _linear(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    rows, (inputs, outputs) = layer.in_shape[0] * layer.in_shape[1], (layer.in_shape[2], layer.out_shape[2])
    return _weighted("linear", LinearAttrs, (rows, inputs), (outputs, inputs), rng)


def _binary(kind: str, attrs: Any, scale: float) -> Maker:
    def make(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
        (a, first), (b, second) = (activation(name, (1, *layer.in_shape), rng) for name in "ab")
        return one_op(kind, attrs, [a, b], QParams((scale,), (-128,))), [first, second]

    return make


def _average(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    x, data = activation("x", (1, *layer.in_shape), rng)
    return one_op("avg_pool2d", AvgPool2dAttrs(layer.kernel, layer.stride), [x], QParams((0.015,), (-128,))), [data]


def _maximum(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    x, data = activation("x", (1, *layer.in_shape), rng)
    attrs = MaxPool2dAttrs(layer.kernel, layer.stride, (1, 1), _padding(layer))
    return one_op("max_pool2d", attrs, [x], RELU), [data]


def _softmax(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    x = Tensor("x", (1, layer.in_shape[2]), DType.INT8, QParams((0.1,), (0,)))
    data = np.clip(np.rint(rng.normal(0.0, 40.0, x.shape)), -128, 127).astype(np.int8)
    return one_op("softmax", SoftmaxAttrs(), [x], _UNIT), [data]


def _relu6(layer: LayerShape, rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    x = Tensor("x", (1, *layer.in_shape), DType.INT8, QParams((0.1,), (0,)))
    data = rng.integers(-128, 128, x.shape).astype(np.int8)
    q = QParams((6 / 255,), (-128,))
    table, _ = function_table(lambda v: np.clip(v, 0.0, 6.0), x.q, q, -128, 127)
    return one_op("table", TableAttrs(), [x, Tensor("table", (256,), DType.INT8, None, table)], q), [data]


_MAKERS: dict[str, Maker] = {
    "CONV": _conv,
    "DW": _depthwise,
    "FC": _linear,
    "FCPC": _linear,
    "ADD": _binary("add", AddAttrs(), 0.03),
    "MUL": _binary("mul", MulAttrs(), 0.06),
    "AVG": _average,
    "MAX": _maximum,
    "SM": _softmax,
    "RELU6": _relu6,
}
