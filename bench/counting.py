"""From a choice of layers to measured rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial

from bench.baselines import COMPILERS, CORES, GROUPS, NETS, PRUNED, LayerShape, layers
from bench.layers import single_layer
from bench.measure import Work, count_calls, work_of
from bench.nets import count_net, net, schedule
from bench.results import Row
from rushlight.errors import RushlightError
from rushlight.ops.base import Kernel
from rushlight.schedule import make_schedule
from rushlight.target import resolve

#: Emulators and compilers that run at a time.
JOBS = 2


@dataclass(frozen=True)
class Choice:
    """What to measure; with ``indices`` or ``ops`` single layers alone, else whole nets too."""

    nets: tuple[str, ...] = GROUPS
    cores: tuple[str, ...] = tuple(CORES)
    compilers: tuple[str, ...] = COMPILERS
    indices: tuple[int, ...] = ()
    ops: tuple[str, ...] = ()

    @property
    def whole_nets(self) -> list[str]:
        return [] if self.indices or self.ops else [name for name in (*NETS, *PRUNED) if name in self.nets]

    @property
    def jobs(self) -> list[tuple[str, str]]:
        """(core, compiler)."""
        return [(core, compiler) for core in self.cores for compiler in self.compilers]

    def layers(self) -> list[LayerShape]:
        """The layers chosen.

        Raises:
            RushlightError: there are none.
        """
        found = [
            layer
            for layer in layers()
            if layer.net in self.nets
            and (not self.indices or layer.index in self.indices)
            and (not self.ops or layer.op in self.ops)
        ]
        if not found and not self.whole_nets:
            raise RushlightError("no such layer: bench/baselines/cmsis_nn_instructions.csv lists them")
        return found


@cache
def work(layer: LayerShape) -> Work | None:
    """The layer with its data: a net's with trained weights, others with seeded ones; None if we have none such."""
    if layer.net in NETS:
        return net(layer.net).work(layer)
    found = single_layer(layer)
    return None if found is None else work_of(str(layer), *found)


@cache
def kernel(layer: LayerShape, core: str) -> Kernel:
    """The kernel that a compiled model gets for the layer."""
    some = work(layer)
    assert some is not None
    target = CORES[core]
    program = schedule(layer.net, target) if layer.net in NETS else make_schedule(some.graph, resolve(target))
    return next(call.kernel for call in program.calls if call.op.name == some.op.name)


@dataclass
class Measured:
    """What was counted, and what was not as its answer is wrong."""

    rows: list[Row] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, count: int | None, label: str, row: Callable[[int], Row], core: str, compiler: str) -> None:
        """A row for a count, or a line about there being none."""
        if count is None:
            self.wrong.append(f"{label}, {core}, {compiler}: another answer than the reference's")
        else:
            self.rows.append(row(count))


def measure(choice: Choice, done: Callable[[str], None] = lambda text: None) -> Measured:
    """Counts everything chosen; ``done`` is told of each core and compiler that is through.

    Raises:
        RushlightError: a program could not be built or run.
    """
    shapes = [layer for layer in choice.layers() if work(layer) is not None]

    def job(core: str, compiler: str) -> Measured:
        measured = Measured()
        measure_layers(measured, shapes, core, compiler)
        for name in choice.whole_nets:
            measure_net(measured, name, core, compiler)
        done(f"{core} {compiler}")
        return measured

    together = Measured()
    with ThreadPoolExecutor(JOBS) as pool:
        for measured in pool.map(lambda pair: job(*pair), choice.jobs):
            together.rows += measured.rows
            together.wrong += measured.wrong
    return together


def measure_layers(measured: Measured, shapes: Sequence[LayerShape], core: str, compiler: str) -> None:
    """Counts layers that we have, one by one, in one program."""
    if not shapes:
        return
    works = [some for layer in shapes if (some := work(layer)) is not None]
    kernels = [kernel(layer, core) for layer in shapes]
    counts = count_calls(works, kernels, resolve(CORES[core]), compiler)
    for layer, k, count in zip(shapes, kernels, counts, strict=True):
        row = partial(_layer_row, layer, core, compiler, k.scratch)
        measured.add(count, f"{layer} ({k.symbol})", row, core, compiler)


def _layer_row(layer: LayerShape, core: str, compiler: str, scratch: int, count: int) -> Row:
    return Row(layer.net, layer.index, layer.op, core, compiler, count, layer.macs, scratch)


def measure_net(measured: Measured, name: str, core: str, compiler: str) -> None:
    """Counts a run of a whole net."""
    arena = schedule(name, CORES[core]).plan.bytes
    count = count_net(name, CORES[core], compiler)
    measured.add(
        count, name, lambda n: Row(name, None, "NET", core, compiler, n, net(name).macs, arena), core, compiler
    )
