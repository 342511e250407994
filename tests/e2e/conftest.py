"""Shows the tables that end-to-end tests fill."""

from __future__ import annotations

import pytest

from tests.e2e.tables import BUILD, collect, file_name, markdown, natural


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tables = collect(terminalreporter.getreports("passed"))
    for title, rows in tables.items():
        rows.sort(key=natural)
        terminalreporter.section(title)
        for line in markdown(rows):
            terminalreporter.write_line(line)
        BUILD.mkdir(exist_ok=True)
        (BUILD / file_name(title)).write_text("\n".join([f"{title}.", "", *markdown(rows), ""]))
