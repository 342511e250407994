"""The program's inputs and outputs: int8 or float, NCHW or NHWC, and outputs that are nobody else's buffer."""

from __future__ import annotations

from dataclasses import replace

from rushlight.errors import RushlightError
from rushlight.graph import Graph, Note, Source, Tensor
from rushlight.ops.base import operator
from rushlight.ops.copy import CopyAttrs
from rushlight.passes.edit import Editor


def int8_edges(graph: Graph) -> Graph:
    """Before: ``x float → quantize → …``. After: ``x int8``, whose scale and zero point the program states; outputs likewise."""
    edit = Editor(graph)
    for name in graph.inputs:
        users = edit.consumers(name)
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
    """Before: ``x [N,C,H,W] → (quantize →) permute to NHWC``. After: ``x [N,H,W,C]``; outputs likewise."""
    edit = Editor(graph)
    for name in graph.inputs:
        chain = [name]
        users = edit.consumers(name)
        if len(users) == 1 and users[0].kind == "quantize":
            chain.append(users[0].outputs[0])
            users = edit.consumers(chain[-1])
        orders = {u.attrs.permutation for u in users if u.kind == "permute"}
        if len(users) == 0 or any(u.kind != "permute" for u in users) or orders != {(0, 2, 3, 1)}:
            continue
        for user in users:
            edit.replace_uses(user.outputs[0], chain[-1])
            edit.remove_writer(user.outputs[0])
        n, c, h, w = edit.tensors[name].shape
        for link in chain:
            edit.tensors[link] = replace(edit.tensors[link], shape=(n, h, w, c))
        edit.layouts[name] = "NHWC"
        edit.notes.append(Note("layout", f"input '{name}'", f"is NHWC {[n, h, w, c]}; the model's own order is NCHW"))
    for i, name in enumerate(edit.outputs):
        source = edit.producer(name)
        last = source if source is not None and source.kind == "dequantize" else None
        permute = edit.producer(last.inputs[0]) if last is not None else source
        if permute is None or permute.kind != "permute" or permute.attrs.permutation != (0, 3, 1, 2):
            continue
        inner = permute.inputs[0]
        if last is not None:
            at = edit.index(last)
            hint = f"{name}_nhwc"
            inner = edit.insert(at, "dequantize", [inner], last.attrs, last.source, hint)
        edit.outputs[i] = inner
        edit.layouts[inner] = "NHWC"
        edit.notes.append(Note("layout", f"output {i}", "is NHWC; the model's own order is NCHW"))
    return edit.finish()


def own_outputs(graph: Graph) -> Graph:
    """Puts a copy before each output that is an input, a constant, a view or read inside: outputs belong to the application.

    Before: ``y = reshape(x)`` is an output. After: ``copy(reshape(x))`` is.
    """
    edit = Editor(graph)
    taken: set[str] = set()
    for i, name in enumerate(graph.outputs):
        source = edit.producer(name)
        shared = source is None or operator(source.kind).view or bool(edit.consumers(name)) or name in taken
        taken.add(name)
        if not shared:
            continue
        if source is not None and operator(source.kind).view and _only_views(edit, name):
            continue
        where = source.source if source is not None else Source()
        t = edit.tensors[name]
        copied = edit.insert(len(edit.ops), "copy", [name], CopyAttrs(), where, f"{name}_out", t.qparams)
        edit.outputs[i] = copied
        if name in edit.layouts:
            edit.layouts[copied] = edit.layouts[name]
        edit.notes.append(Note("copy", f"output {i}", f"{t.nbytes} bytes are copied: {name} is also used elsewhere"))
    return edit.finish()


def _only_views(edit: Editor, name: str) -> bool:
    """True where an output is the last of a chain of views of one operator's result that nothing else reads."""
    source = edit.producer(name)
    if edit.consumers(name) or edit.outputs.count(name) > 1:
        return False
    while source is not None and operator(source.kind).view:
        name = source.inputs[0]
        if len(edit.consumers(name)) != 1 or name in edit.outputs:
            return False
        source = edit.producer(name)
    return source is not None
