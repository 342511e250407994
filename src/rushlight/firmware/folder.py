"""The layout of a compiled folder, and the files a board adds to it."""

import shutil
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.target import BOARDS_DIR, Board, Target, load_board

#: Folders of a compiled folder that are on the include path and hold sources.
SOURCE_DIRS = ("model", "kernels", "board")
INCLUDE_DIRS = ("include", "kernels", "model", "board")
HARNESS = "runner.c"
EXAMPLE = "main.c"

_BOARD_FILES = ("board.toml", "board.h", "link.ld")


def copy_board(target: Target, dest: Path) -> None:
    """Fills ``dest`` (the ``board`` folder of a compiled folder) with start-up, link script and harness.

    Raises:
        RushlightError: the board's folder lacks a file.
    """
    dest.mkdir(parents=True, exist_ok=True)
    for name in _BOARD_FILES:
        source = target.board.path / name
        if not source.is_file():
            raise RushlightError(f"board '{target.board.name}': {source} is missing; copy one from {BOARDS_DIR}")
        shutil.copyfile(source, dest / name)
    shutil.copytree(BOARDS_DIR / "common", dest, dirs_exist_ok=True)
    shutil.copytree(BOARDS_DIR / "host", dest / "host", dirs_exist_ok=True)


def check_board(folder: Path, target: Target) -> None:
    """Refuses a folder whose ``board`` is not the target's: its link script would place the program elsewhere."""
    own = folder / "board" / "board.toml"
    if not own.is_file():
        raise RushlightError(f"{folder} is not a whole compiled folder: {own} is missing; compile the model again")
    if load_board(own, name=target.board.name).regions != target.board.regions:
        raise RushlightError(
            f"{folder} was compiled for another board than {target.board.name}; compile the model again"
        )


def chip_sources(folder: Path, harness: bool) -> list[Path]:
    """Sources of the program for the chip: with the harness, or with the example main."""
    sources = [source for name in SOURCE_DIRS for source in _sources(folder / name)]
    harness_source = folder / "board" / HARNESS
    sources = [source for source in sources if source.parent.name != "host" and source != harness_source]
    return _checked(folder, [*sources, harness_source if harness else folder / EXAMPLE])


def host_sources(folder: Path) -> list[Path]:
    """Sources of the program for this PC: model, kernels and the harness on the PC's port."""
    sources = [source for name in ("model", "kernels") for source in _sources(folder / name)]
    return _checked(folder, [*sources, folder / "board" / HARNESS, folder / "board" / "host" / "port.c"])


def includes(folder: Path) -> list[Path]:
    """The include path."""
    return [folder / name for name in INCLUDE_DIRS if (folder / name).is_dir()]


def region_for(board: Board, linker_name: str) -> str:
    """The region's name as ``board.toml`` has it; link scripts write it in capitals."""
    return next((region.name for region in board.regions if region.name.upper() == linker_name), linker_name)


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".c", ".S"))


def _checked(folder: Path, sources: list[Path]) -> list[Path]:
    missing = [source for source in sources if not source.is_file()]
    if missing:
        raise RushlightError(
            f"{folder} is not a whole compiled folder: {missing[0]} is missing; compile the model again"
        )
    if not any(source.parent.name == "model" for source in sources):
        raise RushlightError(f"{folder} is not a compiled folder: it has no C sources in model/")
    return sources
