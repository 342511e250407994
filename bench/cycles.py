"""Estimated cycles from exact counts: each class of instruction times what it costs on the core, and taken branches.

M0, M0+, M3 and M4: the timing tables of Arm's Technical Reference Manuals (DDI 0432, 0484, 0337, 0439), memory without wait
states. Arm publishes no tables for M7, M33 and M55: their costs are judged from what is known of their pipelines (M7: two
instructions a cycle where they pair; M33 and M55: some pairs of 16-bit instructions; M55: vectors of 128 bits in two beats, a
load and an arithmetic instruction overlapping). Counts are facts, cycles are estimates: ``ERRORS`` says how far off they may
be; M0+ is checked against an emulator that counts cycles (``make bench-m0p``), the others are judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.trace import Window, disassembly
from rushlight.target import Target

#: Core → how far its cycles may be off, as a share.
ERRORS = {
    "cortex-m0": 0.03,
    "cortex-m0plus": 0.03,
    "cortex-m3": 0.15,
    "cortex-m4": 0.15,
    "cortex-m7": 0.35,
    "cortex-m33": 0.25,
    "cortex-m35p": 0.25,
    "cortex-m55": 0.25,
}


@dataclass(frozen=True)
class Costs:
    """Cycles of a core's instruction classes; one that is not named takes 1.

    ``multiple``: cycles of a load or store of several registers, first and each (M7 moves two a cycle). ``refill``: what a
    taken branch adds. ``pipelined``: a load or store right behind another takes 1. ``overlap``: a vector load and vector
    arithmetic next to each other hide each other by half. ``paired``: the share of all cycles that instructions issued in
    pairs save. ``predicted``: the share of taken branches that cost nothing.
    """

    classes: Mapping[str, float]
    multiple: tuple[float, float]
    refill: float
    pipelined: bool = False
    overlap: bool = False
    paired: float = 0.0
    predicted: float = 0.0


COSTS: Mapping[str, Costs] = {
    "cortex-m0": Costs({"load": 2, "store": 2, "pop pc": 0, "system": 4, "call": 2, "bx": 1}, (1, 1), 2),
    "cortex-m0plus": Costs({"load": 2, "store": 2, "pop pc": 0, "system": 3, "call": 2, "bx": 1}, (1, 1), 1),
    "cortex-m3": Costs(
        {"load": 2, "mla": 2, "long multiply": 4, "divide": 7, "pop pc": 0, "table": 2}, (1, 1), 2, pipelined=True
    ),
    "cortex-m4": Costs(
        {"load": 2, "divide": 7, "pop pc": 0, "table": 2, "fp load": 2, "fp store": 2, "fp mla": 3, "fp divide": 14},
        (1, 1),
        2,
        pipelined=True,
    ),
    "cortex-m33": Costs({"divide": 6, "it": 0, "pop pc": 0, "fp mla": 2, "fp divide": 12}, (0, 1), 1, paired=0.15),
    "cortex-m7": Costs({"divide": 8, "it": 0, "pop pc": 0, "fp divide": 14}, (0, 0.5), 1, paired=0.3, predicted=0.85),
    "cortex-m55": Costs(
        {
            "divide": 8,
            "it": 0,
            "pop pc": 0,
            "fp divide": 13,
            "vector load": 2,
            "vector store": 2,
            "vector": 2,
            "gather": 8,
            "predicate": 1,
            "loop end": 0,
        },
        (0, 1),
        2,
        overlap=True,
        paired=0.1,
    ),
}


@dataclass(frozen=True)
class Instruction:
    """Where it lies, its class, and the registers that it moves if it moves several."""

    address: int
    kind: str
    registers: int = 1


_LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)\t?([^;@]*)")
_CONDITIONS = "eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al"
#: In this order: the first that matches the mnemonic (without .n and .w) names the class.
_CLASSES = [
    (re.compile(pattern), kind)
    for pattern, kind in (
        (rf"b({_CONDITIONS})?$|cbn?z$", "branch"),
        (r"bl$", "call"),
        (rf"bl?x({_CONDITIONS})?$", "bx"),
        (r"tb[bh]$", "table"),
        (r"letp?$", "loop end"),
        (r"(dls|wls)(tp)?(\.\d+)?$", "loop start"),
        (r"it[te]*$", "it"),
        (r"mrs|msr|dsb|dmb|isb|svc|bkpt|cps", "system"),
        (r"pop|push|ldm|stm", "multiple"),
        (r"(ldr|str)d", "double"),
        (r"ldr|ldaex|ldrex", "load"),
        (r"str", "store"),
        (r"ml[as](?!l)", "mla"),
        (r"[su]ml[as]l|[su]mull|umaal", "long multiply"),
        (r"[su]div", "divide"),
        (r"vp(st|not|sel)|vctp", "predicate"),
        (r"vldm|vpop|vstm|vpush", "fp multiple"),
        (r"vldr|vld[24]", "vector load"),
        (r"vstr|vst[24]", "vector store"),
        (r"vdiv|vsqrt", "fp divide"),
        (r"vf?n?m[al][as]", "fp mla"),
        (r"v", "vector"),
    )
]


def classify(address: int, mnemonic: str, operands: str) -> Instruction:
    """The class of an instruction as objdump writes it."""
    name = re.sub(r"\.[nw]$", "", mnemonic)
    kind = next((kind for pattern, kind in _CLASSES if pattern.match(name)), "other")
    if kind == "double":
        return Instruction(address, "multiple", 2)
    if kind in ("multiple", "fp multiple"):
        count = _registers(operands)
        return Instruction(address, "pop pc" if re.search(r"\bpc\b", operands) else "multiple", count)
    if kind == "load" and re.match(r"pc\b", operands.strip()):
        return Instruction(address, "pop pc", 1)
    if name.startswith("v") and kind != "predicate" and not re.search(r"\bq\d", operands):
        # Without a vector register it is the FPU's.
        kind = {"vector load": "fp load", "vector store": "fp store", "vector": "fp"}.get(kind, kind)
    elif kind == "fp mla":
        kind = "vector"
    elif kind == "vector load" and re.search(r"\[[^]]*\bq\d", operands):
        kind = "gather"
    return Instruction(address, kind)


def _registers(operands: str) -> int:
    """How many registers a list in braces names."""
    listed = operands[operands.find("{") + 1 : operands.find("}")]
    count = 0
    for part in listed.split(","):
        first, _, last = part.strip().partition("-")
        numbers = [int(re.sub(r"\D", "", _NUMBERS.get(r, r)) or 0) for r in (first, last or first)]
        count += numbers[1] - numbers[0] + 1
    return count


_NUMBERS = {"sl": "10", "fp": "11", "ip": "12", "sp": "13", "lr": "14", "pc": "15"}


@dataclass
class Estimator:
    """Cycles of stretches of one program."""

    elf: Path
    target: Target
    _listing: list[Instruction] = field(default_factory=list)

    def __post_init__(self) -> None:
        for line in disassembly(self.elf, self.target).splitlines():
            if match := _LINE.match(line):
                self._listing.append(classify(int(match[1], 16), match[2], match[3]))

    def cycles(self, window: Window) -> float:
        """Estimated cycles of the instructions that ran."""
        costs = COSTS[self.target.core.name]
        total, before = 0.0, Instruction(-1, "other")
        for instruction in self._listing:
            runs = window.get(instruction.address)
            if runs is not None:
                total += runs.count * _cost(costs, instruction, before)
                if instruction.kind != "loop end":
                    total += runs.taken * costs.refill * (1 - costs.predicted)
            before = instruction
        return total * (1 - costs.paired)


def _cost(costs: Costs, instruction: Instruction, before: Instruction) -> float:
    """Cycles without the refill; ``before`` is the instruction that lies before it."""
    kind = instruction.kind
    if kind == "multiple":
        return costs.multiple[0] + costs.multiple[1] * instruction.registers
    if kind == "pop pc":
        return costs.classes[kind] + costs.multiple[0] + costs.multiple[1] * instruction.registers
    if costs.pipelined and kind in ("load", "store") and before.kind in ("load", "store"):
        return 1.0
    beats = ("vector", "vector load", "vector store")
    if costs.overlap and kind in beats and before.kind in beats and (kind == "vector") != (before.kind == "vector"):
        return 1.0
    return costs.classes.get(kind, 1.0)
