"""Names that are valid, unused C identifiers."""

from __future__ import annotations

import re

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false "
    "NULL asm main nullptr thread_local typeof constexpr alignas alignof static_assert".split()
)


def identifier(text: str) -> str:
    """``text`` with what C does not allow replaced: ``block.2/x`` → ``block_2_x``, ``float`` → ``float_``."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "t"
    if name[0].isdigit():
        name = f"t{name}"
    return f"{name}_" if name in _KEYWORDS else name


class Names:
    """Hands out each identifier once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, hint: str) -> str:
        """``hint`` as an identifier, with a number where it is taken."""
        base = name = identifier(hint)
        count = 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name
