"""Moves dequantize down, clamps and quantize up through operators that only move values, so that those run on int8."""

from __future__ import annotations

from rushlight.graph import Graph, Op
from rushlight.ops.base import operator
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.quantize import QuantizeAttrs
from rushlight.passes.constants import moved_qparams
from rushlight.passes.edit import Editor


def sink_dequantize(graph: Graph) -> Graph:
    """Before: ``reshape(dequantize(x))``. After: ``dequantize(reshape(x))``, the reshape on int8."""
    edit = Editor(graph)
    for op in graph.ops:
        op = edit.ops[edit.index_of_output(op.outputs[0])]
        if not operator(op.kind).moves_values:
            continue
        source = edit.producer(op.inputs[0])
        if source is None or source.kind != "dequantize":
            continue
        at = edit.index(op)
        x = edit.tensors[source.inputs[0]]
        moved = edit.insert(at, op.kind, [x.name], op.attrs, op.source, f"{op.outputs[0]}_q", x.qparams)
        qparams = moved_qparams(edit.ops[at], Graph("", edit.tensors, (), (), ()))
        if qparams is None:
            edit.remove(edit.ops[at])
            continue
        edit.tensors[moved] = type(x)(moved, edit.tensors[moved].shape, x.dtype, qparams)
        real = edit.insert(at + 1, "dequantize", [moved], DequantizeAttrs(), op.source, f"{op.outputs[0]}_dq")
        edit.replace_uses(op.outputs[0], real)
    return edit.finish()


def hoist_clamps(graph: Graph) -> Graph:
    """Before: ``relu(permute(conv2d(x)))``. After: ``permute(relu(conv2d(x)))``, so that the relu can be fused."""
    edit = Editor(graph)
    for planned in graph.ops:
        if operator(planned.kind).clamp_bounds(planned.attrs) is None:
            continue
        op = edit.producer(planned.outputs[0])
        if op is None:
            continue
        chain: list[Op] = []
        source = edit.producer(op.inputs[0])
        while source is not None and operator(source.kind).moves_values and len(edit.consumers(source.outputs[0])) == 1:
            chain.append(source)
            source = edit.producer(source.inputs[0])
        if not chain or source is None or source.kind == "dequantize":
            continue
        at = edit.index(op)
        name = edit.insert(at, op.kind, [chain[-1].inputs[0]], op.attrs, op.source, f"{op.outputs[0]}_up")
        for mover in reversed(chain):
            at += 1
            name = edit.insert(at, mover.kind, [name], mover.attrs, mover.source, f"{mover.outputs[0]}_down")
        edit.replace_uses(op.outputs[0], name)
        edit.drop_dead()
    return edit.finish()


def hoist_quantize(graph: Graph) -> Graph:
    """Before: ``quantize(permute(x))``, x float and not dequantised. After: ``permute(quantize(x))``."""
    edit = Editor(graph)
    for op in reversed(graph.ops):
        if not operator(op.kind).moves_values or op.outputs[0] in edit.outputs:
            continue
        source = edit.producer(op.inputs[0])
        users = edit.consumers(op.outputs[0])
        if (source is not None and source.kind == "dequantize") or not users:
            continue
        if any(u.kind != "quantize" for u in users):
            continue
        wanted = {edit.tensors[u.outputs[0]].q for u in users}
        if len(wanted) != 1:
            continue
        op = edit.ops[edit.index_of_output(op.outputs[0])]
        at = edit.index(op)
        q = wanted.pop()
        x8 = edit.insert(at, "quantize", [op.inputs[0]], QuantizeAttrs(), op.source, f"{op.inputs[0]}_q", q)
        moved = edit.insert(at + 1, op.kind, [x8], op.attrs, op.source, f"{op.outputs[0]}_q", q)
        for user in users:
            edit.replace_uses(user.outputs[0], moved)
        edit.drop_dead()
    return edit.finish()
