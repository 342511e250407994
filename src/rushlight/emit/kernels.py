"""The files of the device library that a program needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

#: All that is compiled for the chip.
DEVICE = Path(__file__).resolve().parent.parent / "device"
KERNELS = DEVICE / "kernels"
INCLUDE = DEVICE / "include"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def needed(files: Iterable[str]) -> list[str]:
    """These files, relative to ``device/kernels``, and all that they include with quotes, in order of name.

    An included name is looked for in the including file's folder, then in ``device/kernels``; ``rushlight/…`` is public and
    found in ``device/include``.
    """
    found: set[str] = set()
    queue = list(files)
    while queue:
        name = queue.pop()
        if name in found:
            continue
        found.add(name)
        for included in _INCLUDE.findall((KERNELS / name).read_text(encoding="utf-8")):
            if (KERNELS / name).parent.joinpath(included).is_file():
                path = (KERNELS / name).parent.joinpath(included).resolve()
                queue.append(path.relative_to(KERNELS.resolve()).as_posix())
            elif (KERNELS / included).is_file():
                queue.append(included)
            else:
                assert (INCLUDE / included).is_file(), f'{name} includes "{included}", which is not there'
    return sorted(found)
