"""Where the instructions of one kernel call go: its disassembly with a count for each instruction."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from bench.measure import Work, build, case_bytes
from bench.trace import disassembly, functions, trace
from rushlight.ops.base import Kernel
from rushlight.target import Target

#: "  1a2:	movs	r0, #1" and "/path/kernels/conv2d/dsp.c:41 (discriminator 3)".
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(.+)$")
_LINE = re.compile(r"^(/\S+/)?(?P<place>[^/\s]+/[^/\s]+:\d+)")


@dataclass(frozen=True)
class Profile:
    """Counts of one call. ``functions``: name → instructions in it; ``lines``: the listing of what runs often."""

    total: int
    functions: dict[str, int]
    lines: list[str]


def profile(work: Work, kernel: Kernel, target: Target, compiler: str, share: float = 0.004) -> Profile:
    """Runs one call under the plugin; instructions with at least ``share`` of the whole are listed.

    Raises:
        RushlightError: a tool is missing, or building or running failed.
    """
    elf = build([kernel], target, compiler)
    (window,) = trace(elf, target, [case_bytes(work, kernel, 1)], 4, ["call_1"], "rl_port_counter_read")
    counts = {address: runs.count for address, runs in window.items()}
    total = sum(counts.values())
    symbols = functions(elf)
    addresses = [address for address, _ in symbols]
    by_function: Counter[str] = Counter()
    for address, count in counts.items():
        by_function[symbols[bisect_right(addresses, address) - 1][1]] += count
    text = disassembly(elf, target)
    return Profile(total, dict(by_function.most_common()), _listing(text, counts, total, max(1, int(total * share))))


def _listing(text: str, counts: dict[int, int], total: int, least: int) -> list[str]:
    """The stretches of a disassembly in which instructions run at least ``least`` times."""
    lines: list[str] = []
    place = said = function = ""
    open_stretch = False
    for line in text.splitlines():
        if line.endswith(">:"):
            function, said = line.partition("<")[2].removesuffix(">:"), ""
        elif match := _LINE.match(line):
            place = match["place"]
        elif match := _INSTRUCTION.match(line):
            count = counts.get(int(match[1], 16), 0)
            if count < least:
                open_stretch = False
                continue
            if not open_stretch:
                lines += ["", f"{function}:"] if said == "" else ["  ..."]
                open_stretch = True
            note = "" if place == said else f"  ; {place}"
            said = place
            words = re.split(r" [;@] ", match[2])[0].replace("\t", " ").rstrip()
            lines.append(f"{count:>12,} {count / total:6.1%}  {match[1]:>8}  {words:<44}{note}".rstrip())
    return lines
