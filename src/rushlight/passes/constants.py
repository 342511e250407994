"""Constants: fold what is known when compiling, merge what is computed twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushlight.graph import Graph, Op, QParams, Tensor
from rushlight.ops.base import Array, operator
from rushlight.passes.edit import Editor


def moved_qparams(op: Op, graph: Graph) -> QParams | None:
    """Quantisation of the output of an operator that only moves values; None where a per-channel axis is torn apart.

    The axis is found by moving the channel numbers themselves.
    """
    x = graph.ins(op)[0]
    q = x.qparams
    if q is None or q.per_tensor or q.axis is None:
        return q
    shape = [1] * len(x.shape)
    shape[q.axis] = x.shape[q.axis]
    labels = np.broadcast_to(np.arange(x.shape[q.axis], dtype=np.int32).reshape(shape), x.shape)
    moved: Array = operator(op.kind).reference(op, graph, [labels])[0]
    for axis, size in enumerate(moved.shape):
        view = [1] * moved.ndim
        view[axis] = size
        if size == len(q.scale) and np.array_equal(moved, np.broadcast_to(np.arange(size).reshape(view), moved.shape)):
            return replace(q, axis=axis)
    return None


def fold_constants(graph: Graph) -> Graph:
    """Evaluates operators that only move values of constants.

    Before: ``w2 = permute(w)`` with constant ``w``. After: constant ``w2``.
    """
    edit = Editor(graph)
    for op in graph.ops:
        x = edit.tensors[op.inputs[0]]
        if not operator(op.kind).moves_values or x.data is None:
            continue
        here = replace(graph, tensors=edit.tensors)
        y = edit.tensors[op.outputs[0]]
        data = np.ascontiguousarray(operator(op.kind).reference(op, here, [x.data])[0])
        edit.tensors[y.name] = Tensor(y.name, y.shape, x.dtype, y.qparams or moved_qparams(op, here), data)
        edit.remove(op)
    return edit.finish()


def merge_equal(graph: Graph) -> Graph:
    """Merges operators that compute the same from the same.

    Before: ``a = permute(x); b = permute(x)``. After: one of them, read by both users.
    """
    edit = Editor(graph)
    seen: dict[object, str] = {}
    for op in graph.ops:
        op = edit.ops[edit.index_of_output(op.outputs[0])]
        y = edit.tensors[op.outputs[0]]
        key = (op.kind, op.inputs, op.attrs, y.qparams)
        if key not in seen:
            seen[key] = y.name
            continue
        edit.replace_uses(y.name, seen[key])
    return edit.finish()
