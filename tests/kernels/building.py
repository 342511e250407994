"""Small stand-ins for the importer's and the integer pass's side of an operator: what its ``lower`` and ``integer`` do alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, Op, QParams, Source, Tensor
from rushlight.ops import REGISTRY, operator
from rushlight.ops.base import Array, AtenRule
from rushlight.ops.common.arith import clamp_range
from rushlight.ops.permute import PermuteAttrs
from rushlight.ops.reshape import ReshapeAttrs

SOURCE = Source("block", "net.py", 7)
INFINITE = (-np.inf, np.inf)


def rule_of(target: str) -> AtenRule:
    """The one rule for an ATen operator, e.g. "add.Tensor"."""
    (found,) = [r for o in REGISTRY.values() for r in o.aten if target in r.targets]
    return found


@dataclass
class Node:
    """An ATen node as ``lower`` sees it."""

    target: str
    arguments: dict[str, Any]
    out_shapes: tuple[tuple[int, ...], ...]
    source: Source = SOURCE

    def __getitem__(self, argument: str) -> Any:
        return self.arguments[argument]


@dataclass
class Context:
    """Collects what a ``lower`` emits."""

    tensors: dict[str, Tensor]
    ops: list[Op] = field(default_factory=list)

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> str:
        out = operator(kind).infer(attrs, [self.tensors[n] for n in inputs])[0]
        name = f"t{len(self.tensors)}"
        self.tensors[name] = Tensor(name, out.shape, out.dtype)
        self.ops.append(Op(kind, name, tuple(inputs), (name,), attrs))
        return name

    def constant(self, data: Array, hint: str = "const") -> str:
        name = f"{hint}{len(self.tensors)}"
        self.tensors[name] = Tensor(name, data.shape, DType(str(data.dtype)), None, data)
        return name

    def permute(self, name: str, permutation: Sequence[int]) -> str:
        if list(permutation) == sorted(permutation):
            return name
        return self.emit("permute", [name], PermuteAttrs(tuple(permutation)))

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        return (
            name
            if self.tensors[name].shape == tuple(shape)
            else self.emit("reshape", [name], ReshapeAttrs(tuple(shape)))
        )

    def refuse(self, why: str, what_next: str) -> Exception:
        return RushlightError(f"op 'block' (net.py:7): {why}; {what_next}")


def lowered(
    target: str, tensors: Sequence[Tensor], out_shape: Sequence[int], /, **arguments: Any
) -> tuple[Context, str]:
    """What the rule for ``target`` makes of these arguments by schema name; the result's name comes second."""
    context = Context({t.name: t for t in tensors})
    name = rule_of(target).lower(context, Node(target, arguments, (tuple(out_shape),)))
    return context, name


def as_float(x: Tensor) -> Tensor:
    """The same tensor before it is quantised."""
    return Tensor(x.name, x.shape, DType.FLOAT32)


@dataclass
class Builder:
    """Takes the one integer operator that an operator's ``integer`` emits."""

    inputs: list[str]
    output: QParams
    clamp: tuple[float, float]
    tensors: dict[str, Tensor]
    emitted: list[tuple[str, tuple[str, ...], Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name]

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> None:
        self.emitted.append((kind, tuple(inputs), attrs))

    def constant(self, data: Array, hint: str, qparams: QParams | None = None) -> str:
        name = f"{hint}{len(self.tensors)}"
        self.tensors[name] = Tensor(name, data.shape, DType(str(data.dtype)), qparams, data)
        return name

    def note(self, kind: str, text: str) -> None:
        self.notes.append(f"{kind}: {text}")

    def clamp_range(self) -> tuple[int, int]:
        q = self.output
        return clamp_range(q.s, q.z, q.qmin, q.qmax, self.clamp)


def try_integer(
    kind: str, attrs: Any, inputs: Sequence[Tensor], output: QParams, clamp: tuple[float, float] = INFINITE
) -> tuple[Builder, str | None]:
    """Runs ``integer`` on quantised (or constant) inputs; returns the builder and the reason if there is no integer form."""
    declaration = operator(kind)
    out = declaration.infer(attrs, inputs)[0]
    builder = Builder([t.name for t in inputs], output, clamp, {t.name: t for t in inputs})
    builder.tensors["y"] = Tensor("y", out.shape, DType.INT8, output)
    op = Op(kind, "op", tuple(t.name for t in inputs), ("y",), attrs)
    return builder, declaration.integer(builder, op)


def integer_graph(
    kind: str, attrs: Any, inputs: Sequence[Tensor], output: QParams, clamp: tuple[float, float] = INFINITE
) -> Graph:
    """The graph of the one integer operator that a float one becomes."""
    builder, reason = try_integer(kind, attrs, inputs, output, clamp)
    assert reason is None, reason
    ((new_kind, names, new_attrs),) = builder.emitted
    given = tuple(t.name for t in inputs if not t.constant)
    used = {n: t for n, t in builder.tensors.items() if n in (*names, *given, "y")}
    return Graph("test", used, (Op(new_kind, "op", names, ("y",), new_attrs),), given, ("y",))


def run(graph: Graph, *arrays: Array) -> Array:
    """The reference of a graph of one operator."""
    by_name = dict(zip(graph.inputs, arrays, strict=True))
    op = graph.ops[0]
    inputs = [by_name[t.name] if t.data is None else t.data for t in graph.ins(op)]
    return operator(op.kind).reference(op, graph, inputs)[0]


def dequantized(data: Array, q: QParams) -> Array:
    """Real values in float64."""
    real: Array = (data.astype(np.float64) - q.z) * q.s
    return real
