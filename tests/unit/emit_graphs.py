"""Small integer graphs, built by hand, for the tests of scheduling, emission and reports."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushlight.graph import DType, Graph, Note, Op, QParams, Source, Tensor
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.quantize import QuantizeAttrs
from rushlight.ops.reshape import ReshapeAttrs
from rushlight.ops.table import TableAttrs


class Builder:
    """Appends operators; each method returns the output's name."""

    def __init__(self, name: str = "net", seed: int = 0) -> None:
        self.name = name
        self.rng = np.random.default_rng(seed)
        self.tensors: dict[str, Tensor] = {}
        self.ops: list[Op] = []
        self.inputs: list[str] = []

    def input(self, name: str, shape: Sequence[int], dtype: DType = DType.FLOAT32) -> str:
        qparams = QParams((0.05,), (3,)) if dtype is DType.INT8 else None
        self.tensors[name] = Tensor(name, tuple(shape), dtype, qparams)
        self.inputs.append(name)
        return name

    def _op(self, kind: str, inputs: Sequence[str], out: Tensor, attrs: object, source: Source | None = None) -> str:
        self.tensors[out.name] = out
        self.ops.append(Op(kind, f"{out.name}_op", tuple(inputs), (out.name,), attrs, source or Source(out.name)))
        return out.name

    def quantize(self, x: str, name: str) -> str:
        out = Tensor(name, self.tensors[x].shape, DType.INT8, QParams((0.05,), (3,)))
        return self._op("quantize", [x], out, QuantizeAttrs())

    def dequantize(self, x: str, name: str) -> str:
        return self._op("dequantize", [x], Tensor(name, self.tensors[x].shape, DType.FLOAT32), DequantizeAttrs())

    def reshape(self, x: str, shape: Sequence[int], name: str) -> str:
        t = self.tensors[x]
        return self._op("reshape", [x], Tensor(name, tuple(shape), t.dtype, t.qparams), ReshapeAttrs(tuple(shape)))

    def table(self, x: str, name: str) -> str:
        """An arbitrary function of each integer: a kernel that may write over its input."""
        entries = self.rng.integers(-128, 128, 256).astype(np.int8)
        self.tensors[f"{name}.entries"] = Tensor(f"{name}.entries", (256,), DType.INT8, None, entries)
        out = Tensor(name, self.tensors[x].shape, DType.INT8, QParams((0.1,), (-5,)))
        return self._op("table", [x, f"{name}.entries"], out, TableAttrs())

    def conv2d(self, x: str, channels: int, kernel: int, name: str) -> str:
        """Square kernel, stride 1, same padding; NHWC."""
        t, pad = self.tensors[x], kernel // 2
        shape = (channels, kernel, kernel, t.shape[3])
        scales, zeros = (0.004,) * channels, (0,) * channels
        w = self.rng.integers(-127, 128, shape).astype(np.int8)
        b = self.rng.integers(-2000, 2000, channels).astype(np.int32)
        self.tensors[f"{name}.weight"] = Tensor(f"{name}.weight", shape, DType.INT8, QParams(scales, zeros, 0), w)
        bias = Tensor(f"{name}.bias", b.shape, DType.INT32, QParams(tuple(s * t.q.s for s in scales), zeros, 0), b)
        self.tensors[f"{name}.bias"] = bias
        out = Tensor(name, (*t.shape[:3], channels), DType.INT8, QParams((0.1,), (-5,)))
        attrs = Conv2dAttrs((kernel, kernel), padding=(pad, pad, pad, pad))
        return self._op("conv2d", [x, f"{name}.weight", f"{name}.bias"], out, attrs)

    def linear(self, x: str, features: int, name: str, source: Source | None = None, weights: int | None = None) -> str:
        """``weights`` is a seed: equal seeds give equal weights."""
        rng = self.rng if weights is None else np.random.default_rng(weights)
        t = self.tensors[x]
        depth = t.shape[-1]
        scales = tuple(float(s) for s in rng.uniform(0.002, 0.01, features))
        w = rng.integers(-127, 128, (features, depth)).astype(np.int8)
        b = rng.integers(-2000, 2000, features).astype(np.int32)
        zeros = (0,) * features
        self.tensors[f"{name}.weight"] = Tensor(f"{name}.weight", w.shape, DType.INT8, QParams(scales, zeros, 0), w)
        bias = Tensor(f"{name}.bias", b.shape, DType.INT32, QParams(tuple(s * t.q.s for s in scales), zeros, 0), b)
        self.tensors[f"{name}.bias"] = bias
        out = Tensor(name, (*t.shape[:-1], features), DType.INT8, QParams((0.1,), (-5,)))
        return self._op("linear", [x, f"{name}.weight", f"{name}.bias"], out, LinearAttrs(), source)

    def graph(self, *outputs: str, notes: Sequence[Note] = ()) -> Graph:
        return Graph(self.name, self.tensors, tuple(self.ops), tuple(self.inputs), tuple(outputs), tuple(notes))


def small_net(name: str = "net") -> Graph:
    """float32 [2, 3, 4] → quantize → view [2, 12] → linear 9 → linear 5 → dequantize → float32 [2, 5]."""
    b = Builder(name)
    x = b.quantize(b.input("x", (2, 3, 4)), "x_q")
    h = b.linear(b.reshape(x, (2, 12), "flat"), 9, "fc1", Source("body.fc1", "/home/someone/model.py", 41))
    y = b.dequantize(b.linear(h, 5, "fc2", Source("body.fc2", "/home/someone/model.py", 42)), "y")
    return b.graph(y, notes=[Note("layout", "body.fc1", "flattened without a copy")])
