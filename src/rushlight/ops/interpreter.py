"""Runs an integer graph with the operators' references: the specification of every compiled program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rushlight.graph import Graph
from rushlight.ops.base import REGISTRY, Array


def run_graph(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Outputs of one run. ``inputs`` match ``graph.inputs`` in order, shape and dtype (checked by assertion only)."""
    values: dict[str, Array] = {name: t.data for name, t in graph.tensors.items() if t.data is not None}
    for name, array in zip(graph.inputs, inputs, strict=True):
        assert array.shape == graph[name].shape and array.dtype == np.dtype(graph[name].dtype), name
        values[name] = array
    for op in graph.ops:
        results = REGISTRY[op.kind].reference(op, graph, [values[n] for n in op.inputs])
        values.update(zip(op.outputs, results, strict=True))
    return [values[name] for name in graph.outputs]
