"""Layout: moves permutes down through the graph until they cancel, fold into weights, or move nothing.

The importer wraps each windowed operator in a permute to NHWC and one back. What is left after this pass is a real copy,
and is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rushlight.graph import Graph, Note, Op, Tensor
from rushlight.ops.base import operator, product
from rushlight.ops.permute import PermuteAttrs
from rushlight.ops.reshape import ReshapeAttrs
from rushlight.passes.edit import Editor


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(permutation))


def moves_nothing(shape: Sequence[int], permutation: Sequence[int]) -> bool:
    """True where only dimensions of size 1 change place, so that the bytes stay as they are."""
    kept = [axis for axis in permutation if shape[axis] != 1]
    return kept == sorted(kept)


def _permute_before(edit: Editor, name: str) -> Op | None:
    source = edit.producer(name)
    return source if source is not None and source.kind == "permute" else None


def _compose(edit: Editor, op: Op) -> bool:
    """``permute(permute(x))`` → one permute, or x."""
    if op.kind != "permute":
        return False
    first = _permute_before(edit, op.inputs[0])
    identity = tuple(range(len(op.attrs.permutation)))
    if op.attrs.permutation == identity:
        edit.replace_uses(op.outputs[0], op.inputs[0])
        edit.remove(op)
        return True
    if first is None:
        return False
    together = tuple(first.attrs.permutation[i] for i in op.attrs.permutation)
    at = edit.index(op)
    y = edit.tensors[op.outputs[0]]
    new = first.inputs[0]
    if together != identity:
        new = edit.insert(at, "permute", [new], PermuteAttrs(together), op.source, y.name, y.qparams)
    edit.replace_uses(y.name, new)
    edit.remove_writer(y.name)
    return True


def _simplify_reshape(edit: Editor, op: Op) -> bool:
    """``reshape(reshape(x))`` → one; a reshape to the same shape → nothing."""
    if op.kind != "reshape":
        return False
    x, y = edit.tensors[op.inputs[0]], edit.tensors[op.outputs[0]]
    if x.shape == y.shape:
        edit.replace_uses(y.name, x.name)
        edit.remove(op)
        return True
    source = edit.producer(x.name)
    if source is None or source.kind != "reshape":
        return False
    edit.ops[edit.index(op)] = replace(op, inputs=source.inputs)
    return True


def _as_reshape(edit: Editor, op: Op) -> bool:
    """A permute that moves no byte → reshape."""
    if op.kind != "permute" or not moves_nothing(edit.tensors[op.inputs[0]].shape, op.attrs.permutation):
        return False
    edit.ops[edit.index(op)] = replace(op, kind="reshape", attrs=ReshapeAttrs(edit.tensors[op.outputs[0]].shape))
    return True


def _unpermuted(edit: Editor, at: int, op: Op, name: str, permutation: tuple[int, ...]) -> tuple[str, int] | None:
    """``name`` as it is before ``permutation``: its permute's input, or the tensor itself turned back where that is free.

    Returns the name and how many operators were inserted before ``at``. Operands of lower rank are broadcast, so they are
    first given all dimensions.
    """
    source = _permute_before(edit, name)
    if source is not None and source.attrs.permutation == permutation:
        return source.inputs[0], 0
    t = edit.tensors[name]
    shape = (1,) * (len(permutation) - len(t.shape)) + t.shape
    back = inverse(permutation)
    if t.data is not None:
        if t.qparams is not None and not t.qparams.per_tensor:
            return None
        data = np.ascontiguousarray(t.data.reshape(shape).transpose(back))
        return edit.constant(data, f"{name}_nhwc", t.qparams), 0
    if len(shape) != len(permutation) or not moves_nothing(shape, back):
        return None
    target = tuple(shape[i] for i in back)
    return edit.insert(at, "reshape", [name], ReshapeAttrs(target), op.source, f"{name}_nhwc", t.qparams), 1


def _sink(edit: Editor, op: Op) -> bool:
    """``op(permute(x))`` → ``permute(op(x))`` where the operator allows; constants and small operands are turned back."""
    if op.kind in ("permute", "reshape", "quantize", "dequantize"):
        return False
    y = edit.tensors[op.outputs[0]]
    permutes = [p for p in (_permute_before(edit, n) for n in op.inputs) if p is not None]
    if not permutes or len(permutes[0].attrs.permutation) != len(y.shape):
        return False
    permutation = permutes[0].attrs.permutation
    here = Graph("", edit.tensors, (), (), ())
    attrs = operator(op.kind).permuted(op, here, permutation)
    if attrs is None:
        return False
    at = edit.index(op)
    names: list[str] = []
    data_inputs = 1 if operator(op.kind).elementwise else len(op.inputs)
    for i, name in enumerate(op.inputs):
        if i >= data_inputs:
            names.append(name)
            continue
        found = _unpermuted(edit, at, op, name, permutation)
        if found is None:
            return False
        names.append(found[0])
        at += found[1]
    inner = edit.insert(at, op.kind, names, attrs, op.source, f"{y.name}_nhwc", y.qparams)
    outer = edit.insert(at + 1, "permute", [inner], PermuteAttrs(permutation), op.source, f"{y.name}_p", y.qparams)
    edit.replace_uses(y.name, outer)
    edit.remove_writer(y.name)
    return True


def _absorb_order(edit: Editor, op: Op) -> bool:
    """``linear(reshape(permute(x)))``: the weight's columns take the order of the unpermuted input instead."""
    reshape = edit.producer(op.inputs[0]) if op.inputs else None
    if reshape is None or reshape.kind != "reshape":
        return False
    permute = _permute_before(edit, reshape.inputs[0])
    if permute is None:
        return False
    x, flat = edit.tensors[permute.inputs[0]], edit.tensors[reshape.outputs[0]]
    permutation = permute.attrs.permutation
    features = product(flat.shape[-1:])
    if permutation[0] != 0 or product(x.shape[1:]) != features or x.shape[0] * features != flat.elements:
        return False
    inner = tuple(p - 1 for p in permutation[1:])
    # position in x's own order of each feature that the operator reads now
    order = np.arange(features).reshape(x.shape[1:]).transpose(inner).ravel()
    if np.array_equal(order, np.arange(features)):
        return False  # the permute moves nothing
    changed = operator(op.kind).reordered(op, Graph("", edit.tensors, (), (), ()), np.argsort(order))
    if changed is None:
        return False
    at = edit.index(op)
    names = list(op.inputs)
    for i, data in changed.items():
        names[i] = edit.constant(data, f"{op.inputs[i]}_nhwc", edit.tensors[op.inputs[i]].qparams)
    hint = f"{flat.name}_nhwc"
    names[0] = edit.insert(at, "reshape", [x.name], ReshapeAttrs(flat.shape), reshape.source, hint, flat.qparams)
    edit.ops[at + 1] = replace(op, inputs=tuple(names))
    edit.notes.append(Note("layout", str(op.source), "the weight's columns were put in NHWC order; no copy is made"))
    return True


