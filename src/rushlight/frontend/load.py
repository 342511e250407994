"""Reading ``.pt2`` files."""

from __future__ import annotations

import logging
import os
import warnings
import zipfile
from pathlib import Path

import torch
import torch.ao.quantization.fx._decomposed  # declares the quantize/dequantize operators that files name

from rushlight.capturing.state import reason
from rushlight.errors import RushlightError


def load_pt2(path: str | os.PathLike[str]) -> torch.export.ExportedProgram:
    """``torch.export.load`` whose errors are one line: no such file, no .pt2, damaged, from another version."""
    file = Path(path)
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "does not exist"
        raise RushlightError(f"{file} {what}; give a .pt2 file written by torch.export.save")
    try:
        with zipfile.ZipFile(file) as archive:
            bad, members = archive.testzip(), archive.infolist()
        if min((member.header_offset for member in members), default=1) > 0:  # that of a zip within the lost one
            raise zipfile.BadZipFile("its table of contents is missing")
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        start = file.read_bytes()[:2]
        why = "is damaged or cut off" if start == b"PK" else "is not a .pt2 file"
        text = str(error) or type(error).__name__
        raise RushlightError(f"{file} {why} ({text}); write it again with torch.export.save") from None
    if bad is not None:
        raise RushlightError(
            f"{file} is damaged: the checksum of {bad} is wrong; write it again with torch.export.save"
        )
    if any(m.filename.endswith("/data.pkl") and m.filename.count("/") == 1 for m in members):
        raise RushlightError(
            f"{file} was written by torch.save or torch.jit.save; "
            "give a .pt2 file: torch.export.save(torch.export.export(model, (x,)), path)"
        )
    log, logged = logging.getLogger("torch.export"), _Reasons()
    log.addFilter(logged)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(str(file))
    except Exception as error:
        raise RushlightError(
            f"{file} cannot be loaded: {reason(logged.error or error).partition('. This is an internal')[0]}; "
            f"write it with torch.export.save of this torch ({torch.__version__})"
        ) from None
    finally:
        log.removeFilter(logged)
    return program


class _Reasons(logging.Filter):
    """Keeps the error that torch.export.load logs, with its traceback, before it raises one that says less."""

    def __init__(self) -> None:
        super().__init__()
        self.error: BaseException | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and record.exc_info[1] is not None:
            self.error = record.exc_info[1]
        return False
