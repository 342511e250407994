"""What the demo prints while it works, and the table at its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.bar import Bar
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chips import Chip

_WIDTH = 80  # columns of the table with its bars, and where there is no terminal
_BAR = 10


class Steps:
    """A line a step on a terminal, with what it is doing and how long it took; nothing elsewhere."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Gives a function that says what the step is doing now; what it said last stays."""
        if not self._console.is_terminal:
            yield lambda text: None
            return
        start = time.monotonic()
        line = title
        with self._console.status(title) as status:

            def say(text: str) -> None:
                nonlocal line
                line = f"{title}: {text}"
                status.update(line)

            yield say
        self._console.print(f"[green]✓[/] {line} [dim]{time.monotonic() - start:.1f} s[/]")


def show(labels: NDArray[np.int64], float_answers: NDArray[np.int64], chips: Sequence[Chip]) -> None:
    """Prints the table and what it means."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    console.print()
    console.print(_table(labels, float_answers, chips, bars=console.width >= _WIDTH))
    console.print()
    for line in _lines(float_answers, chips):
        console.print(line)


def _table(labels: NDArray[np.int64], float_answers: NDArray[np.int64], chips: Sequence[Chip], *, bars: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    table.add_column(f"{len(labels)} new digits")
    for title in ("right", "flash\nbytes", "arena\nbytes", "stack\nbytes", "instructions\nan image"):
        table.add_column(title, justify="right", no_wrap=True)
    if bars:
        table.add_column("", width=_BAR)
    table.add_row(_name("PyTorch", "float32, this PC"), _right(float_answers, labels), *["–"] * 4)
    most = max(median(chip.instructions) for chip in chips)
    for chip in chips:
        count = median(chip.instructions)
        table.add_row(
            _name(chip.target.title(), chip.board),
            _right(chip.answers, labels),
            *(f"{number:,.0f}" for number in (chip.flash, chip.arena, chip.stack, count)),
            *([Bar(most, 0, count, width=_BAR, color="cyan")] if bars else []),
        )
    return table


def _name(name: str, detail: str) -> Text:
    return Text.assemble((name, "bold"), "\n", (detail, "dim"))


def _right(answers: NDArray[np.int64], labels: NDArray[np.int64]) -> Text:
    right = int((answers == labels).sum())
    return Text.assemble((f"{right / len(labels):.1%}", "green"), "\n", (f"{right} of {len(labels)}", "dim"))


def _lines(float_answers: NDArray[np.int64], chips: Sequence[Chip]) -> Iterator[str]:
    images, digits = chips[0].probabilities.shape
    values = sum(chip.probabilities.size for chip in chips)
    if all(chip.differing == 0 for chip in chips):
        yield "[green]✓[/] identical answers: each chip's equal the integer reference's in every bit"
    for chip in chips:
        if chip.differing:
            yield f"[red]✗ {chip.target}: {chip.differing:,} values are not the integer reference's[/]"
    yield f"  {len(chips)} chips × {images} images × {digits} probabilities = {values:,} values compared"
    same = min(int((chip.answers == float_answers).sum()) for chip in chips)
    yield f"  the chips and the float net read the same digit in {same} of {images} images"
    yield f"  built with {chips[0].toolchain}"
    yield "  instructions are exact counts of the emulator; they are not cycles"


def write_json(labels: NDArray[np.int64], float_answers: NDArray[np.int64], chips: Sequence[Chip], file: Path) -> None:
    """The same numbers for programs."""
    results = {
        "images": len(labels),
        "float_right": int((float_answers == labels).sum()),
        "values": sum(chip.probabilities.size for chip in chips),
        "differing": sum(chip.differing for chip in chips),
        "chips": [
            {
                "target": chip.target,
                "board": chip.board,
                "right": int((chip.answers == labels).sum()),
                "as_float": int((chip.answers == float_answers).sum()),
                "answers": chip.answers.tolist(),
                "flash": chip.flash,
                "arena": chip.arena,
                "stack": chip.stack,
                "instructions": median(chip.instructions),
            }
            for chip in chips
        ],
    }
    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
