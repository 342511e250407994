"""Composes table look-ups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushlight.graph import Graph
from rushlight.passes.edit import Editor


def compose_tables(graph: Graph) -> Graph:
    """Before: ``table(table(x, f), g)``, the inner result read by nothing else. After: ``table(x, g∘f)``, the same integers."""
    edit = Editor(graph)
    for planned in graph.ops:
        if planned.kind != "table":
            continue
        op = edit.ops[edit.index_of_output(planned.outputs[0])]
        inner = edit.producer(op.inputs[0])
        if inner is None or inner.kind != "table" or inner.outputs[0] in edit.outputs:
            continue
        if len(edit.consumers(inner.outputs[0])) != 1:
            continue
        f, g = edit.tensors[inner.inputs[1]].data, edit.tensors[op.inputs[1]].data
        assert f is not None and g is not None
        both = edit.constant(np.ascontiguousarray(g[f.astype(np.int64) + 128]), f"{op.outputs[0]}_table")
        edit.ops[edit.index(op)] = replace(op, inputs=(inner.inputs[0], both), source=inner.source)
        edit.remove(inner)
    return edit.finish()
