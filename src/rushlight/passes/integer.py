"""Makes the float graph with quantize and dequantize operators an integer one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rushlight.errors import RushlightError, UnsupportedError
from rushlight.graph import DType, Graph, Note, Op, QParams, Tensor
from rushlight.ops.base import Array, Operator, operator
from rushlight.ops.common.arith import clamp_range
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.passes.edit import Editor


class _Builder:
    """``IntegerBuilder`` (see ops/base.py) over an editor: new operators go before the one being rewritten."""

    def __init__(self, edit: Editor, op: Op, inputs: list[str], output: QParams, clamp: tuple[float, float]) -> None:
        self.edit, self.op = edit, op
        self.inputs, self.output, self.clamp = inputs, output, clamp
        self.written = ""

    def tensor(self, name: str) -> Tensor:
        return self.edit.tensors[name]

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> None:
        at = self.edit.index_of_output(self.op.outputs[0])
        hint = f"{self.op.outputs[0]}_q"
        self.written = self.edit.insert(at, kind, inputs, attrs, self.op.source, hint, self.output)

    def constant(self, data: Array, hint: str, qparams: QParams | None = None) -> str:
        return self.edit.constant(data, f"{self.op.outputs[0]}_{hint}", qparams)

    def note(self, kind: str, text: str) -> None:
        self.edit.notes.append(Note(kind, str(self.op.source), text))

    def clamp_range(self) -> tuple[int, int]:
        return clamp_range(self.output.s, self.output.z, self.output.qmin, self.output.qmax, self.clamp)


def _integer_inputs(edit: Editor, op: Op) -> list[str] | str:
    """The operator's inputs with dequantised ones replaced by what they were made from, or the reason why not."""
    found: list[str] = []
    for name in op.inputs:
        source = edit.producer(name)
        if source is not None and source.kind == "dequantize":
            found.append(source.inputs[0])
        elif edit.tensors[name].constant or edit.tensors[name].qparams is not None:
            found.append(name)
        elif edit.tensors[name].dtype is DType.FLOAT32:
            return f"its input '{name}' is float32: it is not quantised"
        else:
            return f"its input '{name}' is {edit.tensors[name].dtype} and only float32 is quantised; give the model float32"
    return found


def _fused_clamps(edit: Editor, op: Op) -> tuple[str, tuple[float, float]]:
    """The tensor behind all clamps that can be fused into the operator, and the range they leave."""
    low, high = -math.inf, math.inf
    name = op.outputs[0]
    while operator(op.kind).absorbs_clamp and name not in edit.outputs:
        users = edit.consumers(name)
        bounds = operator(users[0].kind).clamp_bounds(users[0].attrs) if len(users) == 1 else None
        if bounds is None:
            break
        low, high = max(low, bounds[0]), min(high, bounds[1])
        name = users[0].outputs[0]
    return name, (low, high)


def _runs_as_it_is(edit: Editor, op: Op) -> bool:
    """If an operator that gives integers needs no rewriting: it moves them, or what it reads is quantised already."""
    quantized = all(edit.tensors[n].constant or edit.tensors[n].qparams is not None for n in op.inputs)
    return operator(op.kind).moves_values or quantized


def _keeps_range(kind: Operator) -> bool:
    return any(rule.annotation is not None and rule.annotation.output == "same" for rule in kind.aten)


