"""Rows of a measurement, ``results.json`` that keeps them, and the comparison of a new run with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.baselines import COMPILERS, CORES, GROUPS
from rushlight.errors import RushlightError

STORED = Path(__file__).with_name("results.json")
#: A row may rise by this share.
TOLERANCE = 0.01

Key = tuple[str, int | None, str, str]


@dataclass(frozen=True)
class Row:
    """What was counted for a layer, or for a whole net (``layer`` None; ``op`` is "NET").

    ``scratch``: bytes of working memory beside inputs and outputs; of a net, its arena.
    """

    net: str
    layer: int | None
    op: str
    core: str
    compiler: str
    instructions: int
    macs: int
    scratch: int

    @property
    def key(self) -> Key:
        return self.net, self.layer, self.core, self.compiler


def load(path: Path = STORED) -> list[Row]:
    """The rows of a file; none if it is not there.

    Raises:
        RushlightError: the file is not what ``save`` writes.
    """
    if not path.is_file():
        return []
    try:
        rows = [Row(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise RushlightError(f"{path}: not a list of measured rows: {error}; run with --update") from None
    return rows


def save(rows: Iterable[Row], path: Path = STORED) -> None:
    """Writes the rows, one a line, in the order of nets, layers, cores and compilers."""
    lines = [json.dumps(asdict(row), ensure_ascii=True) for row in sorted(rows, key=_order)]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _order(row: Row) -> tuple[int, int, int, int]:
    layer = -1 if row.layer is None else row.layer
    return GROUPS.index(row.net), layer, list(CORES).index(row.core), COMPILERS.index(row.compiler)


def updated(stored: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """The stored rows with the new ones in their places."""
    return list(({row.key: row for row in stored} | {row.key: row for row in new}).values())


@dataclass(frozen=True)
class Change:
    """A row that differs from the stored one."""

    old: Row
    new: Row

    @property
    def share(self) -> float:
        """How much it rose: 0.02 is 2 %."""
        return self.new.instructions / self.old.instructions - 1

    @property
    def too_much(self) -> bool:
        return self.new.instructions > self.old.instructions * (1 + TOLERANCE)


def compare(stored: Sequence[Row], new: Sequence[Row]) -> list[Change]:
    """Rows whose instructions changed, the greatest rise first."""
    before = {row.key: row for row in stored}
    changes = [Change(before[row.key], row) for row in new if row.key in before]
    return sorted((c for c in changes if c.old.instructions != c.new.instructions), key=lambda c: -c.share)
