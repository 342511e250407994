"""A graph being rewritten: the few moves that all passes are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rushlight.graph import DType, Graph, Note, Op, QParams, Source, Tensor
from rushlight.ops.base import Array, operator


class Editor:
    """Starts as a copy of a graph; ``finish`` gives the new graph without what no output needs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.tensors: dict[str, Tensor] = dict(graph.tensors)
        self.ops: list[Op] = list(graph.ops)
        self.inputs = list(graph.inputs)
        self.outputs = list(graph.outputs)
        self.notes: list[Note] = []
        self.layouts = dict(graph.layouts)

    def producer(self, name: str) -> Op | None:
        return next((op for op in self.ops if name in op.outputs), None)

    def consumers(self, name: str) -> list[Op]:
        return [op for op in self.ops if name in op.inputs]

    def fresh(self, hint: str) -> str:
        """A tensor name that is not taken."""
        name, number = hint, 1
        while name in self.tensors:
            number += 1
            name = f"{hint}_{number}"
        return name

    def constant(self, data: Array, hint: str, qparams: QParams | None = None) -> str:
        name = self.fresh(hint)
        self.tensors[name] = Tensor(name, data.shape, DType(str(data.dtype)), qparams, data)
        return name

    def insert(
        self,
        at: int,
        kind: str,
        inputs: Sequence[str],
        attrs: Any,
        source: Source,
        hint: str,
        qparams: QParams | None = None,
    ) -> str:
        """Puts a new operator of one output before ``ops[at]``; returns the output's name."""
        spec = operator(kind).infer(attrs, [self.tensors[n] for n in inputs])[0]
        name = self.fresh(hint)
        self.tensors[name] = Tensor(name, spec.shape, spec.dtype, qparams)
        self.ops.insert(at, Op(kind, name, tuple(inputs), (name,), attrs, source))
        return name

    def index(self, op: Op) -> int:
        return next(i for i, other in enumerate(self.ops) if other is op)

    def index_of_output(self, name: str) -> int:
        """Position of the operator that writes ``name``."""
        return next(i for i, op in enumerate(self.ops) if name in op.outputs)

    def replace_uses(self, old: str, new: str) -> None:
        """Every reader of ``old`` reads ``new``, graph outputs included."""
        self.ops = [
            replace(op, inputs=tuple(new if n == old else n for n in op.inputs)) if old in op.inputs else op
            for op in self.ops
        ]
        self.outputs = [new if n == old else n for n in self.outputs]

    def rename(self, old: str, new: str) -> None:
        """Another name for a tensor, wherever it stands."""
        self.tensors[new] = replace(self.tensors.pop(old), name=new)
        self.ops = [
            replace(
                op,
                inputs=tuple(new if n == old else n for n in op.inputs),
                outputs=tuple(new if n == old else n for n in op.outputs),
            )
            for op in self.ops
        ]
        self.inputs = [new if n == old else n for n in self.inputs]
        self.outputs = [new if n == old else n for n in self.outputs]

    def remove(self, op: Op) -> None:
        del self.ops[self.index(op)]

    def remove_writer(self, name: str) -> None:
        """Removes the operator that writes ``name``."""
        del self.ops[self.index_of_output(name)]

    def drop_dead(self) -> None:
        """Removes operators whose outputs nothing reads, so that they do not count as readers themselves."""
        used = set(self.outputs)
        kept: list[Op] = []
        for op in reversed(self.ops):
            if used.intersection(op.outputs):
                kept.append(op)
                used.update(op.inputs)
        self.ops = kept[::-1]

    def finish(self) -> Graph:
        done = replace(
            self.graph,
            tensors=self.tensors,
            ops=tuple(self.ops),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            layouts=self.layouts,
        )
        return done.pruned().with_notes(self.notes)
