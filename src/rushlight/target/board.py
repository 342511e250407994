"""Boards and their memory, read from ``board.toml``."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rushlight.errors import RushlightError
from rushlight.target.core import cores

#: The boards that come with Rushlight, a folder each, and ``common``, the files they share.
BOARDS_DIR = Path(__file__).resolve().parent.parent / "device" / "boards"

T = TypeVar("T")


@dataclass(frozen=True)
class Region:
    """A range of memory: first address and size in bytes, ``kind`` is ``rom`` or ``ram``."""

    name: str
    base: int
    size: int
    kind: str

    @property
    def end(self) -> int:
        """First address after the region."""
        return self.base + self.size


@dataclass(frozen=True)
class Board:
    """A board: a core, memory, and how to run it.

    Attributes:
        name: the name of its folder.
        title: its name for people.
        core: the core it has.
        also: other cores whose code it runs.
        machine: QEMU's name for it; empty where QEMU does not have it.
        clock_hz: clock of the core.
        timer_hz: clock of the counter in ``board.h``.
        stack: bytes of stack.
        regions: all memory regions.
        rom: region of the constants.
        ram: region of zeroed data, the arena among it.
        code: region of the code; ``rom`` on most boards.
        fast: region of the stack and initialised data; ``ram`` on most boards.
        path: its folder, with ``board.toml``, ``link.ld`` and ``board.h``.
    """

    name: str
    title: str
    core: str
    also: tuple[str, ...]
    machine: str
    clock_hz: int
    timer_hz: int
    stack: int
    regions: tuple[Region, ...]
    rom: Region
    ram: Region
    code: Region
    fast: Region
    path: Path


def board_names() -> list[str]:
    """Names of the boards that come with Rushlight."""
    return sorted(path.parent.name for path in BOARDS_DIR.glob("*/board.toml"))


def load_board(path: str | Path, name: str | None = None) -> Board:
    """Reads a ``board.toml``; the board is called ``name``, or after its folder.

    Raises:
        RushlightError: the file is missing, no TOML, or a key is missing, wrong, or contradicts another.
    """
    file = Path(path)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RushlightError(f"{file}: cannot read the board: {getattr(error, 'strerror', None) or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise RushlightError(f"{file}: not a TOML file: {error}") from None
    reader = _Reader(file, data)
    regions = _regions(reader)
    rom = reader.region("rom", regions, "rom")
    ram = reader.region("ram", regions, "ram")
    board = Board(
        name=name or file.resolve().parent.name,
        title=reader.value("title", str),
        core=reader.core(reader.value("core", str), "core"),
        also=tuple(reader.core(name, "also") for name in reader.value("also", list, [])),
        machine=reader.value("machine", str, ""),
        clock_hz=reader.positive("clock_hz"),
        timer_hz=reader.positive("timer_hz"),
        stack=reader.positive("stack"),
        regions=tuple(regions.values()),
        rom=rom,
        ram=ram,
        code=reader.region("code", regions, "rom", rom),
        fast=reader.region("fast", regions, "ram", ram),
        path=file.resolve().parent,
    )
    if board.stack > board.fast.size:
        raise reader.error("stack", f"{board.stack} bytes do not fit in region '{board.fast.name}'")
    return board


class _Reader:
    """Values of one TOML table; errors name the file and the key."""

    def __init__(self, file: Path, table: dict[str, Any], prefix: str = "") -> None:
        self.file, self.table, self.prefix = file, table, prefix

    def error(self, key: str, what: str) -> RushlightError:
        return RushlightError(f"{self.file}: key '{self.prefix}{key}': {what}")

    def value(self, key: str, kind: type[T], default: T | None = None) -> T:
        value = self.table.get(key, default)
        if value is None:
            raise self.error(key, "is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(key, f"must be of type {kind.__name__}, not {value!r}")
        return value

    def positive(self, key: str) -> int:
        value = self.value(key, int)
        if value <= 0:
            raise self.error(key, f"must be above 0, not {value}")
        return value

    def core(self, name: object, key: str) -> str:
        if name not in cores():
            raise self.error(key, f"unknown core {name!r}; known: {', '.join(cores())}")
        return str(name)

    def region(self, key: str, regions: dict[str, Region], kind: str, default: Region | None = None) -> Region:
        if default is not None and key not in self.table:
            return default
        name = self.value(key, str)
        if name not in regions:
            raise self.error(key, f"there is no region '{name}'; regions: {', '.join(regions)}")
        if regions[name].kind != kind:
            raise self.error(key, f"region '{name}' is of kind '{regions[name].kind}', not '{kind}'")
        return regions[name]


def _regions(reader: _Reader) -> dict[str, Region]:
    """The regions by name: of positive size, within 32 bits, apart from each other."""
    regions: dict[str, Region] = {}
    for name, table in reader.value("regions", dict).items():
        if not isinstance(table, dict):
            raise reader.error(f"regions.{name}", "must be a table with base, size and kind")
        inner = _Reader(reader.file, table, f"regions.{name}.")
        region = Region(name, inner.value("base", int), inner.positive("size"), inner.value("kind", str))
        if region.kind not in ("rom", "ram"):
            raise inner.error("kind", f"must be 'rom' or 'ram', not '{region.kind}'")
        if region.base < 0 or region.end > 1 << 32:
            raise inner.error("base", "the region is not within 32-bit addresses")
        for other in regions.values():
            if region.base < other.end and other.base < region.end:
                raise inner.error("base", f"overlaps region '{other.name}'")
        regions[name] = region
    return regions
