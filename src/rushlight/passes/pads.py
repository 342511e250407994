"""Merges constant padding into the windowed operator behind it."""

from __future__ import annotations

from dataclasses import replace

from rushlight.graph import Graph
from rushlight.ops.base import operator
from rushlight.passes.edit import Editor


def merge_pads(graph: Graph) -> Graph:
    """Before: ``conv2d(pad(x))`` with padding of real 0 in height and width. After: ``conv2d(x)`` with that padding added."""
    edit = Editor(graph)
    for planned in graph.ops:
        op = edit.ops[edit.index_of_output(planned.outputs[0])]
        if not operator(op.kind).absorbs_pad:
            continue
        pad = edit.producer(op.inputs[0])
        if pad is None or pad.kind != "pad":
            continue
        x, padded = edit.tensors[pad.inputs[0]], edit.tensors[pad.outputs[0]]
        pads = pad.attrs.pads
        inside = len(pads) == 4 and pads[0] == (0, 0) and pads[3] == (0, 0) and min(min(p) for p in pads) >= 0
        if not inside or pad.attrs.fill != padded.q.z or not x.q.same_mapping(padded.q):
            continue
        (top, bottom), (left, right) = pads[1], pads[2]
        old = op.attrs.padding
        attrs = replace(op.attrs, padding=(old[0] + top, old[1] + bottom, old[2] + left, old[3] + right))
        edit.ops[edit.index(op)] = replace(op, attrs=attrs, inputs=(x.name, *op.inputs[1:]))
    return edit.finish()
