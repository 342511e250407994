"""copy: the same bytes in another buffer, where a pass needs one (a graph output that is also an input or a view)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.graph import Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import Array, Kernel, Operator, ParamsType, register, spec
from rushlight.ops.common.walks import memcpy

PARAMS = ParamsType("rl_copy_params", (("bytes", "int32_t", 1),))


@dataclass(frozen=True)
class CopyAttrs:
    """Nothing."""


@register
class Copy(Operator):
    """Any shape and dtype; the output has the input's quantisation."""

    kind = "copy"
    moves_values = True
    elementwise = True

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        return spec(inputs[0].shape, inputs[0].dtype)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        return [inputs[0].copy()]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        return memcpy(kernel.params["bytes"], 1, 1)

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        params = {"bytes": graph.ins(op)[0].nbytes}
        return [Kernel("rl_copy_v6m", "v6m", "copy/copy.h", ("copy/v6m.c",), PARAMS, params)]
