"""What the templates are filled with: names, literals and lines, ready to be printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rushlight.emit.literals import comment, initializer, literal, rows
from rushlight.emit.names import Names, check_model_name
from rushlight.emit.program import affine, place_in_source
from rushlight.graph import Tensor
from rushlight.ops.base import Kernel
from rushlight.schedule.types import TENSOR_CTYPES, Call, Lifetime, Schedule, round_up

_WIDTH = 100


@dataclass(frozen=True)
class Io:
    """An argument of the entry."""

    ident: str
    macro: str  # NET_X
    ctype: str
    const: str  # "const " or ""
    count: int
    bytes: int
    align: int  # what the pointer is checked for
    text: str  # for comments
    scale: str  # literals; "" for a tensor that is not quantised
    zero_point: str


@dataclass(frozen=True)
class Data:
    """A constant array."""

    symbol: str
    ctype: str
    count: int
    align: int
    lines: list[str]


@dataclass(frozen=True)
class CallText:
    """A call: its parameter block and its line."""

    comment: str
    params_type: str
    params: str
    fields: list[tuple[str, str]]
    lines: list[str]


@dataclass(frozen=True)
class Model:
    """Everything that the templates print."""

    name: str
    upper: str
    inputs: list[Io]
    outputs: list[Io]
    arena_bytes: int
    lower_bound: int
    headers: list[str]
    data: list[Data]
    calls: list[CallText]
    table: list[str]
    flash: int
    macs: int

    @property
    def arguments(self) -> list[Io]:
        return [*self.inputs, *self.outputs]

    @property
    def quantised(self) -> list[Io]:
        return [io for io in self.arguments if io.scale]

    def prototype(self, end: str) -> str:
        """``int net_run(const float *x, float *y)`` and ``end``: ";" or " {"."""
        arguments = [f"{io.const}{io.ctype} *{io.ident}" for io in self.arguments]
        return "\n".join(_broken(f"int {self.name}_run(", arguments, f"){end}"))

    @property
    def example_call(self) -> list[str]:
        """The call in main.c."""
        arguments = [*(f"input_{io.ident}" for io in self.inputs), *(f"output_{io.ident}" for io in self.outputs)]
        return _broken(f"    const int status = {self.name}_run(", arguments, ");")


def model_text(schedule: Schedule) -> Model:
    """Gives every tensor, constant and parameter block its C name.

    Raises:
        RushlightError: the graph's name cannot be a model's name in C.
    """
    name = check_model_name(schedule.graph.name)
    after_prefix = Names(frozenset({"run", "arena"}))
    symbols = {key: f"{name}_{after_prefix.unique(key, 'data')}" for key in schedule.constants}
    names = Names(frozenset({"AT", name, f"{name}_run", f"{name}_arena", *symbols.values()}))
    arguments: dict[str, str] = {}
    for tensor in (*schedule.inputs, *schedule.outputs):
        arguments[tensor.name] = names.unique(tensor.name, "x")
    macros = Names(frozenset({"ARENA", "MODEL"}))
    printer = _Printer(schedule, arguments, symbols, names)
    calls = [printer.call(call) for call in schedule.calls]
    layouts = schedule.graph.layouts
    return Model(
        name=name,
        upper=name.upper(),
        inputs=[_io(t, layouts.get(t.name, ""), arguments, macros, name, "const ") for t in schedule.inputs],
        outputs=[_io(t, layouts.get(t.name, ""), arguments, macros, name, "") for t in schedule.outputs],
        arena_bytes=schedule.plan.bytes,
        lower_bound=schedule.plan.lower_bound,
        headers=sorted({f"{name}_data.h", "rushlight/align.h", *(call.kernel.header for call in schedule.calls)}),
        data=[
            Data(symbols[key], c.ctype, int(c.data.size), c.align, rows(c.data, c.ctype))
            for key, c in schedule.constants.items()
        ],
        calls=calls,
        table=printer.table(),
        flash=schedule.constant_bytes + schedule.parameter_bytes,
        macs=sum(call.macs for call in schedule.calls),
    )


def _io(tensor: Tensor, layout: str, arguments: dict[str, str], macros: Names, name: str, const: str) -> Io:
    ident = arguments[tensor.name]
    quantised = tensor.qparams is not None and tensor.dtype.value.startswith("int")
    text = f"{tensor.dtype.value} {list(tensor.shape)}"
    text += f" {layout}" if layout else ""
    text += f", {affine(tensor.q.s, tensor.q.z)}" if quantised else ""
    return Io(
        ident=ident,
        macro=f"{name.upper()}_{macros.unique(ident.upper(), 'X')}",
        ctype=TENSOR_CTYPES[tensor.dtype],
        const=const,
        count=tensor.elements,
        bytes=tensor.nbytes,
        align=tensor.dtype.size,
        text=text,
        scale=literal(tensor.q.s, "float") if quantised else "",
        zero_point=f"({tensor.q.z})" if quantised and tensor.q.z < 0 else str(tensor.q.z) if quantised else "",
    )


class _Printer:
    def __init__(self, schedule: Schedule, arguments: dict[str, str], symbols: dict[str, str], names: Names) -> None:
        self.schedule, self.arguments, self.symbols, self.names = schedule, arguments, symbols, names

    def pointer(self, buffer: str) -> str:
        """The C expression of a buffer's address."""
        if buffer in self.symbols:
            return self.symbols[buffer]
        found = self.schedule.buffers[buffer]
        if found.lifetime is Lifetime.TEMPORARY:
            return f"AT({found.offset})"
        return self.arguments[buffer]

    def call(self, call: Call) -> CallText:
        kernel = call.kernel
        params = self.names.unique(f"{call.op.name}_params", "call")
        pointers = [f"&{params}", *map(self.pointer, call.reads)]
        pointers += [self.constant(name, kernel, i) for i, name in enumerate(call.constants)]
        pointers += map(self.pointer, call.outputs)
        if kernel.takes_scratch:
            pointers.append(self.pointer(call.scratch) if call.scratch is not None else "NULL")
        where = f" ({place})" if (place := place_in_source(call.op.source)) else ""
        return CallText(
            comment=comment(f"{_title(call)}{where}"),
            params_type=kernel.params_type.c_name,
            params=params,
            fields=[(n, initializer(kernel.params[n], ctype, count)) for n, ctype, count in kernel.params_type.fields],
            lines=_broken(f"    {kernel.symbol}(", pointers, ");"),
        )

    def constant(self, name: str, kernel: Kernel, index: int) -> str:
        """Byte arrays are passed as they are; others stand for structs (rl_channel) and lose their type."""
        symbol = self.symbols[name]
        return symbol if kernel.constants[index].ctype in ("int8_t", "uint8_t") else f"(const void *){symbol}"

    def table(self) -> list[str]:
        """The program at a glance, in columns."""
        head = ["", "operator", "layer", "output", "MACs", "kernel", "reads", "writes", "scratch"]
        body = [self._row(number, call) for number, call in enumerate(self.schedule.calls)]
        widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *body)]
        return [comment(line).rstrip() for line in lines]

    def _row(self, number: int, call: Call) -> list[Any]:
        graph = self.schedule.graph
        return [
            str(number),
            call.op.kind,
            comment(call.op.source.module or call.op.name),
            "x".join(map(str, graph[call.op.outputs[0]].shape)),
            str(call.macs),
            call.kernel.symbol,
            " ".join(map(self.place, call.reads)) or "-",
            " ".join(map(self.place, call.outputs)),
            self.place(call.scratch) if call.scratch is not None else "-",
        ]

    def place(self, buffer: str) -> str:
        """``128+64``: offset in the arena and bytes; or the name."""
        found = self.schedule.buffers.get(buffer)
        if found is not None and found.lifetime is Lifetime.TEMPORARY:
            return f"{found.offset}+{found.size}"
        return self.pointer(buffer)


def _title(call: Call) -> str:
    """The kind and the layer; what the compiler put there is named after its kind already."""
    module, kind, name = call.op.source.module, call.op.kind, call.op.name
    return f"{kind} {module or name}" if module or not name.startswith(kind) else name


def _broken(start: str, items: list[str], end: str) -> list[str]:
    """``start`` and the items, with commas between, in lines of at most 100 columns, each below the first item."""
    lines, line = [], start
    for i, item in enumerate(items):
        text = item + (end if i + 1 == len(items) else ",")
        if i and len(line) + 1 + len(text) > _WIDTH:
            lines.append(line)
            line = " " * len(start) + text
        else:
            line += f" {text}" if i else text
    return [*lines, line]


def io_total(ios: list[Io]) -> int:
    """Bytes of all, each rounded up to 16."""
    return sum(round_up(io.bytes) for io in ios)
