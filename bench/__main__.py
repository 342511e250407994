"""Counts instructions of our kernels and nets, prints them beside CMSIS-NN's, and compares with the stored run.

Exit code 1 if a row rose by more than 1 %, 2 if something could not be measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from bench.baselines import COMPILERS, CORES, GROUPS
from bench.counting import Choice, kernel, measure, work
from bench.measure import prune
from bench.profile import profile
from bench.results import compare, load, save, updated
from bench.tables import grouped, print_changes, summary, table, worst
from bench.timing import print_cycles
from rushlight.errors import RushlightError
from rushlight.target import resolve


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    args = _parser().parse_args(arguments)
    choice = Choice(
        tuple(args.net or GROUPS),
        tuple(args.core or CORES),
        tuple(args.compiler or COMPILERS),
        tuple(args.layer or ()),
        tuple(args.op or ()),
    )
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    prune()
    try:
        if args.cycles:
            print_cycles(choice, console)
            return 0
        return print_profiles(choice, console) if args.profile else run(choice, console, args.update, args.all)
    except RushlightError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=sys.modules[__name__].__doc__)
    parser.add_argument("--net", action="append", choices=GROUPS, help="these nets alone")
    parser.add_argument("--core", action="append", choices=list(CORES), help="these cores alone")
    parser.add_argument("--compiler", action="append", choices=COMPILERS, help="these compilers alone")
    parser.add_argument("--layer", action="append", type=int, help="these layers of the nets alone")
    parser.add_argument("--op", action="append", help="layers of these operators alone, e.g. DW")
    parser.add_argument("--all", action="store_true", help="print every layer, not only the worst")
    parser.add_argument("--profile", action="store_true", help="list what each layer chosen spends its instructions on")
    parser.add_argument("--cycles", action="store_true", help="estimate the cycles of the layers and nets chosen")
    parser.add_argument("--update", action="store_true", help="store what was counted in bench/results.json")
    return parser


def run(choice: Choice, console: Console, update: bool, everything: bool) -> int:
    """Measures, prints and compares."""
    stderr = Console(stderr=True)
    with stderr.status("counting") as status:
        measured = measure(choice, lambda text: status.update(f"counted {text}"))
    rows = measured.rows
    nets = grouped(row for row in rows if row.layer is None)
    if nets:
        console.print(table(nets, "Whole nets, int8 in and out (NHWC), everything that a run does"))
    singles = grouped(row for row in rows if row.layer is not None)
    if everything or choice.indices or choice.ops:
        console.print(table(singles, "Layers"))
    elif singles:
        console.print(table(worst(rows), "The layers worst off"))
    for layer in choice.layers():
        if work(layer) is None:
            console.print(f"{layer}: {'no kernel yet' if layer.net == 'EXTRA' else 'folded into another layer'}")
    console.print(summary(rows))
    changes = compare(load(), rows)
    print_changes(console, changes)
    for line in measured.wrong:
        console.print(f"[red]wrong[/]: {line}; run the kernel's tests")
    if update:
        save(updated(load(), rows))
    if measured.wrong:
        return 2
    return 1 if not update and any(change.too_much for change in changes) else 0


def print_profiles(choice: Choice, console: Console) -> int:
    """Lists functions and instructions of each layer chosen."""
    for layer in choice.layers():
        some = work(layer)
        if some is None:
            console.print(f"{layer}: no kernel yet")
            continue
        for core, compiler in choice.jobs:
            found = profile(some, kernel(layer, core), resolve(CORES[core]), compiler)
            console.print(f"\n[bold]{layer}, {core}, {compiler}[/]: {found.total:,} instructions, {layer.macs:,} MACs")
            for name, count in found.functions.items():
                console.print(f"{count:>12,} {count / found.total:6.1%}  {count / layer.macs:8.3f} a MAC  {name}")
            for line in found.lines:
                console.print(line, markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
