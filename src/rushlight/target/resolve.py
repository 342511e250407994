"""From what a user writes as target to a core on a board."""

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.target.board import BOARDS_DIR, Board, board_names, load_board
from rushlight.target.core import Core, cores

#: Board whose memory serves Armv6-M code that outgrows the microbit.
_BIG_BOARD = "mps2-an385"


@dataclass(frozen=True)
class Target:
    """A core to build for, the board it runs on, and how the user named it.

    ``note`` is one sentence for the report where the board is not what the name says, else empty.
    """

    core: Core
    board: Board
    requested: str
    note: str

    @property
    def spec(self) -> str:
        """``core@board``: resolves to this core and board and to no other."""
        return f"{self.core.name}@{self.board.name}"


def resolve(spec: str | Path) -> Target:
    """Finds a target.

    Args:
        spec: a core (``cortex-m55``: its emulated board), a board (``mps3-an547``), both (``cortex-m0@mps2-an385``), or
            a path to a ``board.toml``.

    Raises:
        RushlightError: there is no such core, board or file, or the file is malformed.
    """
    text = str(spec)
    if isinstance(spec, Path) or text.endswith(".toml"):
        board = load_board(text)
        return Target(cores()[board.core], board, text, "")
    name = text.strip().lower()
    core_name, at, board_name = name.partition("@")
    if at and core_name in cores() and board_name in board_names():
        return _on_board(cores()[core_name], _board(board_name), text)
    if name in cores():
        core = cores()[name]
        board = _board(core.board)
        return Target(core, board, text, _core_note(core, board))
    if name in board_names():
        board = _board(name)
        return Target(cores()[board.core], board, text, "")
    raise _unknown(text)


def all_targets() -> list[Target]:
    """Every core, then every board, as ``resolve`` finds them."""
    return [resolve(name) for name in (*cores(), *board_names())]


def fallbacks(target: Target) -> list[Target]:
    """The targets to try in turn, ``target`` first.

    One alone, but for a bare Armv6-M core: what outgrows the microbit runs as the same code with mps2-an385's memory.
    """
    if target.requested.strip().lower() != target.core.name or target.core.arch != "armv6-m":
        return [target]
    big = _board(_BIG_BOARD)
    small = target.board
    note = (
        f"{target.core.name} code run with the memory of {big.name}, since the program outgrows {small.name} "
        f"({small.ram.size // 1024} K RAM, {small.rom.size // 1024} K flash)."
    )
    return [target, Target(target.core, big, target.requested, note)]


@cache
def _board(name: str) -> Board:
    return load_board(BOARDS_DIR / name / "board.toml")


def _on_board(core: Core, board: Board, requested: str) -> Target:
    if core.name == board.core:
        return Target(core, board, requested, "")
    if core.name not in board.also:
        runs = ", ".join((board.core, *board.also))
        raise RushlightError(f"target '{requested}': board {board.name} does not run {core.name} code; it runs {runs}")
    return Target(core, board, requested, f"{core.name} code run on {board.name} ({board.core}).")


def _core_note(core: Core, board: Board) -> str:
    if core.name == board.core:
        return f"{core.name} means its emulated board {board.name}."
    built = f" and is built as {core.built_as}" if core.built_as else ""
    return f"{core.name} has no emulated board of its own{built}: it runs on {board.name} ({board.core})."


def _unknown(spec: str) -> RushlightError:
    known = [*cores(), *board_names()]
    name = spec.strip().lower()
    close = [k for k in known if name and k.endswith(f"-{name}")]
    close = close or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return RushlightError(
        f"unknown target '{spec}': {hint}it is a core, a board or a path to a board.toml; "
        f"`rushlight targets` lists the known ones"
    )
