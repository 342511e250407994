"""Arrays in ``.npz`` files: inputs and calibration data that users give, and the outputs of a run."""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.errors import RushlightError

Array = NDArray[Any]


def load_npz(path: Path, names: Sequence[str]) -> list[Array]:
    """The arrays called ``names`` of an ``.npz`` file, in this order.

    Where one is wanted, a file that holds one alone may call it anything, and an ``.npy`` file will do.

    Raises:
        RushlightError: the file is missing, damaged or of another kind, or lacks an array.
    """
    how = f"write it with numpy.savez({str(path)!r}, {', '.join(f'{name}=…' for name in names)})"
    try:
        with path.open("rb") as file:
            start = file.read(6)
    except OSError as error:
        raise RushlightError(f"{path} cannot be read: {error.strerror}; {how}") from None
    if start != b"\x93NUMPY" and start[:2] != b"PK":
        raise RushlightError(f"{path} is not an .npz file; {how}")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            held, read = [path.stem], {path.stem: loaded}
        else:
            with loaded as archive:
                held = archive.files
                wanted = held if len(held) == len(names) == 1 else [name for name in names if name in held]
                read = {name: archive[name] for name in wanted}
    except Exception as error:  # NumPy raises what zip, pickle or the header's parser raise
        if "allow_pickle" in str(error):
            raise RushlightError(f"{path} holds Python objects where arrays of numbers are wanted; {how}") from None
        raise RushlightError(f"{path} is damaged ({' '.join(str(error).split())}); {how}") from None
    if len(held) == len(names) == 1:
        return list(read.values())
    missing = [name for name in names if name not in read]
    if missing:
        raise RushlightError(
            f"{path} has no array '{missing[0]}': it holds {', '.join(held) or 'nothing'}, "
            f"the program takes {', '.join(names)}"
        )
    return [read[name] for name in names]


def check_writable(path: Path) -> None:
    """Refuses a place that ``save_npz`` could not write, before the work whose result it is for."""
    why = ""
    if path.is_dir():
        why = "it is a folder"
    elif not path.parent.is_dir():
        why = f"{path.parent} is no folder"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        why = "permission denied"
    if why:
        raise RushlightError(f"cannot write {path}: {why}; name another file")


def save_npz(path: Path, arrays: Mapping[str, Array]) -> None:
    """Writes an ``.npz`` file, whole or not at all; the same arrays give the same bytes.

    Raises:
        RushlightError: the file cannot be written.
    """
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:  # numpy.savez takes some names for its own arguments
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    new = not path.exists()
    try:
        path.write_bytes(whole.getvalue())
    except OSError as error:
        if new:
            with contextlib.suppress(OSError):
                path.unlink()
        raise RushlightError(f"cannot write {path}: {error.strerror}; name another file") from None
