"""Float and integer graphs written in a few lines, and graphs told as nested expressions, for the tests of passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, QParams, Source, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.clamp import ClampAttrs
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.permute import PermuteAttrs
from rushlight.ops.quantize import QuantizeAttrs
from rushlight.ops.reshape import ReshapeAttrs
from rushlight.ops.table import TableAttrs

Q = QParams((0.05,), (3,))
TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


class Sketch:
    """Each method appends an operator (shape and dtype by its shape rule) and returns its output's name."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.tensors: dict[str, Tensor] = {}
        self.ops: list[Op] = []
        self.inputs: list[str] = []

    def input(self, name: str, *shape: int, q: QParams | None = None) -> str:
        """float32, or int8 where ``q`` is given."""
        self.tensors[name] = Tensor(name, shape, DType.FLOAT32 if q is None else DType.INT8, q)
        self.inputs.append(name)
        return name

    def const(self, name: str, data: Array, q: QParams | None = None) -> str:
        self.tensors[name] = Tensor(name, data.shape, DType(str(data.dtype)), q, data)
        return name

    def op(self, kind: str, inputs: Sequence[str], attrs: Any, name: str, q: QParams | None = None) -> str:
        spec = operator(kind).infer(attrs, [self.tensors[n] for n in inputs])[0]
        self.tensors[name] = Tensor(name, spec.shape, spec.dtype, q)
        self.ops.append(Op(kind, name, tuple(inputs), (name,), attrs, Source(name, "model.py", len(self.ops) + 1)))
        return name

    def quantize(self, x: str, name: str, q: QParams = Q) -> str:
        return self.op("quantize", [x], QuantizeAttrs(), name, q)

    def dequantize(self, x: str, name: str) -> str:
        return self.op("dequantize", [x], DequantizeAttrs(), name)

    def permute(self, x: str, permutation: Sequence[int], name: str) -> str:
        return self.op("permute", [x], PermuteAttrs(tuple(permutation)), name, self._kept(x))

    def reshape(self, x: str, shape: Sequence[int], name: str) -> str:
        return self.op("reshape", [x], ReshapeAttrs(tuple(shape)), name, self._kept(x))

    def clamp(self, x: str, low: float, high: float, name: str) -> str:
        return self.op("clamp", [x], ClampAttrs(low, high), name)

    def table(self, x: str, name: str, q: QParams = Q) -> str:
        """An arbitrary function of each integer."""
        entries = self.rng.integers(-128, 128, 256).astype(np.int8)
        return self.op("table", [x, self.const(f"{name}_t", entries)], TableAttrs(), name, q)

    def conv2d(self, x: str, channels: int, kernel: int, name: str, q: QParams = Q, padding: int = 0) -> str:
        """Of an int8 NHWC tensor."""
        t = self.tensors[x]
        shape = (channels, kernel, kernel, t.shape[3])
        w = self._weight(name, shape)
        b = self._bias(name, channels, t)
        attrs = Conv2dAttrs((kernel, kernel), padding=(padding,) * 4)
        return self.op("conv2d", [x, w, b], attrs, name, q)

    def linear(self, x: str, features: int, name: str, q: QParams = Q) -> str:
        """Of an int8 tensor."""
        t = self.tensors[x]
        w = self._weight(name, (features, t.shape[-1]))
        return self.op("linear", [x, w, self._bias(name, features, t)], LinearAttrs(), name, q)

    def _kept(self, x: str) -> QParams | None:
        """The quantisation behind an operator that only moves values; that of channels is left to the passes."""
        q = self.tensors[x].qparams
        return q if q is not None and q.per_tensor else None

    def _weight(self, name: str, shape: tuple[int, ...]) -> str:
        q = QParams((0.01,) * shape[0], (0,) * shape[0], 0)
        return self.const(f"{name}_w", self.rng.integers(-127, 128, shape).astype(np.int8), q)

    def _bias(self, name: str, channels: int, x: Tensor) -> str:
        q = QParams((0.01 * x.q.s,) * channels, (0,) * channels, 0)
        return self.const(f"{name}_b", self.rng.integers(-999, 999, channels).astype(np.int32), q)

    def graph(self, *outputs: str) -> Graph:
        return Graph("net", self.tensors, tuple(self.ops), tuple(self.inputs), outputs)


def told(graph: Graph, output: int = 0) -> str:
    """An output as a nested expression of operators on inputs; constants are left out: ``conv2d(permute(x))``."""
    producers = graph.producers()

    def tell(name: str) -> str:
        op = producers.get(name)
        if op is None:
            return name if graph[name].data is None else "const"
        told_inputs = [tell(n) for n in op.inputs if graph[n].data is None]
        return f"{op.kind}({', '.join(told_inputs or ['const'])})"

    return tell(graph.outputs[output])


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


def random_inputs(graph: Graph, seed: int = 0) -> list[Array]:
    """Integers over all of int8, floats about as wide as ``Q``'s range."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for name in graph.inputs:
        t = graph[name]
        if t.dtype is DType.INT8:
            arrays.append(rng.integers(-128, 128, t.shape).astype(np.int8))
        else:
            arrays.append((rng.standard_normal(t.shape) * 3).astype(np.float32))
    return arrays
