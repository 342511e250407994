"""Shows the tables that end-to-end tests fill; the command line and a folder of small files for it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.tables import BUILD, collect, file_name, markdown, natural

if TYPE_CHECKING:
    from tests.e2e.command import Command


@pytest.fixture(scope="session")
def _files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.e2e.command import write_files

    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture
def folder(_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with net.pt2, quantized.pt2, data.npz, x.npz, and out/ compiled for cortex-m4."""
    shutil.copytree(_files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def rushlight(folder: Path, capfd: pytest.CaptureFixture[str]) -> Command:
    """The ``rushlight`` command, run in ``folder`` by this process."""
    from tests.e2e.command import Command

    return Command(capfd)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tables = collect(terminalreporter.getreports("passed"))
    for title, rows in tables.items():
        rows.sort(key=natural)
        terminalreporter.section(title)
        for line in markdown(rows):
            terminalreporter.write_line(line)
        BUILD.mkdir(exist_ok=True)
        (BUILD / file_name(title)).write_text("\n".join([f"{title}.", "", *markdown(rows), ""]))
