"""C identifiers from names of tensors, operators and models."""

from __future__ import annotations

import re

from rushlight.errors import RushlightError

_KEYWORDS = frozenset(
    # C11
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    # C++
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast "
    "requires static_assert static_cast template this thread_local throw true try typeid typename using virtual wchar_t "
    "xor xor_eq "
    # names that headers bring in, and the example
    "NULL EOF main linux unix arm errno assert offsetof "
    "memcpy memmove memset memcmp int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t".split()
)

#: A model's header is called after it: these would hide headers of the compiler, the board or the harness.
_HEADERS = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype arm_mve "
    "arm_acle board port semihosting runner_model".split()
)

_MAX = 48


def check_model_name(name: str) -> str:
    """The name, if C functions and files can be called after it.

    Raises:
        RushlightError: it is no C identifier, or is taken.
    """
    why = ""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII) or len(name) > _MAX:
        why = f"it must be a C identifier of at most {_MAX} letters, digits and underscores that begins with a letter"
    elif name in _KEYWORDS or name.lower() in _HEADERS:
        why = "C or the firmware uses it already"
    elif name.lower().startswith("rl_") or name.lower() == "rl":
        why = "'rl' is the prefix of Rushlight's own functions"
    if why:
        raise RushlightError(f"model name {name!r} cannot be used in C: {why}; give another name")
    return name


class Names:
    """Hands out C identifiers, each once."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = set(taken)

    def unique(self, text: str, default: str = "t") -> str:
        """An identifier that resembles ``text``: other characters become underscores, a number tells equals apart."""
        name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:_MAX].rstrip("_") or default
        if name[0].isdigit():
            name = f"{default}{name}"
        if name in _KEYWORDS or name.lower().startswith("rl_"):
            name = f"{default}_{name}"
        chosen, number = name, 2
        while chosen in self._taken:
            chosen, number = f"{name}_{number}", number + 1
        self._taken.add(chosen)
        return chosen
