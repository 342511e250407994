"""quantize: float32 to int8 at the program's edge. y = clamp(round(x · (1/scale)) + zero_point), halves to even."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import Array, Kernel, Operator, ParamsType, register, spec

PARAMS = ParamsType(
    "rl_quantize_params",
    (
        ("count", "int32_t", 1),
        ("inverse_scale", "float", 1),
        ("low", "float", 1),
        ("high", "float", 1),
        ("zero_point", "int32_t", 1),
    ),
)


@dataclass(frozen=True)
class QuantizeAttrs:
    """Nothing: the output tensor carries scale and zero point."""


def _values(y: Tensor) -> tuple[np.float32, np.float32, np.float32]:
    """1/scale, and the lowest and highest value before rounding (the integers' range less the zero point)."""
    inverse = np.float32(1.0) / np.float32(y.q.s)
    return inverse, np.float32(y.q.qmin - y.q.z), np.float32(y.q.qmax - y.q.z)


@register
class Quantize(Operator):
    """Input float32, output int8 of the same shape."""

    kind = "quantize"
    elementwise = True

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        if inputs[0].dtype is not DType.FLOAT32:
            raise ValueError(f"input is {inputs[0].dtype}, not float32")
        return spec(inputs[0].shape, DType.INT8)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        y = graph.outs(op)[0]
        inverse, low, high = _values(y)
        with np.errstate(over="ignore", invalid="ignore"):
            v = inputs[0].astype(np.float32) * inverse
        # These comparisons send NaN to the lowest value, as the C code does.
        v = np.where(v > low, v, low)
        v = np.where(v < high, v, high)
        return [(np.rint(v).astype(np.int32) + y.q.z).astype(np.int8)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        return {"calls": 1.0, "values": float(kernel.params["count"])}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        y = graph.outs(op)[0]
        inverse, low, high = _values(y)
        params = {"count": y.elements, "inverse_scale": inverse, "low": low, "high": high, "zero_point": y.q.z}
        return [Kernel("rl_quantize_s8_v6m", "v6m", "quantize/quantize.h", ("quantize/v6m.c",), PARAMS, params)]
