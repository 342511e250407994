"""The program's inputs and outputs: int8 or float, NCHW or NHWC, and outputs that are nobody else's buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rushlight.errors import RushlightError
from rushlight.graph import Graph, Note, Source, Tensor
from rushlight.ops.base import operator
from rushlight.ops.copy import CopyAttrs
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.permute import PermuteAttrs
from rushlight.passes.edit import Editor

TO_NHWC = (0, 2, 3, 1)
TO_NCHW = (0, 3, 1, 2)


def int8_edges(graph: Graph) -> Graph:
    """Before: ``x float → quantize → …``. After: ``x int8``, whose scale and zero point the program states; outputs likewise."""
    edit = Editor(graph)
    for name in graph.inputs:
        users = edit.consumers(name)
        if graph[name].dtype.value == "float32" and not users and name in graph.outputs:
            where = f"input '{name}'"
            edit.notes.append(Note("warning", where, "stays float32: it is an output as it is, nothing quantises it"))
        if graph[name].dtype.value != "float32" or not users:
            continue
        views = [u for u in users if operator(u.kind).view]
        if views or any(u.kind != "quantize" for u in users):
            raise RushlightError(
                f"input '{name}': int8 input needs the model to quantise it first, but {users[0].kind} reads it as float32; "
                "compile with float inputs"
            )
        if len({edit.tensors[u.outputs[0]].q for u in users}) != 1:
            raise RushlightError(f"input '{name}': it is quantised in several ways; compile with float inputs")
        q = edit.tensors[users[0].outputs[0]].q
        shape = graph[name].shape
        edit.tensors[name] = Tensor(name, shape, edit.tensors[users[0].outputs[0]].dtype, q)
        for user in users:
            edit.replace_uses(user.outputs[0], name)
            edit.remove_writer(user.outputs[0])
    for i, name in enumerate(edit.outputs):
        source = edit.producer(name)
        if source is not None and source.kind == "dequantize":
            edit.outputs[i] = source.inputs[0]
    return edit.finish()


def nhwc_edges(graph: Graph) -> Graph:
    """Inputs and outputs of rank 4 become NHWC; ``move_permutes`` then takes away the permutes that cancel.

    Before: ``x [N,C,H,W] → quantize → …``. After: ``x [N,H,W,C] → quantize → permute to NCHW → …``; outputs likewise.
    """
    edit = Editor(graph)
    for name in graph.inputs:
        t = edit.tensors[name]
        if len(t.shape) != 4:
            continue
        n, c, h, w = t.shape
        edit.tensors[name] = replace(t, shape=(n, h, w, c))
        edit.notes.append(Note("layout", f"input '{name}'", f"is NHWC {[n, h, w, c]}; the model's own order is NCHW"))
        readers = edit.consumers(name)
        if readers and all(user.kind == "quantize" for user in readers) and name not in edit.outputs:
            for user in readers:  # permuting int8 is cheaper
                y = user.outputs[0]
                edit.tensors[y] = replace(edit.tensors[y], shape=(n, h, w, c))
                _permute_behind(edit, y, edit.index_of_output(y) + 1, user.source)
        else:
            _permute_behind(edit, name, 0, Source())
    for i, name in enumerate(edit.outputs):
        if len(edit.tensors[name].shape) != 4:
            continue
        source = edit.producer(name)
        where = source.source if source is not None else Source()
        real = source is not None and source.kind == "dequantize"
        at = len(edit.ops)
        inner = source.inputs[0] if source is not None and real else name
        qparams = edit.tensors[inner].qparams
        y = edit.insert(at, "permute", [inner], PermuteAttrs(TO_NHWC), where, f"{name}_nhwc", qparams)
        if real:
            y = edit.insert(at + 1, "dequantize", [y], DequantizeAttrs(), where, f"{name}_nhwc")
        edit.outputs[i] = y
        edit.notes.append(Note("layout", f"output {i}", "is NHWC; the model's own order is NCHW"))
    return edit.finish()


def _permute_behind(edit: Editor, name: str, at: int, source: Source) -> None:
    """All readers of an NHWC tensor get it as NCHW."""
    t = edit.tensors[name]
    nchw = edit.insert(at, "permute", [name], PermuteAttrs(TO_NCHW), source, f"{name}_nchw", t.qparams)
    edit.replace_uses(name, nchw)
    made = edit.index_of_output(nchw)
    edit.ops[made] = replace(edit.ops[made], inputs=(name,))


def own_outputs(graph: Graph) -> Graph:
    """Puts a copy before each output that has the bytes of an input, a constant or another output: outputs are buffers of
    the application's own.

    Before: ``y = reshape(x)`` is an output. After: ``copy(reshape(x))`` is.
    """
    edit = Editor(graph)
    taken: dict[str, int] = {}
    for i, name in enumerate(graph.outputs):
        base = name
        while (source := edit.producer(base)) is not None and operator(source.kind).view:
            base = source.inputs[0]
        if source is not None and base not in taken:
            taken[base] = i
            continue
        why = f"is input '{base}'" if base in edit.inputs else "is a constant"
        if base in taken:
            why = f"is output {taken[base]} too"
        where = source.source if source is not None else Source()
        t = edit.tensors[name]
        edit.outputs[i] = edit.insert(len(edit.ops), "copy", [name], CopyAttrs(), where, f"{name}_out", t.qparams)
        edit.notes.append(Note("copy", f"output {i}", f"{t.nbytes} bytes are copied: it {why}"))
    return edit.finish()


def name_outputs(graph: Graph, names: Sequence[str], layout: str) -> Graph:
    """Gives outputs the names that they had at import, and states the order of rank-4 inputs and outputs.

    Before: outputs ``softmax_q, add_2_nhwc``. After: ``output_0, output_1``. One that is named like an input, or like an
    output before it, has "_out" behind its name.
    """
    edit = Editor(graph)
    given: set[str] = set(edit.inputs)
    for name, wanted in zip(graph.outputs, names, strict=True):
        if wanted in given:
            wanted = edit.fresh(f"{wanted}_out") if name != f"{wanted}_out" else name
        if name != wanted:
            if wanted in edit.tensors:
                edit.rename(wanted, edit.fresh(f"{wanted}_inner"))
            edit.rename(name, wanted)
        given.add(wanted)
    edges = (*edit.inputs, *edit.outputs)
    if layout == "nhwc":
        edit.layouts = {name: "NHWC" for name in edges if len(edit.tensors[name].shape) == 4}
    return edit.finish()
