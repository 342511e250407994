"""What an operator is: one class in one file of this folder, with everything the other rooms ask of it.

The importer, the quantizer, the passes, the scheduler, the emitters and the reference interpreter walk these declarations and
know no operator by name. To add an operator, see DESIGN.md, "A new operator".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, Graph, Op, QParams, Source, Tensor, TensorSpec
from rushlight.ops.common.channels import Bounds, ChannelUse, carried, channels_of, monotone_bounds

Array = NDArray[Any]


# --- How an operator is annotated for PT2E ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """An output whose quantisation is known beforehand, e.g. softmax: scale 1/256, zero point -128."""

    scale: float
    zero_point: int


@dataclass(frozen=True)
class Annotation:
    """How the quantizer observes an ATen operator; arguments are named as in its schema.

    ``output``: "own" range, the "same" quantisation as the first activation (pools, views: values are passed on), or Fixed.
    An activation argument that is a list (cat) stands for all its members; with ``output="same"`` they share one range.
    ``clamps``: the operator only clamps (relu, hardtanh…), so it can be fused into the one before it.
    ``absorbs_clamp``: a clamp behind this operator is fused into it; nothing is observed between the two.
    """

    activations: tuple[str, ...]
    weight: str | None = None
    weight_axis: int = 0
    bias: str | None = None
    output: Literal["own", "same"] | Fixed = "own"
    clamps: bool = False
    absorbs_clamp: bool = False


# --- How an operator is imported from ATen ---------------------------------------------------------------------------


class AtenNode(Protocol):
    """A node of an exported program as an operator's ``lower`` sees it: arguments by schema name, defaults filled in.

    A tensor argument is the name of a tensor in the graph under construction, a list of tensors a list of names.
    """

    target: str
    source: Source
    out_shapes: tuple[tuple[int, ...], ...]

    def __getitem__(self, argument: str) -> Any: ...


class ImportContext(Protocol):
    """The graph under construction."""

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; constants have ``data``."""
        ...

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> str:
        """Appends an operator of one output (shape and dtype by its shape rule); returns the output's name."""
        ...

    def constant(self, data: Array, hint: str = "const") -> str:
        """Adds a float32 or integer constant; returns its name."""
        ...

    def permute(self, name: str, permutation: Sequence[int]) -> str:
        """Appends a permute unless it is the identity; returns the output's name."""
        ...

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """Appends a reshape unless the shape is the same; returns the output's name."""
        ...

    def refuse(self, why: str, what_next: str) -> Exception:
        """The error to raise: ``<aten op> '<module path>' (<file>:<line>): <why>; <what next>``."""
        ...


Lower = Callable[[ImportContext, AtenNode], str]


@dataclass(frozen=True)
class AtenRule:
    """Some ATen operators ("conv2d.default", without "aten.") that this operator is imported from.

    ``annotation`` is None for what the quantizer leaves alone.
    """

    targets: tuple[str, ...]
    lower: Lower
    annotation: Annotation | None


# --- What runs on the chip -------------------------------------------------------------------------------------------

CTYPES: Mapping[str, np.dtype[Any]] = {
    "int8_t": np.dtype("<i1"),
    "uint8_t": np.dtype("<u1"),
    "int16_t": np.dtype("<i2"),
    "uint16_t": np.dtype("<u2"),
    "int32_t": np.dtype("<i4"),
    "uint32_t": np.dtype("<u4"),
    "float": np.dtype("<f4"),
}


@dataclass(frozen=True)
class ParamsType:
    """A parameter block: a C struct of fixed-width fields and arrays of them, without pointers and without padding.

    ``fields``: (name, C type, count); count 1 is a scalar. The struct is written by hand in the operator's header; a test
    compares sizes and offsets. The same bytes are the block in C and in a program file.
    """

    c_name: str
    fields: tuple[tuple[str, str, int], ...]

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """The block as little-endian bytes."""
        assert set(values) == {name for name, _, _ in self.fields}, (self.c_name, set(values))
        return b"".join(np.asarray(values[name], CTYPES[ctype]).tobytes() for name, ctype, _ in self.fields)


@dataclass(frozen=True)
class Constant:
    """Packed constant data that a kernel reads: an array of ``ctype`` in flash.

    ``role`` names it in emitted C ("weights", "channels", "table").
    """

    role: str
    data: Array
    ctype: str = "int8_t"
    align: int = 16

    def __post_init__(self) -> None:
        assert self.data.dtype == CTYPES[self.ctype], (self.role, self.data.dtype, self.ctype)


@dataclass(frozen=True)
class Kernel:
    """One way to run one operator: a C function with its parameter block and packed constants.

    The C signature is always ``void symbol(const params_type *, inputs…, constants…, outputs…[, void *scratch])``, every
    pointer typed in the header; ``reads`` names which of the operator's inputs are passed as pointers (constants that were
    packed are not). ``scratch`` is in bytes, from the one formula that is also tested with guard bytes; the pointer is passed
    where ``takes_scratch``.
    """

    symbol: str
    tier: str  # "mve", "dsp", "v7m", "v6m"
    header: str  # below device/kernels, e.g. "conv2d/conv2d.h"
    sources: tuple[str, ...]  # below device/kernels, e.g. ("conv2d/dsp.c",)
    params_type: ParamsType
    params: Mapping[str, Any]
    constants: tuple[Constant, ...] = ()
    reads: tuple[int, ...] = (0,)
    takes_scratch: bool = False
    scratch: int = 0
    in_place: tuple[int, ...] = ()  # inputs (indices) on whose very bytes the output may be written
    note: str = ""  # why not a better tier's kernel; shown in the report


