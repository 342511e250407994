"""Schedule: the ordered calls of a program, its buffers with their places in memory, and its constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rushlight.graph import DType, Graph, Op, Tensor
from rushlight.ops.base import Constant, Kernel
from rushlight.target import Target
from rushlight.target.costs import Cost

#: Alignment in bytes of the arena and of every buffer in it.
ALIGN = 16

#: The region of temporaries. Further regions get names of their own.
ARENA = "arena"

#: The element type that C code sees for a tensor.
TENSOR_CTYPES: Mapping[DType, str] = {
    DType.INT8: "int8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.FLOAT32: "float",
    DType.BOOL: "uint8_t",
}


class Lifetime(StrEnum):
    """Who owns a buffer's memory, and how long its bytes must last."""

    TEMPORARY = "temporary"  # in a region, from its first call to its last
    INPUT = "input"  # given by the application with each run; only read
    OUTPUT = "output"  # given by the application with each run
    CONSTANT = "constant"  # in flash


@dataclass(frozen=True)
class Buffer:
    """Bytes that one or more tensors (views of each other) are kept in.

    Attributes:
        name: the tensor's name, ``<operator>.scratch`` for scratch, or a constant's name.
        size: bytes.
        lifetime: who owns it.
        first: index of the call that writes it.
        last: index of the last call that uses it.
        region: where a temporary lies; empty for others.
        offset: bytes from the region's start; 0 for others.
    """

    name: str
    size: int
    lifetime: Lifetime
    first: int
    last: int
    region: str = ""
    offset: int = 0


@dataclass(frozen=True)
class Call:
    """One call of a kernel. ``reads``, ``outputs`` and ``scratch`` name buffers, ``constants`` names packed constants.

    The kernel's pointers are, in this order: reads, constants, outputs, scratch where the kernel takes it. ``cost`` is an
    estimate, None where there is no figure.
    """

    op: Op
    kernel: Kernel
    reads: tuple[str, ...]
    constants: tuple[str, ...]
    outputs: tuple[str, ...]
    scratch: str | None
    macs: int
    cost: Cost | None = None


@dataclass(frozen=True)
class MemoryPlan:
    """Bytes of the arena, and the peak of live bytes, below which no plan for these calls can go."""

    bytes: int
    lower_bound: int


@dataclass(frozen=True, eq=False)
class Schedule:
    """A program ready to be emitted.

    Attributes:
        graph: the integer graph it was made from.
        target: core and board.
        calls: in the order of execution.
        buffers: by name.
        storage: tensor name → name of the buffer that holds it (views share one).
        constants: by name, in order of first use; equal ones stand once.
        plan: what the arena takes.
    """

    graph: Graph
    target: Target
    calls: tuple[Call, ...]
    buffers: Mapping[str, Buffer]
    storage: Mapping[str, str]
    constants: Mapping[str, Constant]
    plan: MemoryPlan

    @property
    def inputs(self) -> list[Tensor]:
        """The graph's inputs in the order of the entry's arguments."""
        return [self.graph[name] for name in self.graph.inputs]

    @property
    def outputs(self) -> list[Tensor]:
        """The graph's outputs in the order of the entry's arguments."""
        return [self.graph[name] for name in self.graph.outputs]

    @property
    def constant_bytes(self) -> int:
        """Flash that packed constants take."""
        return sum(int(constant.data.nbytes) for constant in self.constants.values())

    @property
    def parameter_bytes(self) -> int:
        """Flash that the calls' parameter blocks take."""
        return sum(params_size(call.kernel) for call in self.calls)


def params_size(kernel: Kernel) -> int:
    """Bytes of the kernel's parameter block."""
    return len(kernel.params_type.pack(kernel.params))


def round_up(size: int, align: int = ALIGN) -> int:
    """``size`` rounded up to a multiple of ``align``."""
    return -(-size // align) * align


def as_constant(role: str, tensor: Tensor) -> Constant:
    """A constant tensor that a kernel reads as it is."""
    data: Any = tensor.data
    assert data is not None
    ctype = TENSOR_CTYPES[tensor.dtype]
    if tensor.dtype is DType.BOOL:
        data = data.astype("u1")
    return Constant(role, data, ctype)
