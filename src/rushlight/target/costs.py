"""What kernels cost: instructions and cycles of a call, estimated from how often its loops run.

``costs.json`` has, for each core and kernel, the instructions of each loop feature (``Operator.features``), and cycles an
instruction. ``python -m bench.costs --update`` measures and fits it; its figures hold for the compiler and flags named there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rushlight.target.core import Core

DATA = Path(__file__).with_name("costs.json")


@dataclass(frozen=True)
class Cost:
    """Estimates of one call. ``cycles`` is None where there is no model of the core's timing."""

    instructions: float
    cycles: float | None


@dataclass(frozen=True)
class KernelCost:
    """Instructions of each feature; cycles an instruction (None: not known)."""

    instructions: Mapping[str, float]
    cycles: float | None


@dataclass(frozen=True)
class CostTable:
    """The content of ``costs.json``.

    Attributes:
        compiler: whose code was measured.
        flags: the flags it was given.
        stand_ins: core → measured core whose code is all but the same.
        kernels: measured core → C function → its costs.
        instruction_error: how far the instructions of a whole network may be off, as a share, as tested.
        cycle_errors: core → how far cycles may be off, as a share, judged; a core that is missing has no cycles.
    """

    compiler: str
    flags: str
    stand_ins: Mapping[str, str]
    kernels: Mapping[str, Mapping[str, KernelCost]]
    instruction_error: float
    cycle_errors: Mapping[str, float]

    def predict(self, symbol: str, features: Mapping[str, float], core: Core) -> Cost | None:
        """The cost of a call of a kernel; None where it was not measured on the core, or its features have changed."""
        entry = self.kernels.get(self.stand_ins.get(core.name, core.name), {}).get(symbol)
        counted = {name: count for name, count in features.items() if count}
        if entry is None or not counted or not counted.keys() <= entry.instructions.keys():
            return None
        instructions = sum(entry.instructions[name] * count for name, count in counted.items())
        known = entry.cycles is not None and core.name in self.cycle_errors
        return Cost(instructions, instructions * entry.cycles if known and entry.cycles is not None else None)


def read_costs(path: Path) -> CostTable:
    """Reads a cost table."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return CostTable(
        compiler=data["compiler"],
        flags=data["flags"],
        stand_ins=data["stand_ins"],
        kernels={
            core: {
                symbol: KernelCost(entry["instructions"], entry["cycles_per_instruction"])
                for symbol, entry in kernels.items()
            }
            for core, kernels in data["cores"].items()
        },
        instruction_error=data["instruction_error"],
        cycle_errors=data["cycle_errors"],
    )


@cache
def costs() -> CostTable:
    """The table that comes with Rushlight."""
    return read_costs(DATA)
