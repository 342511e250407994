"""The tables that a run prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from bench.baselines import COMPILERS, CORES, NETS, PRUNED, baseline, layers, net_macs
from bench.goals import goal, met, ratio
from bench.results import Change, Row

WORST_SHOWN = 10

#: Rows of one layer or net on one core, by compiler.
Group = dict[str, Row]


def grouped(rows: Iterable[Row]) -> list[Group]:
    """Rows that differ by compiler alone stand together; in the order of nets, layers and cores."""
    groups: dict[tuple[str, int | None, str], Group] = defaultdict(dict)
    for row in rows:
        groups[row.net, row.layer, row.core][row.compiler] = row
    names = [*((net, None) for net in (*NETS, *PRUNED)), *((shape.net, shape.index) for shape in layers())]
    cores = list(CORES)
    return [groups[key] for key in sorted(groups, key=lambda k: (names.index((k[0], k[1])), cores.index(k[2])))]


def worst(rows: Iterable[Row], count: int = WORST_SHOWN) -> list[Group]:
    """The layers whose ratio under the better compiler is greatest."""
    groups = grouped(row for row in rows if row.layer is not None)
    return sorted(groups, key=lambda group: -min(map(ratio, group.values())))[:count]


def table(groups: Sequence[Group], title: str) -> Table:
    """A line for each group: both compilers beside the smaller of CMSIS-NN's."""
    shapes = {(shape.net, shape.index): str(shape) for shape in layers()}
    out = Table(title=title, title_justify="left", title_style="bold")
    for name in ("", "core"):
        out.add_column(name, no_wrap=True)
    for name in (
        "gcc",
        "clang",
        "CMSIS-NN",
        "gcc ÷",
        "clang ÷",
        "goal",
        "gcc/MAC",
        "clang/MAC",
        "CMSIS/MAC",
        "scratch",
    ):
        out.add_column(name, justify="right", no_wrap=True)
    for group in groups:
        row = next(iter(group.values()))
        base = baseline(row.net, row.layer, row.core).best
        both = [group.get(compiler) for compiler in COMPILERS]
        out.add_row(
            row.net if row.layer is None else shapes[row.net, row.layer],
            row.core,
            *(f"{r.instructions:,}" if r else "" for r in both),
            f"{base:,}",
            *(f"{ratio(r):.2f}" if r else "" for r in both),
            "" if (wanted := goal(row)) is None else f"{wanted:.2f} {'met' if met(group) else 'not'}",
            *(f"{r.instructions / r.macs:.3f}" if r else "" for r in both),
            f"{base / (row.macs if row.layer is not None else net_macs(row.net)):.3f}",
            f"{row.scratch:,}",
            style="" if met(group) else "red",
        )
    return out


def summary(rows: Sequence[Row]) -> str:
    """How many goals are met."""
    counts = []
    for what, some in (
        ("nets", [r for r in rows if r.layer is None]),
        ("layers", [r for r in rows if r.layer is not None]),
    ):
        groups = [group for group in grouped(some) if goal(next(iter(group.values()))) is not None]
        if groups:
            counts.append(f"goals met: {sum(map(met, groups))} of {len(groups)} {what} x cores")
    return "; ".join(counts)


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
