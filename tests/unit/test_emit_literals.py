"""Numbers read back to the same bits, lines stay narrow, comments cannot end early, names are C's."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rushlight.emit.literals import comment, initializer, literal, rows
from rushlight.emit.names import Names


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_literal_reads_back_to_the_same_bits(value: float) -> None:
    text = literal(value, "float")
    assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?f", text)
    assert "." in text or "e" in text  # 20f is no C
    assert np.float32(text[:-1]).tobytes() == np.float32(value).tobytes()


def test_the_lowest_int32_is_no_minus_before_a_number_too_large() -> None:
    assert literal(-(2**31), "int32_t") == "INT32_MIN"
    assert literal(2**31 - 1, "int32_t") == "2147483647"
    assert literal(2**32 - 1, "uint32_t") == "4294967295u"


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=60))
def test_arrays_keep_their_elements_in_lines_of_100_columns(values: list[int]) -> None:
    lines = rows(np.array(values, np.int32), "int32_t")
    assert all(len(line) <= 100 for line in lines)
    read = [-(2**31) if t == "INT32_MIN" else int(t) for t in " ".join(lines).replace(" ", "").split(",")]
    assert read == values


def test_struct_fields_of_several_elements_are_in_braces() -> None:
    assert initializer([1, -2], "int32_t", 2) == "{1, -2}"
    assert initializer(np.int16(7), "int16_t", 1) == "7"


@given(st.text() | st.text(alphabet="*/\\? \n"))
def test_any_text_is_safe_in_a_comment(text: str) -> None:
    safe = comment(text)
    assert safe.isascii()
    assert not re.search(r"\*/|/\*|\?\?|\n|\\", safe)


@given(st.lists(st.text(), max_size=20))
def test_any_names_become_different_identifiers(texts: list[str]) -> None:
    names = Names()
    made = [names.unique(text) for text in texts]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII) for name in made)
