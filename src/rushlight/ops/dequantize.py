"""dequantize: int8 to float32 at the program's edge. y = (x - zero_point) · scale, one float32 product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import Array, Kernel, Operator, ParamsType, register, spec

PARAMS = ParamsType(
    "rl_dequantize_params", (("count", "int32_t", 1), ("scale", "float", 1), ("zero_point", "int32_t", 1))
)


@dataclass(frozen=True)
class DequantizeAttrs:
    """Nothing: the input tensor carries scale and zero point."""


@register
class Dequantize(Operator):
    """Input int8, output float32 of the same shape."""

    kind = "dequantize"
    elementwise = True

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        if inputs[0].qparams is None:
            raise ValueError("input is not quantised")
        return spec(inputs[0].shape, DType.FLOAT32)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        q = graph.ins(op)[0].q
        return [(inputs[0].astype(np.int32) - q.z).astype(np.float32) * np.float32(q.s)]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        return {"calls": 1.0, "values": float(kernel.params["count"])}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x = graph.ins(op)[0]
        params = {"count": x.elements, "scale": np.float32(x.q.s), "zero_point": x.q.z}
        return [Kernel("rl_dequantize_s8_v6m", "v6m", "dequantize/dequantize.h", ("dequantize/v6m.c",), PARAMS, params)]