RULES: tuple[Callable[[Editor, Op], bool], ...] = (_compose, _simplify_reshape, _sink, _absorb_order)


def _apply(edit: Editor, rules: Sequence[Callable[[Editor, Op], bool]]) -> bool:
    for op in list(edit.ops):
        for rule in rules:
            if rule(edit, op):
                return True
    return False


def move_permutes(graph: Graph) -> Graph:
    """Before: ``conv2d(permute(relu(permute(conv2d(x)))))`` with inverse permutes. After: ``conv2d(relu(conv2d(x)))``."""
    edit = Editor(graph)
    limit = 50 * (len(graph.ops) + 10)
    for _ in range(limit):
        if not _apply(edit, RULES) and not _apply(edit, (_as_reshape,)):
            break
        edit = Editor(edit.finish())
    else:
        raise AssertionError("layout rules do not come to an end")
    return edit.finish()


def note_copies(graph: Graph) -> Graph:
    """Tells the user of each permute that is left; several alike in one place are one note with their number."""
    places = Counter((str(op.source), _told(op, graph)) for op in graph.ops if op.kind == "permute")
    return graph.with_notes(
        Note("copy", where, what if count == 1 else f"{what}, {count} times") for (where, what), count in places.items()
    )


def _told(op: Op, graph: Graph) -> str:
    return f"{_shape(graph.ins(op)[0])} is copied to permuted order {op.attrs.permutation}"


def _shape(x: Tensor) -> str:
    return f"{x.dtype}{list(x.shape)}"
