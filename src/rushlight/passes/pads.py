"""Merges constant padding into the windowed operator behind it."""

from __future__ import annotations

from dataclasses import replace

from rushlight.graph import Graph, Op
from rushlight.ops.base import operator
from rushlight.ops.permute import PermuteAttrs
from rushlight.passes.edit import Editor


def merge_pads(graph: Graph) -> Graph:
    """Takes padding with zeros in height and width into the operator's own, also through a permute to NHWC.

    Before: ``conv2d(permute(pad(x)))``. After: ``conv2d(permute(x))`` with that padding added.
    """
    edit = Editor(graph)
    for planned in graph.ops:
        op = edit.ops[edit.index_of_output(planned.outputs[0])]
        if operator(op.kind).absorbs_pad:
            _merge(edit, op)
    return edit.finish()


def _merge(edit: Editor, op: Op) -> None:
    permute = edit.producer(op.inputs[0])
    if permute is not None and permute.kind != "permute":
        permute = None
    if permute is not None and not all(operator(u.kind).absorbs_pad for u in edit.consumers(permute.outputs[0])):
        return  # the padded copy is needed anyway
    pad = edit.producer(op.inputs[0] if permute is None else permute.inputs[0])
    if pad is None or pad.kind != "pad" or pad.attrs.value != 0.0:
        return
    order = range(4) if permute is None else permute.attrs.permutation
    pads = [pad.attrs.pads[d] for d in order]
    if pads[0] != (0, 0) or pads[3] != (0, 0) or min(min(p) for p in pads) < 0:
        return
    x, padded = edit.tensors[pad.inputs[0]], edit.tensors[pad.outputs[0]]
    if not x.q.same_mapping(padded.q):
        return
    source = x.name
    if permute is not None:
        attrs = PermuteAttrs(permute.attrs.permutation)
        hint = f"{permute.outputs[0]}_unpadded"
        source = edit.insert(edit.index(permute), "permute", [source], attrs, permute.source, hint, x.qparams)
    (top, bottom), (left, right) = pads[1], pads[2]
    old = op.attrs.padding
    padding = (old[0] + top, old[1] + bottom, old[2] + left, old[3] + right)
    edit.ops[edit.index(op)] = replace(op, attrs=replace(op.attrs, padding=padding), inputs=(source, *op.inputs[1:]))
