"""Numbers and text as C: literals that read back to the same bits, lines of a sane length, comments that cannot end early."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from rushlight.ops.base import Array

_WIDTH = 100
_INT32_MIN = -(2**31)


def literal(value: Any, ctype: str) -> str:
    """One number as a C literal of that type."""
    if ctype == "float":
        number = float(np.float32(value))
        assert math.isfinite(number), value
        text = f"{number:.9g}"  # nine digits tell every float32 apart
        return f"{text}f" if "." in text or "e" in text else f"{text}.0f"
    integer = int(value)
    assert integer == value, (value, ctype)
    if integer == _INT32_MIN:
        return "INT32_MIN"  # -2147483648 is a minus before a number that has no 32-bit type
    return f"{integer}u" if ctype == "uint32_t" else str(integer)


def initializer(value: Any, ctype: str, count: int) -> str:
    """The initialiser of a struct's field: a scalar, or an array in braces."""
    if count == 1:
        return literal(np.asarray(value).reshape(()).item() if np.ndim(value) else value, ctype)
    return "{" + ", ".join(literal(v, ctype) for v in np.asarray(value).reshape(-1).tolist()) + "}"


def rows(data: Array, ctype: str, indent: int = 4) -> list[str]:
    """The elements of an array in lines of at most 100 columns."""
    return wrapped((literal(v, ctype) for v in data.reshape(-1).tolist()), indent)


def wrapped(items: Iterable[str], indent: int) -> list[str]:
    """Comma-separated items in lines of at most 100 columns; the last item has no comma."""
    lines: list[str] = []
    line = ""
    for item in items:
        if line and indent + len(line) + len(item) + 3 > _WIDTH:
            lines.append(f"{' ' * indent}{line},")
            line = item
        else:
            line = f"{line}, {item}" if line else item
    return [*lines, f"{' ' * indent}{line}"] if line else lines


def comment(text: str) -> str:
    """Text that is safe within ``/* … */``, on one line, in ASCII."""
    plain = text.encode("ascii", "replace").decode()
    plain = re.sub(r"[\x00-\x1f\x7f]+", " ", plain).replace("\\", "/")  # first: it may make a */
    plain = re.sub(r"\?(?=\?)", "? ", plain)  # no trigraphs
    return plain.replace("*/", "* /").replace("/*", "/ *")