# --- The operator ----------------------------------------------------------------------------------------------------


class Operator:
    """Base of every operator. Subclasses live one to a file and are registered by ``@register``."""

    kind: ClassVar[str]
    aten: ClassVar[tuple[AtenRule, ...]] = ()
    #: Values pass through unchanged, only their place or shape differs (reshape, permute, …): dequantize commutes with it.
    moves_values: ClassVar[bool] = False
    #: Elementwise in the first input; shape in = shape out. Permutes commute with it.
    elementwise: ClassVar[bool] = False
    #: No output falls when an input rises (so what moves values, too).
    monotone: ClassVar[bool] = False
    #: Channel i of the output (its last dimension) is made of channel i of input 0 alone (so what is elementwise, too).
    carries_channels: ClassVar[bool] = False
    #: Output is the input's very bytes: no call is made.
    view: ClassVar[bool] = False
    #: A fused clamp behind it can be taken into its output range.
    absorbs_clamp: ClassVar[bool] = False

    #: A windowed operator (``attrs.padding``) into which a constant pad of real 0 can be merged.
    absorbs_pad: ClassVar[bool] = False

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        """The shape rule: outputs' shapes and dtypes. Raises ValueError with the reason if inputs do not fit."""
        raise NotImplementedError

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        """Rewrites a float operator, whose activations and output are quantised, to its integer form.

        ``build`` gives the integer inputs and the output's quantisation and takes the new operators. Returns None when done,
        or the reason why there is no integer form. The default keeps the operator, with integer tensors.
        """
        build.emit(self.kind, build.inputs, op.attrs)
        return None

    def check(self, op: Op, graph: Graph) -> None:
        """Raises ValueError with the reason if the integer operator cannot be computed exactly as defined."""

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        """The specification: outputs in NumPy integers from inputs (constants included, in the operator's input order)."""
        raise NotImplementedError

    def macs(self, op: Op, graph: Graph) -> int:
        """Multiply-accumulates of one run (0 for what only moves or looks up)."""
        return 0

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        """Candidate kernels for a core whose kernel list is ``tiers`` (best first), in order of preference."""
        raise NotImplementedError

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        """How often the loops of one of its kernels run in a call, by names of its own: what its cost is linear in.

        ``python -m bench.costs --update`` fits the instructions of each; empty: the kernel's cost is not estimated.
        """
        return {}

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        """Integers between which each channel of the int8 output lies for inputs within theirs (constants included)."""
        if self.monotone or self.moves_values:
            return monotone_bounds(self.reference, op, graph, inputs)
        return Bounds.int8(channels_of(graph.outs(op)[0]))

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        """How channels go through it, so that some can be removed. None: all of its inputs' and output's stay."""
        return carried(op, graph, (0,)) if self.elementwise or self.carries_channels else None

    def clamp_bounds(self, attrs: Any) -> tuple[float, float] | None:
        """Real-valued bounds if the operator only clamps (relu: (0, inf)), so that it can be fused; else None."""
        return None

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        """Attributes of the operator that, put before a permute instead of behind it, gives the same values.

        ``permutation`` is the one in front of each of its inputs. None: does not commute. Elementwise operators return
        their attributes as they are.
        """
        return op.attrs if self.elementwise else None

    def reordered(self, op: Op, graph: Graph, order: Array) -> dict[int, Array] | None:
        """New data for constant inputs (by index) so that the operator gives the same from features in another order.

        The feature that stands at position ``i`` of its first input's last dimension now stood at ``order[i]`` before.
        None: it cannot.
        """
        return None


class IntegerBuilder(Protocol):
    """What ``Operator.integer`` works with; offered by the pass that makes a float graph an integer one."""

    #: The operator's inputs: int8 tensors in place of dequantised ones; weights as int8 constants with per-channel qparams;
    #: others (float constants) as they are.
    inputs: list[str]
    #: Quantisation of the output tensor to produce.
    output: QParams
    #: Real-valued range left by fused clamps, (-inf, inf) if none.
    clamp: tuple[float, float]

    def tensor(self, name: str) -> Tensor: ...

    def emit(self, kind: str, inputs: Sequence[str], attrs: Any) -> None:
        """Appends the integer operator that writes the output tensor (int8, ``output`` quantisation)."""
        ...

    def constant(self, data: Array, hint: str, qparams: QParams | None = None) -> str: ...

    def note(self, kind: str, text: str) -> None:
        """Tells the user of a step (see graph.Note)."""
        ...

    def clamp_range(self) -> tuple[int, int]:
        """The integers that the output may take: the quantised range, narrowed by the fused clamp."""
        ...


REGISTRY: dict[str, Operator] = {}


def register(cls: type[Operator]) -> type[Operator]:
    """Class decorator: makes the operator known under its ``kind``."""
    assert cls.kind not in REGISTRY, f"operator {cls.kind} is declared twice"
    REGISTRY[cls.kind] = cls()
    return cls


def operator(kind: str) -> Operator:
    """The operator of that kind."""
    return REGISTRY[kind]


def spec(shape: Sequence[int], dtype: DType) -> list[TensorSpec]:
    """A shape rule's result for one output."""
    return [TensorSpec(tuple(int(d) for d in shape), dtype)]


def product(shape: Sequence[int]) -> int:
    """Product of dimensions as a Python int (1 for an empty shape)."""
    return math.prod(int(d) for d in shape)
