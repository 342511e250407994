"""A graph as text, for people and for messages."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from rushlight.graph.types import Graph, Tensor


def _attrs(attrs: Any) -> str:
    if attrs is None or not is_dataclass(attrs):
        return ""
    return ", ".join(f"{f.name}={getattr(attrs, f.name)}" for f in fields(attrs))


def format_tensor(tensor: Tensor) -> str:
    """``name: int8[1, 8, 8, 3] scale=0.5 zero_point=-3``; a per-channel scale is shown as its count."""
    text = f"{tensor.name}: {tensor.dtype}{list(tensor.shape)}"
    if tensor.qparams is not None:
        q = tensor.qparams
        text += f" scale={q.s:.6g} zero_point={q.z}" if q.per_tensor else f" {len(q.scale)} scales on axis {q.axis}"
    return text + (" const" if tensor.constant else "")


def format_graph(graph: Graph) -> str:
    """One line a graph input, an operator and an output."""
    lines = [f"graph {graph.name}"]
    lines += [f"  input  {format_tensor(graph[name])}" for name in graph.inputs]
    for op in graph.ops:
        outs = "; ".join(format_tensor(t) for t in graph.outs(op))
        lines.append(f"  {outs} = {op.kind}({', '.join(op.inputs)}; {_attrs(op.attrs)})  # {op.source}")
    lines += [f"  output {name}" for name in graph.outputs]
    return "\n".join(lines)
