"""Exact instructions and estimated cycles of layers and of whole nets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench.baselines import CORES
from bench.counting import Choice, kernel, work
from bench.cycles import ERRORS, Estimator
from bench.measure import OPT, Work, build, case_bytes, numbering
from bench.nets import net, program
from bench.trace import Window, trace
from rushlight.ops.base import Kernel
from rushlight.target import Target, resolve

#: The function that the harness and the bench's driver call next after what is measured.
STOP = "rl_port_counter_read"


@dataclass(frozen=True)
class Timing:
    """What a call or a run took: a count, and an estimate."""

    instructions: int
    cycles: float

    @property
    def ratio(self) -> float:
        return self.cycles / self.instructions


def _timing(estimator: Estimator, window: Window) -> Timing:
    return Timing(sum(runs.count for runs in window.values()), estimator.cycles(window))


def time_calls(
    works: Sequence[Work], kernels: Sequence[Kernel], target: Target, compiler: str, opt: str = OPT
) -> list[Timing]:
    """Times each kernel's call, all in one program.

    Raises:
        RushlightError: a tool is missing, or building or running failed.
    """
    elf, numbers = build(kernels, target, compiler, opt), numbering(kernels)
    cases = [case_bytes(w, k, numbers[k.symbol]) for w, k in zip(works, kernels, strict=True)]
    starts = [f"call_{number}" for number in numbers.values()]
    windows = trace(elf, target, cases, 4, starts, STOP)
    estimator = Estimator(elf, target)
    return [_timing(estimator, window) for window in windows]


def time_net(name: str, target: str, compiler: str, opt: str = OPT) -> Timing:
    """Times a run of a whole net, from the first instruction of its function on.

    Raises:
        RushlightError: a tool is missing, or building or running failed.
    """
    this, elf, where = net(name), program(name, target, compiler, opt), resolve(target)
    outputs = sum(this.graph[output].nbytes for output in this.graph.outputs)
    (window,) = trace(elf, where, [this.input.tobytes()], outputs, [run_function(name)], STOP)
    return _timing(Estimator(elf, where), window)


def run_function(name: str) -> str:
    """The C function that runs a net."""
    return f"{net(name).graph.name}_run"


def print_cycles(choice: Choice, console: Console) -> None:
    """A table for each core and compiler: layers and nets chosen."""
    shapes = [shape for shape in choice.layers() if work(shape) is not None]
    for core, compiler in choice.jobs:
        target = resolve(CORES[core])
        table = Table(title=f"{core}, {compiler}: cycles are estimates (to {ERRORS[target.core.name]:.0%})")
        for column in ("", "kernel", "instructions", "cycles", "cycles an instruction"):
            table.add_column(column, justify="left" if column in ("", "kernel") else "right")
        works = [some for shape in shapes if (some := work(shape)) is not None]
        kernels = [kernel(shape, core) for shape in shapes]
        timings = time_calls(works, kernels, target, compiler) if works else []
        rows = [(str(s), k.symbol, t) for s, k, t in zip(shapes, kernels, timings, strict=True)]
        rows += [(name, "whole net", time_net(name, CORES[core], compiler)) for name in choice.whole_nets]
        for label, symbol, timing in rows:
            table.add_row(label, symbol, f"{timing.instructions:,}", f"{timing.cycles:,.0f}", f"{timing.ratio:.2f}")
        console.print(table)
