"""make_schedule: from an integer graph to calls, a memory plan and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rushlight.errors import RushlightError
from rushlight.graph import Graph, Op
from rushlight.ops import operator
from rushlight.ops.base import Constant, Kernel
from rushlight.schedule.choice import cheapest, estimate, room
from rushlight.schedule.fits import check_fits
from rushlight.schedule.memory import Request, place
from rushlight.schedule.types import ARENA, Buffer, Call, Lifetime, MemoryPlan, Schedule, as_constant
from rushlight.target import Target

#: Takes an operator and its candidate kernels, best first; returns the one to run.
Choose = Callable[[Op, Sequence[Kernel]], Kernel]


def make_schedule(graph: Graph, target: Target, *, choose: Choose | None = None) -> Schedule:
    """Chooses kernels, places buffers and collects constants.

    Args:
        graph: a verified integer graph. An output that is also an input, a constant or a view of one, or that shares its
            bytes with another output, must come from an explicit copy.
        target: core (its tiers choose the kernels) and board (its memory must suffice).
        choose: picks each operator's kernel in place of the estimate of cost.

    Raises:
        RushlightError: an operator has no kernel for the core.
        DoesNotFit: the board's RAM or flash is too small.
    """
    building = _Building(graph, target, _storage(graph), choose)
    for op in graph.ops:
        if not operator(op.kind).view:
            building.add(op)
    buffers, plan = _place(building)
    schedule = Schedule(
        graph=graph,
        target=target,
        calls=tuple(building.calls),
        buffers=buffers,
        storage=building.storage,
        constants=building.constants,
        plan=plan,
    )
    check_fits(schedule)
    return schedule


def _storage(graph: Graph) -> dict[str, str]:
    """Tensor → buffer. Views share their input's; a buffer that an output is a view of is called after the output."""
    root: dict[str, str] = {name: name for name in graph.tensors}
    for op in graph.ops:
        if operator(op.kind).view:
            root[op.outputs[0]] = root[op.inputs[0]]
    given: dict[str, str] = {}
    for name in graph.outputs:
        base = root[name]
        assert base not in graph.inputs, f"output {name} needs a copy: it is input {base}"
        assert not graph[base].constant, f"output {name} needs a copy: it is constant {base}"
        assert base not in given, f"output {name} needs a copy: it has the bytes of output {given[base]}"
        given[base] = name
    return {name: given.get(base, base) for name, base in root.items()}


@dataclass
class _Building:
    graph: Graph
    target: Target
    storage: dict[str, str]
    pick: Choose | None
    calls: list[Call] = field(default_factory=list)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    by_content: dict[tuple[str, int, bytes], str] = field(default_factory=dict)
    over: dict[str, tuple[str, ...]] = field(default_factory=dict)  # output → inputs on whose bytes it may be written

    def __post_init__(self) -> None:
        for name in self.graph.inputs:
            self.buffers[name] = Buffer(name, self.graph[name].nbytes, Lifetime.INPUT, 0, 0)

    def add(self, op: Op) -> None:
        """Appends the call of one operator."""
        kernel = self.choose(op)
        at = len(self.calls)
        reads = tuple(self.read(op.inputs[index], at) for index in kernel.reads)
        constants = tuple(self.constant(f"{op.name}.{constant.role}", constant) for constant in kernel.constants)
        for name in op.outputs:
            home = self.storage[name]
            lifetime = Lifetime.OUTPUT if home in self.graph.outputs else Lifetime.TEMPORARY
            self.buffers[home] = Buffer(home, self.graph[name].nbytes, lifetime, at, at)
        outputs = tuple(self.storage[name] for name in op.outputs)
        # An input that the kernel also reads through a pointer for which in-place is not allowed must stay whole.
        barred = {self.storage[op.inputs[index]] for index in kernel.reads if index not in kernel.in_place}
        self.over[outputs[0]] = tuple(
            home for home in dict.fromkeys(self.storage[op.inputs[i]] for i in kernel.in_place) if home not in barred
        )
        scratch = None
        if kernel.takes_scratch and kernel.scratch > 0:
            scratch = f"{op.name}.scratch"
            self.buffers[scratch] = Buffer(scratch, kernel.scratch, Lifetime.TEMPORARY, at, at)
        macs = operator(op.kind).macs(op, self.graph)
        cost = estimate(op, kernel, self.target.core)
        self.calls.append(Call(op, kernel, reads, constants, outputs, scratch, macs, cost))

    def choose(self, op: Op) -> Kernel:
        tiers = self.target.core.tiers
        candidates = operator(op.kind).kernels(op, self.graph, tiers)
        if not candidates:
            raise RushlightError(
                f"{op.kind} {op.source}: has no kernel for {self.target.core.name} (tiers {', '.join(tiers)}); "
                f"choose another target"
            )
        if self.pick is not None:
            return self.pick(op, candidates)
        return cheapest(op, candidates, self.target.core, room(self.graph, op))

    def read(self, tensor: str, at: int) -> str:
        """The buffer or constant that a kernel reads a tensor from."""
        home = self.storage[tensor]
        if self.graph[home].constant:
            return self.constant(home, as_constant("data", self.graph[home]))
        self.buffers[home] = replace(self.buffers[home], last=at)
        return home

    def constant(self, name: str, constant: Constant) -> str:
        """The name of the constant with this content."""
        key = (constant.ctype, constant.align, constant.data.tobytes())
        if key not in self.by_content:
            unique, number = name, 2
            while unique in self.constants:
                unique, number = f"{name}.{number}", number + 1
            self.by_content[key] = unique
            self.constants[unique] = constant
        return self.by_content[key]


def _place(building: _Building) -> tuple[dict[str, Buffer], MemoryPlan]:
    """The buffers with their offsets; what the arena takes."""
    temporary = [b for b in building.buffers.values() if b.lifetime is Lifetime.TEMPORARY]
    placeable = {b.name for b in temporary}
    placement = place(
        [
            Request(b.name, b.size, b.first, b.last, tuple(n for n in building.over.get(b.name, ()) if n in placeable))
            for b in temporary
        ]
    )
    buffers = dict(building.buffers)
    for b in temporary:
        buffers[b.name] = replace(b, region=ARENA, offset=placement.offsets[b.name])
    return buffers, MemoryPlan(placement.bytes, placement.lower_bound)
