"""How many instructions we allow ourselves: shares of CMSIS-NN's, from ``goals.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bench.baselines import PRUNED, baseline
from bench.results import Row


@cache
def _goals() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("goals.json").read_text(encoding="utf-8"))
    return loaded


def ratio(row: Row) -> float:
    """Ours to the smaller of CMSIS-NN's under GCC and clang."""
    return row.instructions / baseline(row.net, row.layer, row.core).best


def goal(row: Row) -> float | None:
    """The share for the better compiler: a net's, an operator's, or the one for every layer; None of a pruned net."""
    goals = _goals()
    if row.net in PRUNED:
        return None
    if row.layer is None:
        return float(goals["nets"][row.net][row.core])
    return float(goals["operators"].get(row.op, {}).get(row.core, goals["better_compiler"]))


def met(rows: Mapping[str, Row]) -> bool:
    """Whether a layer or a net, given its rows by compiler, keeps to its goal.

    The better compiler must reach the goal; a layer must beat its baseline under the worse one too.
    """
    best = min(rows.values(), key=lambda row: row.instructions)
    wanted = goal(best)
    if wanted is None:
        return True
    if ratio(best) > wanted:
        return False
    return best.layer is None or max(map(ratio, rows.values())) <= float(_goals()["worse_compiler"])
