"""Writes the golden files anew: ``python -m tests.golden.record [kind …]``.

Only for a new operator or a change of the specification that is meant. What the references say goes into the files; read the
difference before you commit it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rushlight.graph import DType, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.add import AddAttrs
from rushlight.ops.avg_pool2d import AvgPool2dAttrs
from rushlight.ops.base import Array
from rushlight.ops.common.functions import FUNCTIONS
from rushlight.ops.concat import ConcatAttrs
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.copy import CopyAttrs
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.max_pool2d import MaxPool2dAttrs
from rushlight.ops.mul import MulAttrs
from rushlight.ops.pad import PadAttrs
from rushlight.ops.permute import PermuteAttrs
from rushlight.ops.quantize import QuantizeAttrs
from rushlight.ops.reshape import ReshapeAttrs
from rushlight.ops.softmax import SoftmaxAttrs
from rushlight.ops.table import TableAttrs, function_table
from tests.golden.case import KINDS, Case, dump, path_of
from tests.kernels.harness import single_op

UNIT = (1 / 256, -128)


class Recorder:
    """Makes cases with data from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def int8(self, *shape: int, reach: int = 128) -> Array:
        data: Array = self.rng.integers(-reach, reach, shape).astype(np.int8)
        return data

    def case(
        self,
        name: str,
        kind: str,
        attrs: Any,
        x: list[Tensor],
        q: tuple[float, int] | None,
        inputs: list[Array] | None = None,
        function: str = "",
    ) -> Case:
        """``x`` without data is an activation, filled at random unless ``inputs`` are given."""
        output = None if q is None else QParams((q[0],), (q[1],))
        graph = single_op(kind, attrs, x, output)
        given = [self.int8(*graph[n].shape) for n in graph.inputs] if inputs is None else inputs
        case = Case(name, graph, given, np.zeros(0), function)
        op = graph.ops[0]
        operator(kind).check(op, graph)
        return Case(name, graph, given, operator(kind).reference(op, graph, case.arrays)[0], function)

    def coarse(self, kind: str, attrs: Any, x: tuple[int, ...], weight: tuple[int, ...]) -> Case:
        """Small sums and a small output scale."""
        inputs = self.weighted(act(x, 0.9, 0), weight, reach=6)
        return self.case("a scale of 1/4 or more", kind, attrs, inputs, (0.0307, 0), [self.int8(*x, reach=6)])

    def weighted(self, x: Tensor, shape: tuple[int, ...], reach: int = 128) -> list[Tensor]:
        """x, weights with a scale a channel, and biases."""
        scales = tuple(float(s) for s in self.rng.integers(2, 30, shape[0]) / 1000)
        weight = Tensor("w", shape, DType.INT8, QParams(scales, (0,) * shape[0], 0), self.int8(*shape, reach=reach))
        bias = self.rng.integers(-23 * reach, 23 * reach, shape[0]).astype(np.int32)
        return [x, weight, Tensor("b", shape[:1], DType.INT32, None, bias)]


def act(shape: tuple[int, ...], scale: float, zero_point: int, name: str = "x") -> Tensor:
    return Tensor(name, shape, DType.INT8, QParams((scale,), (zero_point,)))


def _constant(data: Array, scale: float, zero_point: int, name: str) -> Tensor:
    return Tensor(name, data.shape, DType.INT8, QParams((scale,), (zero_point,)), data)


def _conv2d(r: Recorder) -> Iterator[Case]:
    for name, attrs, x, shape, q in (
        ("1x1", Conv2dAttrs((1, 1)), act((1, 3, 3, 5), 0.0203, 3), (4, 1, 1, 5), (0.1027, -7)),
        (
            "3x3, stride 2, padded, relu",
            Conv2dAttrs((3, 3), (2, 2), padding=(0, 1, 0, 1), out_min=-20),
            act((1, 6, 5, 3), 0.05, -128),
            (6, 3, 3, 3),
            (0.2917, -20),
        ),
        (
            "two groups, dilated along the height",
            Conv2dAttrs((3, 1), (1, 1), (2, 1), (2, 2, 0, 0), groups=2),
            act((2, 4, 3, 4), 0.0203, 10),
            (4, 3, 1, 2),
            (0.0523, 5),
        ),
    ):
        yield r.case(name, "conv2d", attrs, r.weighted(x, shape), q)
    yield r.coarse("conv2d", Conv2dAttrs((2, 2)), (1, 3, 3, 2), (3, 2, 2, 2))


