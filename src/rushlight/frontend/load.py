"""Reading ``.pt2`` files."""

from __future__ import annotations

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
            bad = archive.testzip()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        start = file.read_bytes()[:2]
        why = "is damaged or cut off" if start == b"PK" else "is not a .pt2 file"
        raise RushlightError(f"{file} {why} ({reason(error)}); write it again with torch.export.save") from None
    if bad is not None:
        raise RushlightError(
            f"{file} is damaged: the checksum of {bad} is wrong; write it again with torch.export.save"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.export.load(str(file))
    except Exception as error:
        raise RushlightError(
            f"{file} cannot be loaded: {reason(error)}; write it with torch.export.save of this torch ({torch.__version__})"
        ) from None
