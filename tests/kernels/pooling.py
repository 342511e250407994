"""Runs what a pooling rule emits: the operator with the moves of axes before and behind it."""

from __future__ import annotations

from dataclasses import replace

from rushlight.graph import Graph, QParams
from rushlight.ops.base import Array
from rushlight.ops.interpreter import run_graph
from tests.kernels.building import Context


def run_lowered(context: Context, name: str, data: Array, x: QParams, y: QParams) -> Array:
    """The result for int8 data as tensor "x", which has quantisation ``x`` up to the one operator that computes, then ``y``."""
    tensors, q = dict(context.tensors), x
    tensors["x"] = replace(tensors["x"], qparams=q)
    for op in context.ops:
        q = q if op.kind in ("permute", "reshape") else y
        tensors[op.outputs[0]] = replace(tensors[op.outputs[0]], qparams=q)
    return run_graph(Graph("lowered", tensors, tuple(context.ops), ("x",), (name,)), [data])[0]
