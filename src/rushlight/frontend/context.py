"""The graph under construction, as operators' ``lower`` functions see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rushlight.errors import UnsupportedError
from rushlight.frontend.names import Names
from rushlight.graph import DType, Graph, Note, Op, QParams, Source, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array


class View:
    """A node as ``lower`` sees it (see ops.base.AtenNode)."""

    def __init__(
        self, target: str, source: Source, out_shapes: tuple[tuple[int, ...], ...], arguments: Mapping[str, Any]
    ) -> None:
        self.target = target
        self.source = source
        self.out_shapes = out_shapes
        self._arguments = arguments

    def __getitem__(self, argument: str) -> Any:
        return self._arguments[argument]


class GraphContext:
    """Collects tensors and operators (see ops.base.ImportContext).

    ``source`` and ``hint`` are those of the node being lowered; the importer sets them.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = Source()
        self.hint = "t"
        self._names = Names()
        self._tensors: dict[str, Tensor] = {}
        self._ops: list[Op] = []

    # --- what operators call

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name]

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> str:
        op = operator(kind)
        tensors = [self._tensors[i] for i in inputs]
        try:
            (spec,) = op.infer(attrs, tensors)
        except ValueError as error:
            raise self.refuse(str(error), "check the shapes and types at this place of the model") from None
        qparams = tensors[0].qparams if op.moves_values and tensors[0].qparams is not None else None
        name = self._names.new(self.hint)
        self._tensors[name] = Tensor(name, spec.shape, spec.dtype, qparams)
        self._ops.append(Op(kind, name, tuple(inputs), (name,), attrs, self.source))
        return name

    def constant(self, data: Array, hint: str = "const") -> str:
        return self.add_constant(data, f"{self.hint}_{hint}")

    def permute(self, name: str, permutation: Sequence[int]) -> str:
        from rushlight.ops.permute import PermuteAttrs

        tensor = self._tensors[name]
        order = tuple(int(d) % len(permutation) for d in permutation)
        if order == tuple(range(len(order))):
            return name
        if tensor.data is not None and tensor.qparams is None:
            return self.add_constant(tensor.data.transpose(order), f"{name}_permuted")
        return self.emit("permute", [name], PermuteAttrs(order))

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        from rushlight.ops.reshape import ReshapeAttrs

        tensor, wanted = self._tensors[name], tuple(int(d) for d in shape)
        if wanted == tensor.shape:
            return name
        if tensor.data is not None and tensor.qparams is None:
            return self.add_constant(tensor.data.reshape(wanted), f"{name}_reshaped")
        return self.emit("reshape", [name], ReshapeAttrs(wanted))

    def refuse(self, why: str, what_next: str) -> Exception:
        return UnsupportedError([f"{self.source.target} {self.source}: {why}; {what_next}"])

    # --- what the importer calls

    def add_input(self, hint: str, shape: tuple[int, ...], dtype: DType) -> str:
        """Adds a graph input."""
        name = self._names.new(hint)
        self._tensors[name] = Tensor(name, shape, dtype)
        return name

    def add_constant(self, data: Array, hint: str, qparams: QParams | None = None) -> str:
        """Adds a constant under a name of its own; 64-bit types become 32-bit where every value fits."""
        if data.dtype.kind == "f" and np.isnan(data).any():
            raise self.refuse(f"its constant '{hint}' holds NaN", "train again or load other weights")
        data = self._narrowed(np.ascontiguousarray(data).reshape(np.shape(data)))
        name = self._names.new(hint)
        self._tensors[name] = Tensor(name, data.shape, DType(data.dtype.name), qparams, data)
        return name

    def set_qparams(self, name: str, qparams: QParams, dtype: DType | None = None) -> None:
        """Gives a tensor its quantisation."""
        tensor = self._tensors[name]
        self._tensors[name] = replace(tensor, qparams=qparams, dtype=dtype or tensor.dtype)

    def rename(self, old: str, hint: str) -> str:
        """Renames a tensor everywhere; returns the new name."""
        new = self._names.new(hint)

        def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(new if n == old else n for n in names)

        self._tensors = {new if n == old else n: t for n, t in self._tensors.items()}
        self._tensors[new] = replace(self._tensors[new], name=new)
        self._ops = [
            replace(op, name=new if op.name == old else op.name, inputs=renamed(op.inputs), outputs=renamed(op.outputs))
            for op in self._ops
        ]
        return new

    def finish(self, inputs: Sequence[str], outputs: Sequence[str], notes: Sequence[Note]) -> Graph:
        """The graph, without what no output needs."""
        graph = Graph(self.name, self._tensors, tuple(self._ops), tuple(inputs), tuple(outputs), tuple(notes))
        return graph.pruned()

    def _narrowed(self, data: Array) -> Array:
        if data.dtype in (np.float64, np.float16):
            return data.astype(np.float32)
        if data.dtype in (np.int64, np.uint8, np.uint16, np.uint32):
            low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
            if data.size and (data.min() < low or data.max() > high):
                raise self.refuse("a constant does not fit 32 bits", "use smaller numbers")
            return data.astype(np.int32)
        return data
