"""The tables in README.md and docs/benchmarks.md, written from ``results.json``: ``python -m bench.pages``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.baselines import CORES, NETS, PRUNED, baseline, layers
from bench.goals import goal, met, ratio
from bench.results import Row, load

CHECKOUT = Path(__file__).resolve().parents[1]
README = CHECKOUT / "README.md"
PAGE = CHECKOUT / "docs" / "benchmarks.md"

_NAMES = {"m0p": "M0+", "m3": "M3", "m4": "M4", "m7": "M7", "m33": "M33", "m55": "M55"}
_BLOCK = re.compile(r"(<!-- bench: [^\n]* -->\n).*?(<!-- /bench -->)", re.DOTALL)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its first column to the left and the others to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _by_compiler(rows: Iterable[Row], net: str, layer: int | None, core: str) -> dict[str, Row]:
    return {r.compiler: r for r in rows if (r.net, r.layer, r.core) == (net, layer, core)}


def _ratios(found: dict[str, Row]) -> str:
    return " / ".join(f"{ratio(found[c]):.2f}" for c in ("gcc", "clang") if c in found) or "–"


def nets_table(rows: Sequence[Row]) -> str:
    """Whole nets: our instructions over CMSIS-NN's, under GCC / clang; bold where the goal is met."""
    lines = []
    for net in (*NETS, *PRUNED):
        cells = []
        for core in CORES:
            found = _by_compiler(rows, net, None, core)
            reached = bool(found) and goal(next(iter(found.values()))) is not None and met(found)
            cells.append(f"**{_ratios(found)}**" if reached else _ratios(found))
        lines.append([net, *cells])
    return markdown(["ours ÷ CMSIS-NN", *(_NAMES[core] for core in CORES)], lines)


def counts_table(rows: Sequence[Row]) -> str:
    """Whole nets: instructions under the better compiler, and for each MAC."""
    lines = []
    for net in (*NETS, *PRUNED):
        cells = []
        for core in CORES:
            found = _by_compiler(rows, net, None, core)
            best = min(found.values(), key=lambda row: row.instructions, default=None)
            cells.append("–" if best is None else f"{best.instructions:,} ({best.instructions / best.macs:.2f})")
        lines.append([net, *cells])
    return markdown(["instructions (a MAC)", *(_NAMES[core] for core in CORES)], lines)


def layers_table(rows: Sequence[Row]) -> str:
    """Every layer that has a kernel: ratios under GCC / clang; bold where the layer's goal is missed."""
    lines = []
    for shape in layers():
        cells = []
        for core in CORES:
            found = _by_compiler(rows, shape.net, shape.index, core)
            cells.append(f"**{_ratios(found)}**" if found and not met(found) else _ratios(found))
        if set(cells) != {"–"}:
            lines.append([str(shape), *cells])
    return markdown(["layer", *(_NAMES[core] for core in CORES)], lines)


def readme_text(rows: Sequence[Row]) -> str:
    """README.md with its block of figures written anew."""
    text = README.read_text(encoding="utf-8")
    return _BLOCK.sub(lambda found: f"{found[1]}{nets_table(rows)}\n{found[2]}", text)


def page_text(rows: Sequence[Row]) -> str:
    """docs/benchmarks.md."""
    total = sum(1 for net in NETS for core in CORES if _by_compiler(rows, net, None, core))
    done = sum(1 for net in NETS for core in CORES if (f := _by_compiler(rows, net, None, core)) and met(f))
    smallest = baseline("IC", None, "m55").best
    return f"""# Instructions, beside CMSIS-NN

Written by `python -m bench.pages` from `bench/results.json`, which `make bench` measures and holds: exact counts in QEMU at -O3
under GCC 12.2 and clang 19. CMSIS-NN's figure is the smaller of its two (for IC on the M55, for example, {smallest:,});
[bench/README.md](../bench/README.md) tells how both were counted.

## Whole nets

GCC / clang, int8 in and out. Bold: the better compiler reaches the goal of `bench/goals.json` ({done} of {total}). VWW-pruned is
VWW as `rl.compile` makes it by default, without the channels that can only have one value, over CMSIS-NN's count for all of it.

{nets_table(rows)}

{counts_table(rows)}

## Layers

Bold: above the layer's goal.

{layers_table(rows)}
"""


def main() -> None:
    """Writes both files."""
    rows = load()
    README.write_text(readme_text(rows), encoding="utf-8")
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page_text(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
