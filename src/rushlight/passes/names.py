"""The names that the user reads in the report and in the C: those of the model's own layers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from rushlight.graph import Graph, Op, Tensor

#: Operators that the compiler puts beside a layer: never what the layer itself is called after.
_BESIDE = frozenset({"quantize", "dequantize", "permute", "reshape", "copy"})


def _function(op: Op) -> str:
    """``relu`` for ``aten.relu.default``; the operator's kind where the compiler put it there."""
    parts = op.source.target.split(".")
    return parts[1] if op.kind not in _BESIDE and len(parts) > 1 else op.kind


def _wanted(op: Op, alone: bool) -> str:
    path = re.sub(r"\W+", "_", op.source.module, flags=re.ASCII).strip("_")
    return path if path and alone else f"{path}_{_function(op)}".lstrip("_")


def name_layers(graph: Graph) -> Graph:
    """Names operators and what they compute after the module, or the function, that they come from.

    Before: ``conv2d_3_q = conv2d(x)`` of module ``body.0``. After: ``body_0 = conv2d(x)``. Where a module has several, each
    also has its function's name: ``body_add``, ``body_relu``. Inputs, constants and outputs keep their names.
    """
    computing = Counter(op.source.module for op in graph.ops if op.kind not in _BESIDE)
    written = {name for op in graph.ops for name in op.outputs}
    taken = {name for name in graph.tensors if name not in written} | set(graph.outputs)
    new: dict[str, str] = {name: name for name in taken}
    for op in graph.ops:
        for name in op.outputs:
            if name in new:
                continue
            hint = wanted = _wanted(op, op.kind not in _BESIDE and computing[op.source.module] == 1)
            number = 1
            while wanted in taken:
                number += 1
                wanted = f"{hint}_{number}"
            taken.add(wanted)
            new[name] = wanted
    tensors: dict[str, Tensor] = {
        new[n]: t if new[n] == n else replace(t, name=new[n]) for n, t in graph.tensors.items()
    }
    ops = [
        replace(
            op,
            name=new[op.outputs[0]],
            inputs=tuple(new[n] for n in op.inputs),
            outputs=tuple(new[n] for n in op.outputs),
        )
        for op in graph.ops
    ]
    return replace(graph, tensors=tensors, ops=tuple(ops))
