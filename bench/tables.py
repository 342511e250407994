"""The tables that a run prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.baselines import CORES, baseline, layers
from bench.results import Change, Row

#: No layer may take more than these shares of its baseline: under the better and under the worse compiler.
BETTER_LIMIT, WORSE_LIMIT = 0.9, 1.0
WORST_SHOWN = 10

#: Rows of one layer and core, by compiler.
Group = dict[str, Row]


def grouped(rows: Sequence[Row]) -> dict[tuple[str, int | None, str], Group]:
    """(net, layer, core) → compiler → row."""
    groups: dict[tuple[str, int | None, str], Group] = defaultdict(dict)
    for row in rows:
        groups[row.net, row.layer, row.core][row.compiler] = row
    return dict(groups)


def ratio(row: Row) -> float:
    """Ours to the smaller of CMSIS-NN's under GCC and clang."""
    return row.instructions / baseline(row.net, row.layer, row.core).best


def beyond(group: Group) -> bool:
    """Whether a layer takes more of its baseline than it may."""
    shares = [ratio(row) for row in group.values()]
    return min(shares) > BETTER_LIMIT or max(shares) > WORSE_LIMIT


def worst(rows: Sequence[Row], count: int = WORST_SHOWN) -> list[tuple[str, int, str]]:
    """Keys of the layers whose ratio under the better compiler is greatest."""
    groups = grouped([row for row in rows if row.layer is not None])
    order = sorted(groups, key=lambda key: -min(ratio(row) for row in groups[key].values()))
    return [(net, layer, core) for net, layer, core in order[:count] if layer is not None]


def layer_table(rows: Sequence[Row], title: str, keys: Sequence[tuple[str, int, str]] | None = None) -> Table:
    """A line for each layer and core: both compilers beside the smaller baseline."""
    groups = grouped([row for row in rows if row.layer is not None])
    shapes = {(shape.net, shape.index): shape for shape in layers()}
    table = Table(title=title, title_justify="left")
    for name in ("layer", "core"):
        table.add_column(name, no_wrap=True)
    for name in ("gcc", "clang", "CMSIS-NN", "ratio gcc", "clang", "per MAC gcc", "clang", "CMSIS-NN", "scratch"):
        table.add_column(name, justify="right", no_wrap=True)
    for net, layer, core in keys if keys is not None else _ordered(groups):
        group = groups[net, layer, core]
        base = baseline(net, layer, core)
        some = next(iter(group.values()))
        both = [group.get(compiler) for compiler in ("gcc", "clang")]
        table.add_row(
            str(shapes[net, layer]),
            core,
            *(f"{row.instructions:,}" if row else "" for row in both),
            f"{base.best:,}",
            *(f"{ratio(row):.2f}" if row else "" for row in both),
            *(f"{row.instructions / row.macs:.2f}" if row else "" for row in both),
            f"{base.best / some.macs:.2f}",
            f"{some.scratch:,}",
            style="red" if beyond(group) else "",
        )
    return table


def _ordered(groups: dict[tuple[str, int | None, str], Group]) -> list[tuple[str, int, str]]:
    names = [(shape.net, shape.index) for shape in layers()]
    keys = [(net, layer, core) for net, layer, core in groups if layer is not None]
    return sorted(keys, key=lambda k: (names.index((k[0], k[1])), list(CORES).index(k[2])))


def print_changes(console: Console, changes: Sequence[Change]) -> None:
    """A line for each row that rose by too much, and how many others changed."""
    risen = [c for c in changes if c.too_much]
    for change in risen:
        row = change.new
        where = f"{row.net} {'whole' if row.layer is None else row.layer} {row.op} {row.core} {row.compiler}"
        console.print(
            f"[red]rose by {change.share:.1%}[/]: {where}: {change.old.instructions:,} → {row.instructions:,}"
        )
    fell = sum(1 for c in changes if c.share < 0)
    if changes:
        others = len(changes) - len(risen) - fell
        console.print(f"{len(risen)} rows rose by more than 1 %, {others} by less, {fell} fell since the stored run")