def _rewrite(edit: Editor, op: Op) -> str | None:
    """One float operator to integers; returns the reason where that cannot be."""
    inputs = _integer_inputs(edit, op)
    if isinstance(inputs, str):
        return inputs
    last, clamp = _fused_clamps(edit, op)
    quantizers = [u for u in edit.consumers(last) if u.kind == "quantize"]
    if quantizers:
        output = edit.tensors[quantizers[0].outputs[0]].q
    elif _keeps_range(operator(op.kind)) and edit.tensors[inputs[0]].qparams is not None:
        output = edit.tensors[inputs[0]].q
    else:
        return "its output is not quantised"
    build = _Builder(edit, op, inputs, output, clamp)
    reason = operator(op.kind).integer(build, op)
    if reason is not None:
        return reason
    for quantizer in quantizers:
        if _is_same(edit, quantizer, output):
            edit.replace_uses(quantizer.outputs[0], build.written)
            edit.remove_writer(quantizer.outputs[0])
    if last in edit.outputs or edit.consumers(last):
        at = edit.index_of_output(build.written) + 1
        real = edit.insert(at, "dequantize", [build.written], DequantizeAttrs(), op.source, f"{op.outputs[0]}_dq")
        edit.replace_uses(last, real)
    edit.drop_dead()  # the fused clamps
    return None


def _is_same(edit: Editor, quantizer: Op, output: QParams) -> bool:
    return edit.tensors[quantizer.outputs[0]].q.same_mapping(output)


def _requantize(edit: Editor, op: Op) -> None:
    """quantize of a dequantised tensor: the same tensor, or a table from the one quantisation to the other."""
    from rushlight.ops.table import TableAttrs, requantize_table

    source = edit.producer(op.inputs[0])
    assert source is not None
    x, y = edit.tensors[source.inputs[0]], edit.tensors[op.outputs[0]]
    if x.q.same_mapping(y.q):
        edit.replace_uses(y.name, x.name)
        return
    table = edit.constant(requantize_table(x.q, y.q), f"{y.name}_table")
    at = edit.index_of_output(y.name)
    new = edit.insert(at, "table", [x.name, table], TableAttrs(), op.source, f"{y.name}_rq", y.q)
    edit.notes.append(Note("requantise", str(op.source), "a table maps one quantisation of the same values to another"))
    edit.replace_uses(y.name, new)


def to_integer(graph: Graph) -> Graph:
    """Fuses ``dequantize → operator (→ clamp) → quantize`` into the integer operator.

    Before: ``quantize(relu(conv2d(dequantize(x), dequantize(w), b)))``. After: ``conv2d(x, w, b)`` on integers, with the
    relu as its output range. UnsupportedError lists every operator that has no integer form, with the reason.
    """
    computes = any(not operator(op.kind).moves_values for op in graph.ops)
    if computes and not any(op.kind == "quantize" for op in graph.ops):
        raise RushlightError(
            "the program is not quantised: it holds no quantize operator; quantise the model with rl.quantize, or give "
            "`rushlight compile` calibration data"
        )
    edit = Editor(graph)
    reasons: list[str] = []
    failed: set[str] = set()  # what reads these cannot be integer either, which is no news
    for planned in graph.ops:
        op = edit.producer(planned.outputs[0])
        if op is None:
            continue  # fused into the one before it
        if (
            edit.tensors[op.outputs[0]].dtype is not DType.FLOAT32
            and op.kind != "quantize"
            and _runs_as_it_is(edit, op)
        ):
            continue
        if op.kind == "quantize":
            source = edit.producer(op.inputs[0])
            if source is not None and source.kind == "dequantize":
                _requantize(edit, op)
            continue
        if op.kind == "dequantize" or not (edit.consumers(op.outputs[0]) or op.outputs[0] in edit.outputs):
            continue
        if operator(op.kind).view and op.inputs[0] in edit.inputs:
            continue  # a view of a float input costs nothing
        reason = None if failed.intersection(op.inputs) else _rewrite(edit, op)
        if reason is not None:
            # A reason may say itself what to do.
            hint = "" if "; " in reason else "; quantise it with rl.quantize or RushlightQuantizer"
            reasons.append(f"{op.source.target or op.kind} {op.source}: no integer form, {reason}{hint}")
        if reason is not None or failed.intersection(op.inputs):
            failed.update(op.outputs)
    if reasons:
        raise UnsupportedError(reasons)
    return edit.finish()
