"""write_c: a compiled folder, made whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from rushlight.emit.kernels import INCLUDE, KERNELS, needed
from rushlight.emit.model import Model, io_total, model_text
from rushlight.emit.program import program_facts, to_json
from rushlight.errors import RushlightError
from rushlight.schedule.types import Schedule
from rushlight.target import Target

CopyBoard = Callable[[Target, Path], None]


def write_c(schedule: Schedule, folder: Path, *, copy_board: CopyBoard) -> None:
    """Writes the program as C that builds without Python; README.md in the folder says how.

    Args:
        schedule: what to write; its graph's name becomes the prefix of the C names.
        folder: is made, or replaced if it is a compiled folder already.
        copy_board: fills the folder's ``board`` with start-up, link script and harness (``firmware.copy_board``).

    Raises:
        RushlightError: the name cannot be used in C, ``folder`` is in use by something else, or cannot be written.
    """
    model = model_text(schedule)
    place = check_free(folder)
    temporary: Path | None = None
    parents = [parent for parent in place.parents if not parent.exists()]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
        whole = temporary / "new"
        whole.mkdir()
        _fill(whole, schedule, model, copy_board)
        if place.exists():
            place.rename(temporary / "old")
        whole.rename(place)
    except OSError as error:
        raise RushlightError(f"cannot write {folder}: {error.strerror or error}; choose another folder") from None
    finally:
        if temporary is not None:
            if (temporary / "old").exists() and not place.exists():
                (temporary / "old").rename(place)
            shutil.rmtree(temporary, ignore_errors=True)
        if not place.exists():
            for parent in parents:
                with contextlib.suppress(OSError):
                    parent.rmdir()


def is_compiled(folder: Path) -> bool:
    """Whether ``write_c`` made this folder."""
    try:
        program = json.loads((folder / "program.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(program, dict) and "rushlight" in program


def check_free(folder: Path) -> Path:
    """The place that ``write_c`` would make or replace, links resolved.

    Raises:
        RushlightError: something else is there, or it cannot be written.
    """
    try:
        place = folder.resolve()
        why = _why_not(place)
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, with a null byte, a loop of links
        why = f"{getattr(error, 'strerror', None) or error}; choose another folder"
    if why:
        raise RushlightError(f"cannot write {folder}: {why}")
    return place


def _why_not(place: Path) -> str:
    if not place.exists():
        parent = next(parent for parent in place.parents if parent.exists())
        if not parent.is_dir():
            return f"{parent} is a file; choose another folder"
        return "" if os.access(parent, os.W_OK | os.X_OK) else f"{parent} may not be written to; choose another folder"
    if not place.is_dir():
        return "it is a file; choose another folder"
    if any(place.iterdir()) and not is_compiled(place):
        return "the folder has files that are not Rushlight's; choose another, or empty it"
    if Path.cwd().is_relative_to(place):
        return "it is the current directory; name a folder in it"
    return (
        "" if os.access(place.parent, os.W_OK | os.X_OK) else "its folder may not be written to; choose another folder"
    )


def _fill(folder: Path, schedule: Schedule, model: Model, copy_board: CopyBoard) -> None:
    """All files of a compiled folder."""
    sources = sorted({source for call in schedule.calls for source in call.kernel.sources})
    for name in needed([*sources, *(call.kernel.header for call in schedule.calls)]):
        _copy(KERNELS / name, folder / "kernels" / name)
    for header in sorted((INCLUDE / "rushlight").glob("*.h")):
        _copy(header, folder / "include" / "rushlight" / header.name)
    copy_board(schedule.target, folder / "board")
    environment = Environment(
        loader=PackageLoader("rushlight.emit"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    values = {
        "model": model,
        "target": schedule.target,
        "sources": sources,
        "input_total": io_total(model.inputs),
        "output_total": io_total(model.outputs),
    }
    for template, name in {
        "model.h.j2": f"model/{model.name}.h",
        "model.c.j2": f"model/{model.name}.c",
        "data.h.j2": f"model/{model.name}_data.h",
        "data.c.j2": f"model/{model.name}_data.c",
        "runner_model.h.j2": "model/runner_model.h",
        "main.c.j2": "main.c",
        "Makefile.j2": "Makefile",
        "README.md.j2": "README.md",
    }.items():
        _write(folder / name, environment.get_template(template).render(values))
    _write(folder / "program.json", to_json(program_facts(schedule)))


def _copy(source: Path, dest: Path) -> None:
    dest.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, dest)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
