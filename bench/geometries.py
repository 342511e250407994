"""Random layers of every operator, which costs are fitted to and judged by: seeded, so the same each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench.baselines import LayerShape
from bench.layers import RELU, activation, one_op, single_layer
from bench.measure import Work, work_of
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops.add import AddAttrs
from rushlight.ops.base import Array
from rushlight.ops.concat import ConcatAttrs
from rushlight.ops.copy import CopyAttrs
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.mul import MulAttrs
from rushlight.ops.pad import PadAttrs
from rushlight.ops.permute import PermuteAttrs
from rushlight.ops.quantize import QuantizeAttrs

#: A layer may have this many MACs, or elements where it has none.
_MOST_MACS, _MOST_ELEMENTS = 400_000, 30_000

Made = tuple[Graph, list[Array]]
Maker = Callable[[np.random.Generator, int], Made | None]


def random_layers(kind: str, count: int, seed: int) -> list[Work]:
    """Layers of an operator. Another seed gives others: those that nothing was fitted to.

    Sizes are spread evenly over orders of magnitude, and channels over multiples of 4 and 16 and all others.
    """
    rng = np.random.default_rng([seed, *kind.encode()])
    found: list[Work] = []
    while len(found) < count:
        made = MAKERS[kind](rng, len(found) + 1000 * seed)
        if made is not None:
            found.append(work_of(f"{kind} {len(found)}", *made))
    return found


def _size(rng: np.random.Generator, low: int, high: int) -> int:
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def _channels(rng: np.random.Generator, high: int = 128) -> int:
    multiple = int(rng.choice([1, 4, 8, 16]))
    return max(multiple, _size(rng, 1, high) // multiple * multiple)


def _pick(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _window(
    rng: np.random.Generator, index: int, op: str, channels: tuple[int, int], kernel: tuple[int, int], groups: int = 1
) -> LayerShape | None:
    """A layer with that window; None where it is too large or does not fit."""
    stride = _pick(rng, (1, 1), (1, 1), (2, 2))
    height, width = (1, _size(rng, 1, 200)) if kernel[0] == 1 and rng.random() < 0.3 else (_size(rng, 1, 32),) * 2
    width = max(1, width + int(rng.integers(-1, 2)))
    pad = (kernel[0] // 2, kernel[1] // 2) if rng.random() < 0.7 else (0, 0)
    out = [(n + 2 * p - k) // s + 1 for n, p, k, s in zip((height, width), pad, kernel, stride, strict=True)]
    if min(out) < 1:
        return None
    taps = kernel[0] * kernel[1] * (channels[0] // groups if op == "CONV" else 1)
    macs = out[0] * out[1] * channels[1] * taps
    if macs > _MOST_MACS or height * width * channels[0] > _MOST_ELEMENTS:
        return None
    shapes = (height, width, channels[0]), (out[0], out[1], channels[1])
    return LayerShape("RANDOM", index, op, *shapes, kernel, groups if op == "CONV" else 1, stride, pad, macs)


def _made(shape: LayerShape | None, rng: np.random.Generator) -> Made | None:
    made = None if shape is None else single_layer(shape)
    if made is None or rng.random() < 0.8 or not hasattr(made[0].ops[0].attrs, "out_min"):
        return made
    graph, inputs = made  # a clamp that cuts into the range
    return replace(graph, ops=(replace(graph.ops[0], attrs=replace(graph.ops[0].attrs, out_min=-120)),)), inputs


def _conv(rng: np.random.Generator, index: int) -> Made | None:
    style = rng.random()
    if style < 0.2:  # grouped
        groups = int(rng.integers(2, 5))
        channels = groups * _channels(rng, 16), groups * _channels(rng, 16)
        return _made(_window(rng, index, "CONV", channels, _pick(rng, (1, 1), (3, 3)), groups), rng)
    inputs = _pick(rng, 1, 3) if style < 0.3 else _channels(rng)
    kernel = _pick(rng, (3, 3), (3, 3), (5, 5), (10, 4), (1, 3)) if style < 0.6 else (1, 1)
    return _made(_window(rng, index, "CONV", (inputs, _channels(rng)), kernel), rng)


def _depthwise(rng: np.random.Generator, index: int) -> Made | None:
    channels = max(2, _channels(rng))
    multiplier = 1 if rng.random() < 0.8 else int(rng.integers(2, 4))
    kernel = _pick(rng, (3, 3), (3, 3), (5, 5), (1, 5), (3, 1))
    return _made(_window(rng, index, "DW", (channels, channels * multiplier), kernel), rng)


def _linear(rng: np.random.Generator, index: int) -> Made | None:
    rows = 1 if rng.random() < 0.6 else int(rng.integers(2, 12))
    inputs, outputs = _size(rng, 4, 800), _size(rng, 1, 200)
    if rows * inputs * outputs > _MOST_MACS:
        return None
    shapes = (rows, 1, inputs), (rows, 1, outputs)
    return _made(LayerShape("RANDOM", index, "FC", *shapes, (1, 1), 1, (1, 1), (0, 0), 0), rng)


def _pool(op: str) -> Maker:
    def make(rng: np.random.Generator, index: int) -> Made | None:
        channels = _channels(rng)
        if op == "AVG" and rng.random() < 0.5:  # global
            height, width = _size(rng, 1, 16), _size(rng, 1, 16)
            shapes = (height, width, channels), (1, 1, channels)
            return single_layer(
                LayerShape("RANDOM", index, op, *shapes, (height, width), 1, (height, width), (0, 0), 0)
            )
        shape = _window(rng, index, op, (channels, channels), _pick(rng, (2, 2), (3, 3), (1, 2)))
        if shape is None or min(n - k for n, k in zip(shape.in_shape, shape.kernel, strict=False)) < 0:
            return None
        return single_layer(replace(shape, pad=(0, 0)) if op == "AVG" else shape)

    return make


def _binary(kind: str, attrs: Any, scale: float) -> Maker:
    def make(rng: np.random.Generator, index: int) -> Made | None:
        height, width, channels = _size(rng, 1, 16), _size(rng, 1, 16), _channels(rng)
        whole, row = (1, height, width, channels), (1, 1, 1, channels)
        first, second = _pick(rng, (whole, whole), (whole, whole), (whole, row), ((1, height, width, 1), whole))
        if height * width * channels > _MOST_ELEMENTS:
            return None
        (a, x), (b, y) = activation("a", first, rng), activation("b", second, rng)
        return one_op(kind, attrs, [a, b], QParams((scale,), (-128,))), [x, y]

    return make


def _elements(rng: np.random.Generator, shape: Sequence[int]) -> Array | None:
    data: Array = rng.integers(-128, 128, shape).astype(np.int8)
    return data if data.size <= _MOST_ELEMENTS else None


def _softmax(rng: np.random.Generator, index: int) -> Made | None:
    count = _size(rng, 2, 500)
    return single_layer(LayerShape("RANDOM", index, "SM", (1, 1, count), (1, 1, count), (1, 1), 1, (1, 1), (0, 0), 0))


def _table(rng: np.random.Generator, index: int) -> Made | None:
    shape = (1, _size(rng, 1, 20), _channels(rng))
    return single_layer(LayerShape("RANDOM", index, "RELU6", shape, shape, (1, 1), 1, (1, 1), (0, 0), 0))


def _copy(rng: np.random.Generator, index: int) -> Made | None:
    data = _elements(rng, (_size(rng, 1, 10_000),))
    assert data is not None
    return one_op("copy", CopyAttrs(), [Tensor("x", data.shape, DType.INT8, RELU)], RELU), [data]


def _edge(kind: str) -> Maker:
    def make(rng: np.random.Generator, index: int) -> Made | None:
        shape = (_size(rng, 1, 5_000),)
        if kind == "quantize":
            x = Tensor("x", shape, DType.FLOAT32)
            return one_op(kind, QuantizeAttrs(), [x], RELU), [rng.normal(1.0, 1.0, shape).astype(np.float32)]
        data = _elements(rng, shape)
        assert data is not None
        return one_op(kind, DequantizeAttrs(), [Tensor("x", shape, DType.INT8, RELU)], None), [data]

    return make


def _permute(rng: np.random.Generator, index: int) -> Made | None:
    shape = (1, _channels(rng, 64), _size(rng, 1, 32), _size(rng, 1, 32))
    order = _pick(rng, (0, 2, 3, 1), (0, 3, 1, 2), (0, 1, 3, 2), (0, 2, 1, 3), (0, 3, 2, 1))
    data = _elements(rng, shape)
    if data is None:
        return None
    if rng.random() < 0.3:
        x = Tensor("x", shape, DType.FLOAT32)
        return one_op("permute", PermuteAttrs(order), [x], None), [data.astype(np.float32)]
    return one_op("permute", PermuteAttrs(order), [Tensor("x", shape, DType.INT8, RELU)], RELU), [data]


def _pad(rng: np.random.Generator, index: int) -> Made | None:
    shape = (1, _size(rng, 1, 24), _size(rng, 1, 24), _channels(rng, 64))
    data = _elements(rng, shape)
    if data is None:
        return None
    top, left, channels = (int(n) for n in rng.integers(0, 3, 3))
    pads = ((0, 0), (top, 1), (left, left), (0, channels if rng.random() < 0.3 else 0))
    return one_op("pad", PadAttrs(pads, 0.0), [Tensor("x", shape, DType.INT8, RELU)], RELU), [data]


def _concat(rng: np.random.Generator, index: int) -> Made | None:
    height, width = _size(rng, 1, 12), _size(rng, 1, 12)
    parts = [_elements(rng, (1, height, width, _channels(rng, 64))) for _ in range(int(rng.integers(2, 5)))]
    mapped = rng.random() < 0.3
    tensors, data = [], []
    for i, part in enumerate(parts):
        if part is None:
            return None
        q = QParams((0.05,), (-128,)) if mapped and i == 0 else RELU
        tensors.append(Tensor(f"x{i}", part.shape, DType.INT8, q))
        data.append(part)
    return one_op("concat", ConcatAttrs(3), tensors, RELU), data


MAKERS: dict[str, Maker] = {
    "conv2d": _conv,
    "depthwise_conv2d": _depthwise,
    "linear": _linear,
    "avg_pool2d": _pool("AVG"),
    "max_pool2d": _pool("MAX"),
    "add": _binary("add", AddAttrs(), 0.03),
    "mul": _binary("mul", MulAttrs(), 0.06),
    "softmax": _softmax,
    "table": _table,
    "copy": _copy,
    "quantize": _edge("quantize"),
    "dequantize": _edge("dequantize"),
    "permute": _permute,
    "pad": _pad,
    "concat": _concat,
}
