"""Tables that tests fill row by row: shown at the end of the run and kept as Markdown in ``build/``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "build"

Row = dict[str, str]
_KEY = "table row"


def record_row(record_property: Callable[[str, object], None], title: str, row: Row) -> None:
    """Adds a row to the table of that title; columns are those of its first row. Works across test processes."""
    record_property(_KEY, json.dumps([title, row]))


def collect(reports: Iterable[pytest.TestReport]) -> dict[str, list[Row]]:
    """Title → rows, from the reports of tests that passed, in the order in which they ended."""
    tables: dict[str, list[Row]] = {}
    for report in reports:
        for key, value in report.user_properties:
            if key == _KEY:
                title, row = json.loads(str(value))
                tables.setdefault(title, []).append(row)
    return tables


def markdown(rows: list[Row]) -> list[str]:
    """Lines of a Markdown table whose source is aligned."""
    columns = list(rows[0])
    cells = [columns, *([row[c] for c in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return lines


def file_name(title: str) -> str:
    """``A title: more`` → ``a-title.md``."""
    return re.sub(r"[^a-z0-9]+", "-", title.split(":")[0].lower()).strip("-") + ".md"


def natural(row: Row) -> list[list[tuple[int, str]]]:
    """Sorting key by the row's cells with numbers by value: cortex-m4 before cortex-m33. Processes end in any order."""
    return [[(int(d or 0), text) for text, d in re.findall(r"(\D+)(\d*)|\d+", cell)] for cell in row.values()]
