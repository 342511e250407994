"""reshape: the same bytes under another shape. No call on the chip: the output is the input's buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    Array,
    AtenNode,
    AtenRule,
    ImportContext,
    Operator,
    product,
    register,
    spec,
)
from rushlight.ops.common.channels import ChannelUse, Tie, channels_of


@dataclass(frozen=True)
class ReshapeAttrs:
    """The output's shape, without -1."""

    shape: tuple[int, ...]


def _lower(ctx: ImportContext, node: AtenNode) -> str:
    return ctx.reshape(node["self"], node.out_shapes[0])


@register
class Reshape(Operator):
    """Any dtype; the element count stays."""

    kind = "reshape"
    moves_values = True
    view = True
    aten = (
        AtenRule(
            (
                "view.default",
                "reshape.default",
                "flatten.using_ints",
                "unflatten.int",
                "squeeze.default",
                "squeeze.dim",
                "squeeze.dims",
                "unsqueeze.default",
            ),
            _lower,
            Annotation(("self",), output="same"),
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        if product(attrs.shape) != inputs[0].elements:
            raise ValueError(f"{list(inputs[0].shape)} cannot be viewed as {list(attrs.shape)}")
        return spec(attrs.shape, inputs[0].dtype)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        return [inputs[0].reshape(op.attrs.shape)]

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        inputs, outputs = channels_of(graph.ins(op)[0]), channels_of(graph.outs(op)[0])
        if (inputs % outputs and outputs % inputs) or not op.attrs.shape:
            return None
        # Flattening [H, W, C] gives each channel H·W places in a row of features; the way back takes them together.
        every = np.arange(max(inputs, outputs))
        tie = Tie(0, every % inputs, every % outputs)
        return ChannelUse((tie,), attrs=lambda kept: ReshapeAttrs((*op.attrs.shape[:-1], kept)))
