"""Checks that a graph is sound: run after each pass, so that a broken graph names the pass that broke it."""

from __future__ import annotations

from rushlight.errors import UnsupportedError
from rushlight.graph import Graph
from rushlight.ops.base import REGISTRY


class GraphError(Exception):
    """A pass left an unsound graph: a fault of the compiler, not of the user's model."""


def verify(graph: Graph, after: str) -> Graph:
    """Returns the graph unchanged; GraphError names ``after`` (the pass) and the operator at fault."""

    def fail(what: str) -> GraphError:
        return GraphError(f"after {after}: {what}")

    known = {name for name, tensor in graph.tensors.items() if tensor.constant} | set(graph.inputs)
    for name, tensor in graph.tensors.items():
        if tensor.name != name:
            raise fail(f"tensor {tensor.name} is filed under {name}")
        if tensor.data is not None and (tensor.data.shape != tensor.shape or tensor.data.dtype != tensor.dtype.value):
            raise fail(
                f"constant {name} holds {tensor.data.dtype}{tensor.data.shape}, not {tensor.dtype}{tensor.shape}"
            )
    for op in graph.ops:
        if op.kind not in REGISTRY:
            raise fail(f"operator {op.name} is of unknown kind {op.kind}")
        for name in op.inputs:
            if name not in known:
                raise fail(f"operator {op.name} reads {name} before it is written")
        try:
            specs = REGISTRY[op.kind].infer(op.attrs, graph.ins(op))
        except ValueError as error:
            raise fail(f"operator {op.name} ({op.kind}): {error}") from None
        for spec, tensor in zip(specs, graph.outs(op), strict=True):
            if (spec.shape, spec.dtype) != (tensor.shape, tensor.dtype):
                raise fail(f"{op.kind} {tensor.name} is {tensor.dtype}{tensor.shape}, should be {spec}")
            if tensor.name in known:
                raise fail(f"tensor {tensor.name} is written twice")
        known.update(op.outputs)
    for name in graph.outputs:
        if name not in known:
            raise fail(f"output {name} is never written")
    return graph


def check_exact(graph: Graph) -> Graph:
    """Asks every operator whether it can be computed exactly as defined; UnsupportedError lists those that cannot."""
    reasons = []
    for op in graph.ops:
        try:
            REGISTRY[op.kind].check(op, graph)
        except ValueError as error:
            reasons.append(f"{op.kind} {op.source}: {error}; calibrate with data like the model's real inputs")
    if reasons:
        raise UnsupportedError(reasons)
    return graph
