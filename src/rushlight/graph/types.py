"""Graph, Op, Tensor, QParams: what every stage between import and emission works on.

A graph is a list of operators in an order that can be executed. Tensors are referred to by name. Nothing here is changed in
place: a pass builds a new graph (``dataclasses.replace`` or ``GraphBuilder``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class DType(StrEnum):
    """Element type; the value is also NumPy's name for it."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT32 = "float32"
    BOOL = "bool"

    @property
    def size(self) -> int:
        """Bytes an element."""
        return int(np.dtype(self.value).itemsize)


@dataclass(frozen=True)
class QParams:
    """Affine quantisation: ``real = scale * (integer - zero_point)``.

    ``scale`` and ``zero_point`` have one entry, or one for each index along ``axis``. ``qmin`` and ``qmax`` are the
    integers in use (weights often keep to -127..127).
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None
    qmin: int = -128
    qmax: int = 127

    @property
    def per_tensor(self) -> bool:
        return len(self.scale) == 1

    @property
    def s(self) -> float:
        """The scale of a per-tensor quantisation."""
        assert self.per_tensor
        return self.scale[0]

    @property
    def z(self) -> int:
        """The zero point of a per-tensor quantisation."""
        assert self.per_tensor
        return self.zero_point[0]

    def same_mapping(self, other: QParams) -> bool:
        """True where both map each integer to the same real number (the integer ranges may differ)."""
        return (self.scale, self.zero_point, self.axis) == (other.scale, other.zero_point, other.axis)


@dataclass(frozen=True)
class Source:
    """Where an operator came from in the user's model."""

    module: str = ""  # dotted path of the module, e.g. "features.3.conv"
    file: str = ""
    line: int = 0
    target: str = ""  # the ATen operator, e.g. "aten.conv2d.default"

    def __str__(self) -> str:
        where = f"'{self.module}'" if self.module else "the model's forward"
        return f"{where} ({self.file}:{self.line})" if self.file else where


@dataclass(frozen=True)
class TensorSpec:
    """Shape and element type alone, as a shape rule returns them."""

    shape: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value in the graph; a constant if ``data`` is there (then ``data`` has exactly ``shape`` and ``dtype``)."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    qparams: QParams | None = None
    data: NDArray[Any] | None = None

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.elements * self.dtype.size

    @property
    def constant(self) -> bool:
        return self.data is not None

    @property
    def q(self) -> QParams:
        """The quantisation parameters of a tensor that must have some."""
        assert self.qparams is not None, f"tensor {self.name} is not quantised"
        return self.qparams


@dataclass(frozen=True)
class Op:
    """One operator. ``attrs`` is the frozen dataclass that the operator's file in ``ops/`` declares."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: Any
    source: Source = Source()


@dataclass(frozen=True)
class Note:
    """Something the compiler did that the user should see in the report: a copy, a fallback, a changed layout…"""

    kind: str  # "copy", "layout", "fold", "dead channels", "fallback", "warning"
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.text}"


@dataclass(frozen=True, eq=False)
class Graph:
    """A program: operators in execution order over named tensors.

    ``layouts``: graph input or output → order of its dimensions where it is not the model's own ("NHWC").
    """

    name: str
    tensors: Mapping[str, Tensor]
    ops: tuple[Op, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    notes: tuple[Note, ...] = field(default=())
    layouts: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def __str__(self) -> str:
        from rushlight.graph.printer import format_graph

        return format_graph(self)

    def ins(self, op: Op) -> list[Tensor]:
        return [self.tensors[n] for n in op.inputs]

    def outs(self, op: Op) -> list[Tensor]:
        return [self.tensors[n] for n in op.outputs]

    def producers(self) -> dict[str, Op]:
        """Tensor name → the operator that writes it (graph inputs and constants have none)."""
        return {name: op for op in self.ops for name in op.outputs}

    def consumers(self) -> dict[str, list[Op]]:
        """Tensor name → the operators that read it, in order (an operator that reads it twice stands once)."""
        users: dict[str, list[Op]] = {name: [] for name in self.tensors}
        for op in self.ops:
            for name in dict.fromkeys(op.inputs):
                users[name].append(op)
        return users

    def with_notes(self, notes: Iterable[Note]) -> Graph:
        """The same graph with more notes; a note that stands already is not repeated."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def pruned(self) -> Graph:
        """The same graph without operators and tensors that no output needs. Graph inputs stay."""
        needed = set(self.outputs)
        kept: list[Op] = []
        for op in reversed(self.ops):
            if needed.intersection(op.outputs):
                kept.append(op)
                needed.update(op.inputs)
        needed.update(self.inputs)
        kept.reverse()
        needed.update(name for op in kept for name in op.outputs)
        return replace(self, ops=tuple(kept), tensors={n: t for n, t in self.tensors.items() if n in needed})
