"""The figures that people read are the stored ones."""

from __future__ import annotations

from bench.pages import PAGE, README, page_text, readme_text
from bench.results import load


def test_readme_and_the_page_of_figures_are_made_from_the_stored_run() -> None:
    rows = load()
    assert readme_text(rows) == README.read_text(encoding="utf-8"), "run python -m bench.pages"
    assert page_text(rows) == PAGE.read_text(encoding="utf-8"), "run python -m bench.pages"
    assert README.read_text(encoding="utf-8").count("| IC |") >= 2, "accuracy and instructions both stand there"
