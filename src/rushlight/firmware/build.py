"""Builds of a compiled folder: the program for a chip, and the same C for this PC."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.firmware.elf import Sections, sections
from rushlight.firmware.folder import check_board, chip_sources, host_sources, includes, region_for
from rushlight.firmware.toolchains import Toolchain, first_error, pick
from rushlight.target import Board, Target

#: Flags of every build. No contraction: a*b+c rounds twice, on every core alike.
C_FLAGS = ("-std=c11", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-g")
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_TIMEOUT_S = 600


@dataclass(frozen=True)
class Firmware:
    """A linked program: the ELF file, its sizes in bytes, and the toolchain that made it."""

    elf: Path
    sections: Sections
    toolchain: Toolchain


def build_firmware(
    folder: Path,
    target: Target,
    *,
    toolchain: str | None = None,
    out: Path | None = None,
    harness: bool = True,
    opt: str = "-O2",
    flags: Sequence[str] = (),
) -> Firmware:
    """Builds the program for a chip; the same inputs are built once.

    Args:
        folder: a compiled folder.
        target: core and board.
        toolchain: ``gcc``, ``clang`` or ``zig``; None takes the first that is installed.
        out: where the files go; ``folder/build`` if None.
        harness: with the harness that runs samples from files; else with the example ``main.c``.
        opt: optimisation flag.
        flags: more compiler flags.

    Raises:
        RushlightError: no compiler, an error of the compiler or linker, or a program that does not fit the board;
            or the folder is not a whole one for this board.
    """
    tool = pick(toolchain)
    check_board(folder, target)
    sources = chip_sources(folder, harness)
    script = folder / "board" / "link.ld"
    command = [
        *tool.command,
        *tool.core_flags(target.core),
        *C_FLAGS,
        opt,
        *flags,
        *(f"-I{path}" for path in (*includes(folder), folder / "board" / "freestanding")),
        *map(str, sources),
        "-Wl,--gc-sections",
        f"-T{script}",
        *tool.link_flags(target.core),
    ]
    name = f"{target.board.name}-{target.core.name}-{tool.name}"
    elf = _build(command, tool.version, folder, out, name, "firmware.elf", target.board)
    return Firmware(elf, sections(elf), tool)


def build_host(
    folder: Path, *, sanitize: bool = False, cc: str = "cc", out: Path | None = None, flags: Sequence[str] = ()
) -> Path:
    """Builds the harness for this PC and returns the program; with ``sanitize`` under ASan and UBSan.

    Raises:
        RushlightError: no compiler, or an error of it.
    """
    compiler = shutil.which(cc)
    if compiler is None:
        raise RushlightError(f"C compiler '{cc}' is not installed: apt install gcc")
    command = [
        compiler,
        *C_FLAGS,
        *(("-O1", *_SANITIZE) if sanitize else ("-O2",)),
        *flags,
        *(f"-I{path}" for path in includes(folder)),
        *map(str, host_sources(folder)),
        "-lm",
    ]
    return _build(command, cc, folder, out, "host-sanitized" if sanitize else "host", "model", None)


def _build(
    command: list[str], version: str, folder: Path, out: Path | None, name: str, program: str, board: Board | None
) -> Path:
    """Runs the command, unless the same one made the program from the same files before; returns the program."""
    build = folder / "build" if out is None else out
    made = build / f"{name}-{_digest(folder, [version, *command])}" / program
    if made.is_file():
        return made
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RushlightError(
            f"cannot build in {build}: {error.strerror or error}; copy {folder} to where it can be written"
        ) from None
    # Linked under another name and then renamed, so that a build that ends midway leaves nothing to be taken for whole.
    partial = made.with_name(f"{program}.{os.getpid()}")
    try:
        done = subprocess.run(
            [*command, "-o", str(partial)],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            env=os.environ | {"LC_ALL": "C"},  # messages are read here, in English and ASCII
        )
        if done.returncode != 0:
            raise _failure(done.stderr, name, board)
        partial.replace(made)
    except subprocess.TimeoutExpired:
        raise RushlightError(f"building {name} took more than {_TIMEOUT_S} s and was stopped") from None
    finally:
        partial.unlink(missing_ok=True)
        if not made.is_file():
            shutil.rmtree(made.parent, ignore_errors=True)
    return made


def _digest(folder: Path, words: list[str]) -> str:
    """Digest of the command and of every file of the folder that a build reads."""
    digest = hashlib.sha256("\0".join(words).encode())
    for name in ("include", "kernels", "model", "board", "main.c"):
        path = folder / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"\0{file.relative_to(folder)}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


# GNU ld: region `RAM' overflowed by 84 bytes
# lld: section '.bss' will not fit in region 'RAM': overflowed by 84 bytes
_OVERFLOW = re.compile(r"region [`'](?P<region>\w+)'(?::)? overflowed by (?P<bytes>\d+) bytes")


def _failure(text: str, name: str, board: Board | None) -> RushlightError:
    """The linker's or compiler's complaint as one line."""
    overflows = {match["region"]: int(match["bytes"]) for match in _OVERFLOW.finditer(text)}
    if board is not None and overflows:
        what = " and ".join(
            f"region '{region_for(board, region)}' by {size} bytes" for region, size in overflows.items()
        )
        return RushlightError(
            f"the program does not fit board {board.name}: it exceeds {what}; "
            f"choose a target with more memory, or make the model smaller"
        )
    return RushlightError(f"building {name} failed: {first_error(text)}")
