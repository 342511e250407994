"""What a compiled program is made of: layers, kernels, memory, and each step that the user should know of."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rushlight.emit.program import affine, program_facts, read_program
from rushlight.errors import RushlightError
from rushlight.schedule.types import Schedule

_NARROWEST = 60
#: Columns that a narrow page does without, the first one first: the kernel's name ends in its tier.
_SPARED = ("tier", "scratch", "weights", "ms", "MACs")
_NUMBERS = frozenset({"MACs", "instructions", "ms", "weights", "scratch"})


@dataclass(frozen=True)
class Layer:
    """One kernel call. Sizes in bytes; ``weights`` are its packed constants, also those that another layer shares.

    ``instructions``, ``cycles`` and ``ms`` (at the board's clock) are estimates; None where there is no figure.
    """

    name: str
    module: str
    source: str
    op: str
    inputs: list[list[int]]
    output: list[int]
    macs: int
    kernel: str
    tier: str
    scratch: int
    weights: int
    parameters: int
    note: str
    instructions: int | None = None
    cycles: int | None = None
    ms: float | None = None


@dataclass(frozen=True)
class Build:
    """Exact bytes of a built program (flash: code, constants and initialised data; RAM without stack), and its compiler."""

    flash: int
    ram: int
    toolchain: str


class _Sections(Protocol):
    @property
    def flash(self) -> int: ...
    @property
    def ram(self) -> int: ...


@dataclass(frozen=True)
class Report:
    """Prints as text; ``to_json`` has the same for programs. ``build`` is there once the program was built."""

    facts: Mapping[str, Any]
    layers: tuple[Layer, ...]
    build: Build | None = None

    @classmethod
    def from_schedule(cls, schedule: Schedule) -> Report:
        """The report of a program that has not been written yet."""
        return cls.from_facts(program_facts(schedule))

    @classmethod
    def from_folder(cls, folder: Path) -> Report:
        """The report of a compiled folder, from its program.json.

        Raises:
            RushlightError: it is no compiled folder, or not as this version of Rushlight writes it.
        """
        facts = read_program(folder)
        try:
            report = cls.from_facts(facts)
            report.text()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RushlightError(
                f"{folder / 'program.json'}: a key is missing or malformed ({error}); compile the model again"
            ) from None
        return report

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Report:
        """The report of what ``program_facts`` gives."""
        return cls(facts, tuple(Layer(**layer) for layer in facts["layers"]))

    def with_build(self, sections: _Sections, toolchain: str) -> Report:
        """The same with the sizes of the built program (``firmware.Sections``) and the compiler's name and version."""
        return Report(self.facts, self.layers, Build(sections.flash, sections.ram, toolchain))

    def to_json(self) -> dict[str, Any]:
        """JSON values: what program.json says, and ``build`` (None if it is not known)."""
        return {**self.facts, "build": asdict(self.build) if self.build is not None else None}

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Tables in plain text, at most ``width`` columns wide (the terminal's; 120 where there is none)."""
        columns = max(width or shutil.get_terminal_size((120, 24)).columns, _NARROWEST)
        out = io.StringIO()
        console = Console(
            file=out, width=columns, color_system=None, force_terminal=False, markup=False, highlight=False, emoji=False
        )
        for line in self._head():
            console.print(Text(line))
        console.print(self._table(columns))
        for line in (*self._totals(), *self._notes()):
            console.print(Text(line))
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    def _head(self) -> list[str]:
        facts = self.facts
        lines = [f"{facts['name']} for {facts['core']} on {facts['board_title']} ({facts['board']})"]
        if facts["target_note"]:
            lines.append(facts["target_note"])
        lines.append(f"kernels, best first: {', '.join(facts['tiers'])}")
        lines += [f"input {_tensor(t)}" for t in facts["inputs"]]
        lines += [f"output {_tensor(t)}" for t in facts["outputs"]]
        if self.build is not None:
            lines.append(f"built with {self.build.toolchain}")
        return lines

    def _table(self, columns: int) -> Table:
        """A row a layer; a narrow page does without the columns that it can best spare."""
        cells = {
            "layer": [layer.module or layer.name for layer in self.layers],
            "op": [layer.op for layer in self.layers],
            "output": [_shape(layer.output) for layer in self.layers],
            "MACs": [f"{layer.macs:,}" for layer in self.layers],
            "instructions": [_figure(layer.instructions) for layer in self.layers],
            "ms": [_figure(layer.ms) for layer in self.layers],
            "weights": [f"{layer.weights:,}" for layer in self.layers],
            "kernel": [layer.kernel for layer in self.layers],
            "tier": [layer.tier for layer in self.layers],
            "scratch": [f"{layer.scratch:,}" for layer in self.layers],
        }
        spare = list(_SPARED)
        while spare and sum(max(map(len, (title, *texts))) + 3 for title, texts in cells.items()) + 1 > columns:
            del cells[spare.pop(0)]
        table = Table(box=box.MARKDOWN)
        for title in cells:
            table.add_column(title, justify="right" if title in _NUMBERS else "left", overflow="fold")
        for row in zip(*cells.values(), strict=True):
            table.add_row(*map(Text, row))
        return table

    def _totals(self) -> list[str]:
        facts = self.facts
        rom, ram = _region(facts, "rom"), _region(facts, "ram")
        flash, arena = facts["flash"], facts["arena"]
        constants = flash["constants"] + flash["parameters"]
        code = "; code: exact once built" if self.build is None else ""
        lines = [
            f"MACs   {facts['macs']:,} a run",
            f"cost   {self._cost()}",
            f"RAM    {arena['bytes']:,} bytes of arena; {arena['lower_bound']:,} alive at once, the lower bound; "
            f"board {ram['bytes']:,} ({ram['name']})",
            f"flash  {constants:,} bytes of constants (weights {flash['constants']:,}, parameters "
            f"{flash['parameters']:,}){code}; board {rom['bytes']:,} ({rom['name']})",
        ]
        if self.build is not None:
            lines.append(f"built  {self.build.flash:,} bytes of flash, {self.build.ram:,} of RAM without the stack")
        return lines

    def _cost(self) -> str:
        """What a run takes, as estimates, and how exact they are."""
        cost = self.facts.get("cost")
        if cost is None or cost["instructions"] is None:
            without = sorted({layer.kernel for layer in self.layers if layer.instructions is None})
            return f"no figure: it was not measured for {', '.join(without)} on {self.facts['core']}"
        for_what = f"for {cost['compiler']} {cost['flags']}"
        text = (
            f"{cost['instructions']:,} instructions a run, an estimate {for_what} (to {cost['instruction_error']:.0%})"
        )
        if cost["cycles"] is None:
            return f"{text}; no figure for cycles: there is no model of {self.facts['core']}"
        clock = f"{cost['clock_hz'] / 1e6:g} MHz"
        cycles = f"{cost['cycles']:,} cycles, {_figure(cost['ms'])} ms at {clock}"
        return f"{text}; {cycles}, an estimate (to {cost['cycle_error']:.0%}, memory without wait states)"

    def _notes(self) -> list[str]:
        notes = [f"{n['kind']}: {n['where']}: {n['text']}" for n in self.facts["notes"]]
        notes += [f"kernel: {layer.module or layer.name}: {layer.note}" for layer in self.layers if layer.note]
        return ["", "notes", *(f"- {note}" for note in notes)] if notes else []


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}".rstrip("0").rstrip(".")


def _shape(shape: list[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _tensor(tensor: Mapping[str, Any]) -> str:
    text = f"{tensor['name']}: {tensor['dtype']} {_shape(tensor['shape'])}"
    if tensor["scale"] is not None:
        text += f", {affine(tensor['scale'], tensor['zero_point'])}"
    return text if tensor["layout"] == "model" else f"{text}, {tensor['layout']}"


def _region(facts: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found: list[Mapping[str, Any]] = [region for region in facts["regions"] if region["name"] == facts[key]]
    if not found:
        raise ValueError(f"no region '{facts[key]}'")
    return found[0]