def _depthwise(r: Recorder) -> Iterator[Case]:
    for name, attrs, x, shape, q in (
        (
            "3x3, padded, relu",
            DepthwiseConv2dAttrs((3, 3), padding=(1, 1, 1, 1), out_min=-30),
            act((1, 4, 4, 5), 0.0309, -128),
            (5, 3, 3),
            (0.0523, -30),
        ),
        (
            "3x3, stride 2, 16 channels",
            DepthwiseConv2dAttrs((3, 3), (2, 2), padding=(0, 1, 0, 1)),
            act((1, 5, 5, 16), 0.0309, 4),
            (16, 3, 3),
            (0.0523, -3),
        ),
        (
            "two outputs a channel",
            DepthwiseConv2dAttrs((2, 2), multiplier=2),
            act((1, 3, 3, 3), 0.0203, 9),
            (6, 2, 2),
            (0.0311, 0),
        ),
        (
            "5x1, dilated",
            DepthwiseConv2dAttrs((5, 1), (1, 1), (2, 1), (4, 4, 0, 0)),
            act((1, 5, 2, 9), 0.0203, -9),
            (9, 5, 1),
            (0.0397, 2),
        ),
    ):
        yield r.case(name, "depthwise_conv2d", attrs, r.weighted(x, shape), q)
    yield r.coarse("depthwise_conv2d", DepthwiseConv2dAttrs((3, 3)), (1, 4, 3, 4), (4, 3, 3))


def _linear(r: Recorder) -> Iterator[Case]:
    yield r.case("one row", "linear", LinearAttrs(), r.weighted(act((1, 19), 0.0309, -5), (6, 19)), (0.2473, 4))
    yield r.case(
        "rows, relu6", "linear", LinearAttrs(-40, 60), r.weighted(act((3, 8), 0.0309, 7), (5, 8)), (0.0613, -40)
    )
    yield r.coarse("linear", LinearAttrs(), (2, 3), (3, 3))
    # 4·w·x / 8: each second sum is an exact half.
    weight = _constant(np.array([[1, 0], [0, -1]], np.int8), 4.0, 0, "w")
    bias = Tensor("b", (2,), DType.INT32, None, np.zeros(2, np.int32))
    halves = np.array([[-3, -3], [-1, -1], [1, 1], [3, 3], [5, 5], [127, 127]], np.int8)
    yield r.case("exact halves go up", "linear", LinearAttrs(), [act((6, 2), 1.0, 0), weight, bias], (8.0, 0), [halves])


def _add(r: Recorder) -> Iterator[Case]:
    a, b = act((2, 3, 5), 0.0203, 4, "a"), act((2, 3, 5), 0.00717, -30, "b")
    yield r.case("same shapes", "add", AddAttrs(), [a, b], (0.0249, 1))
    yield r.case("a - 0.5·b, relu", "add", AddAttrs(True, 0.5, -50, 127), [a, b], (0.0197, -50))
    yield r.case("broadcast", "add", AddAttrs(), [act((2, 3, 1), 0.0203, 4, "a"), act((4,), 0.01, 0, "b")], (0.0191, 0))
    constant = _constant(r.int8(5), 0.01, 3, "b")
    yield r.case("a constant", "add", AddAttrs(), [a, constant], (0.0191, 0))


def _mul(r: Recorder) -> Iterator[Case]:
    a, b = act((2, 3, 5), 0.0203, 4, "a"), act((2, 3, 5), 0.00717, -30, "b")
    yield r.case("same shapes", "mul", MulAttrs(), [a, b], (0.0193, 1))
    yield r.case("broadcast, relu", "mul", MulAttrs(-50), [a, act((2, 1, 1), 0.01, 0, "b")], (0.0197, -50))
    yield r.case("a constant", "mul", MulAttrs(), [a, _constant(r.int8(5), 0.01, 3, "b")], (0.0191, 0))
    a, b, small = act((9,), 0.5, 2, "a"), act((9,), 0.9, 1, "b"), [r.int8(9, reach=12), r.int8(9, reach=12)]
    yield r.case("a scale of 1/4 or more", "mul", MulAttrs(), [a, b], (0.4973, 0), small)


def _table(r: Recorder) -> Iterator[Case]:
    for function, src, dst in (
        ("tanh", (0.0311, 5), (1 / 128, 0)),
        ("sigmoid", (0.06, -10), UNIT),
        ("hardswish", (0.05, 0), (0.025, -113)),
        ("gelu", (0.04, -20), (0.0311, -120)),
    ):
        x = act((3, 7), *src)
        data, _ = function_table(FUNCTIONS[function], x.q, QParams((dst[0],), (dst[1],)), -128, 127)
        table = Tensor("t", (256,), DType.INT8, None, data)
        yield r.case(function, "table", TableAttrs(), [x, table], dst, function=function)


def _softmax(r: Recorder) -> Iterator[Case]:
    yield r.case("rows of 7", "softmax", SoftmaxAttrs(), [act((3, 7), 0.0309, 5)], UNIT)
    yield r.case("a row of 21", "softmax", SoftmaxAttrs(), [act((1, 21), 0.008, 0)], UNIT)
    yield r.case("another output scale", "softmax", SoftmaxAttrs(), [act((2, 1, 5), 0.01, 0)], (0.004, -100))


def _max_pool2d(r: Recorder) -> Iterator[Case]:
    x, q = act((1, 5, 5, 5), 0.1, 3), (0.1, 3)
    yield r.case("2x2", "max_pool2d", MaxPool2dAttrs((2, 2), (2, 2)), [x], q)
    yield r.case("3x3, padded", "max_pool2d", MaxPool2dAttrs((3, 3), (2, 2), padding=(1, 1, 1, 1)), [x], q)
    yield r.case("3x2, dilated", "max_pool2d", MaxPool2dAttrs((3, 2), (1, 2), (2, 1)), [x], q)


