"""``python -m bench``: counts, prints and compares with the stored run. Exit code 1 if a row rose by more than 1 %."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from bench.baselines import COMPILERS, CORES, GROUPS, LayerShape, layers
from bench.layers import single_layer
from bench.measure import Work, count_calls, work_of
from bench.profile import profile
from bench.results import Row, compare, load, save, updated
from bench.tables import layer_table, print_changes, worst
from rushlight.errors import RushlightError
from rushlight.target import resolve

JOBS = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    args = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 170, highlight=False)
    try:
        return _run(args, console)
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
    parser.add_argument(
        "--profile", action="store_true", help="list what the layers chosen spend their instructions on"
    )
    parser.add_argument("--update", action="store_true", help="store what was counted in bench/results.json")
    return parser


def _run(args: argparse.Namespace, console: Console) -> int:
    chosen = [
        layer
        for layer in layers()
        if (not args.net or layer.net in args.net)
        and (not args.layer or layer.index in args.layer)
        and (not args.op or layer.op in args.op)
    ]
    if not chosen:
        raise RushlightError("no such layer: the nets' layers are those of bench/baselines/cmsis_nn_instructions.csv")
    work = {layer: found for layer in chosen if (found := _work(layer)) is not None}
    jobs = [(core, compiler) for core in args.core or CORES for compiler in args.compiler or COMPILERS]
    if args.profile:
        return _profile(work, jobs, console)
    with ThreadPoolExecutor(JOBS) as pool:
        rows = [row for found in pool.map(lambda job: _measure(work, *job), jobs) for row in found]
    console.print(layer_table(rows, "Instructions of our kernels and of CMSIS-NN's"))
    if len(chosen) > len(worst(rows)):
        console.print(layer_table(rows, "Worst layers", worst(rows)))
    for layer in (layer for layer in chosen if layer not in work):
        console.print(f"{layer}: no kernel yet")
    stored = load()
    changes = compare(stored, rows)
    print_changes(console, changes)
    if args.update:
        save(updated(stored, rows))
        return 0
    return 1 if any(change.too_much for change in changes) else 0


def _work(layer: LayerShape) -> Work | None:
    found = single_layer(layer)
    return None if found is None else work_of(str(layer), *found)


def _measure(work: dict[LayerShape, Work], core: str, compiler: str) -> list[Row]:
    target = resolve(CORES[core])
    kernels = [w.kernel(target) for w in work.values()]
    counted = count_calls(list(work.values()), kernels, target, compiler)
    return [
        Row(layer.net, layer.index, layer.op, core, compiler, instructions, layer.macs, kernel.scratch)
        for layer, kernel, instructions in zip(work, kernels, counted, strict=True)
    ]


def _profile(work: dict[LayerShape, Work], jobs: Sequence[tuple[str, str]], console: Console) -> int:
    for layer, some in work.items():
        for core, compiler in jobs:
            found = profile(some, resolve(CORES[core]), compiler)
            console.print(f"\n[bold]{layer}, {core}, {compiler}[/]: {found.total:,} instructions, {layer.macs:,} MACs")
            for name, count in found.functions.items():
                console.print(f"{count:>12,} {count / found.total:6.1%}  {count / layer.macs:8.3f} a MAC  {name}")
            for line in found.lines:
                console.print(line, markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