def _avg_pool2d(r: Recorder) -> Iterator[Case]:
    x, q, pad = act((1, 5, 5, 5), 0.1013, 3), (0.0587, -3), (1, 1, 1, 1)
    yield r.case("global", "avg_pool2d", AvgPool2dAttrs((5, 5), (5, 5)), [x], (0.0191, 0))
    yield r.case("padding counts", "avg_pool2d", AvgPool2dAttrs((3, 3), (2, 2), pad, pad), [x], q)
    yield r.case("padding does not count, relu", "avg_pool2d", AvgPool2dAttrs((3, 3), (2, 2), pad, out_min=-3), [x], q)
    yield r.case("another divisor", "avg_pool2d", AvgPool2dAttrs((2, 2), (1, 2), divisor=3), [x], (0.11, 0))


def _concat(r: Recorder) -> Iterator[Case]:
    a, b = act((2, 1, 3), 0.1, 3, "a"), act((2, 2, 3), 0.1, 3, "b")
    yield r.case("two along the middle", "concat", ConcatAttrs(1), [a, b], (0.1, 3))
    other, fixed = act((2, 1, 4), 0.17, -8, "b"), _constant(r.int8(2, 1, 2), 0.1, 3, "c")
    yield r.case("another scale, a constant", "concat", ConcatAttrs(2), [a, other, fixed], (0.1, 3))


def _pad(r: Recorder) -> Iterator[Case]:
    x, q = act((1, 3, 2, 3), 0.1, 3), (0.1, 3)
    yield r.case("zeros", "pad", PadAttrs(((0, 0), (1, 2), (0, 1), (0, 0))), [x], q)
    yield r.case("a value, and a crop", "pad", PadAttrs(((0, 1), (-1, 0), (1, 0), (2, -1)), 1.5), [x], q)


def _permute(r: Recorder) -> Iterator[Case]:
    for permutation in ((0, 3, 1, 2), (0, 2, 3, 1), (2, 0, 1, 3)):
        x = act((2, 3, 5, 4), 0.1, 3)
        yield r.case(str(permutation), "permute", PermuteAttrs(permutation), [x], (0.1, 3))
    real = Tensor("x", (2, 3, 4), DType.FLOAT32)
    data = r.rng.integers(-1000, 1000, (2, 3, 4)) / np.float32(8)
    yield r.case("float32", "permute", PermuteAttrs((2, 0, 1)), [real], None, [data.astype(np.float32)])


def _copy(r: Recorder) -> Iterator[Case]:
    yield r.case("int8", "copy", CopyAttrs(), [act((3, 7), 0.1, 3)], (0.1, 3))


def _reshape(r: Recorder) -> Iterator[Case]:
    yield r.case("a flatten", "reshape", ReshapeAttrs((2, 12)), [act((2, 2, 3, 2), 0.1, 3)], (0.1, 3))


def _quantize(r: Recorder) -> Iterator[Case]:
    q = (0.1, 3)
    data = (r.rng.standard_normal((4, 8)) * 8).astype(np.float32)
    yield r.case("numbers", "quantize", QuantizeAttrs(), [Tensor("x", (4, 8), DType.FLOAT32)], q, [data])
    corners = [np.nan, np.inf, -np.inf, 0.0, 1e-45, 3e38, -3e38, 0.25, 0.75, -0.25, -0.75, 1.25, 63.25, -64.25, -0.0]
    odd = np.array(corners, np.float32)
    x = Tensor("x", odd.shape, DType.FLOAT32)
    yield r.case("halves go to the even one; NaN, infinities", "quantize", QuantizeAttrs(), [x], (0.5, 0), [odd])


def _dequantize(r: Recorder) -> Iterator[Case]:
    yield r.case("numbers", "dequantize", DequantizeAttrs(), [act((3, 7), 0.1, 3)], None)


CASES: dict[str, Callable[[Recorder], Iterator[Case]]] = {
    "add": _add,
    "avg_pool2d": _avg_pool2d,
    "concat": _concat,
    "conv2d": _conv2d,
    "copy": _copy,
    "depthwise_conv2d": _depthwise,
    "dequantize": _dequantize,
    "linear": _linear,
    "max_pool2d": _max_pool2d,
    "mul": _mul,
    "pad": _pad,
    "permute": _permute,
    "quantize": _quantize,
    "reshape": _reshape,
    "softmax": _softmax,
    "table": _table,
}


def record(kind: str) -> None:
    """Writes the file of one operator: of the first seed with which it can tell the integer arithmetic from rounded reals."""
    from tests.golden.test_golden import TELLS, telling

    for seed in range(10_000):
        cases = list(CASES[kind](Recorder(seed)))
        if kind not in TELLS or telling(cases) > 0:
            path_of(kind).write_text(dump(cases), encoding="utf-8")
            return
    raise SystemExit(f"{kind}: no seed tells")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or KINDS:
        record(wanted)
