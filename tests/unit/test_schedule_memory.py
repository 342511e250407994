"""Offsets by lifetime: never overlapping, never above greedy, optimal where that can be checked by trying everything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.schedule import memory
from rushlight.schedule.memory import Block, Placement, Request, place
from rushlight.schedule.search import search


def check(requests: Sequence[Request], placement: Placement, align: int = 16) -> None:
    """Independent of the planner: goes through the calls one by one and marks who owns each byte.

    Two owners of a byte in one call are allowed only where the later one was permitted to lie on the earlier one, both are
    at the very same bytes, and the call is the last of one and the first of the other.
    """
    assert set(placement.offsets) == {r.name for r in requests}
    assert all(offset % align == 0 and offset >= 0 for offset in placement.offsets.values())
    end = max((placement.offsets[r.name] + r.size for r in requests), default=0)
    assert end <= placement.bytes
    assert placement.lower_bound <= placement.bytes
    for call in range(max((r.last for r in requests), default=0) + 1):
        alive = [r for r in requests if r.first <= call <= r.last]
        for a, b in combinations(alive, 2):
            bytes_a = range(placement.offsets[a.name], placement.offsets[a.name] + a.size)
            bytes_b = range(placement.offsets[b.name], placement.offsets[b.name] + b.size)
            if bytes_a.start < bytes_b.stop and bytes_b.start < bytes_a.stop:
                under, over = (a, b) if a.name in b.over else (b, a)
                assert under.name in over.over, f"{a.name} and {b.name} overlap in call {call}"
                assert bytes_a == bytes_b
                assert under.last == over.first == call


def optimum(sizes: Sequence[int], lives: Sequence[tuple[int, int]], limit: int) -> int:
    """The least bytes (in units of 16), by trying every offset for every buffer."""
    best = limit
    for offsets in product(*(range(limit - size + 1) for size in sizes)):
        top = max(offset + size for offset, size in zip(offsets, sizes, strict=True))
        if top < best and all(
            offsets[i] + sizes[i] <= offsets[j]
            or offsets[j] + sizes[j] <= offsets[i]
            or lives[i][1] < lives[j][0]
            or lives[j][1] < lives[i][0]
            for i, j in combinations(range(len(sizes)), 2)
        ):
            best = top
    return best


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> list[Request]:
    """Buffers as a program has them: one new buffer a call and sometimes scratch, inputs that may be written over."""
    requests: list[Request] = []
    for call in range(draw(st.integers(1, most))):
        dying = [r.name for r in requests if r.last == call]
        size = draw(st.sampled_from([1, 15, 16, 48, 100, 256, 1024]))
        over = tuple(draw(st.lists(st.sampled_from(dying), unique=True, max_size=2))) if dying else ()
        last = call + draw(st.integers(0, 4))
        requests.append(Request(f"t{call}", size, call, last, over))
        if draw(st.booleans()):
            requests.append(Request(f"s{call}", draw(st.integers(1, 200)), call, call))
    return requests


@settings(max_examples=150, deadline=None)
@given(programs())
def test_a_plan_never_overlaps_and_is_never_above_the_best_greedy(requests: list[Request]) -> None:
    placement = place(requests, node_limit=500)
    check(requests, placement)
    joined = memory.join(requests)
    for order in memory.orders(joined):
        for best_fit in (False, True):
            assert placement.bytes <= memory.total(joined, memory.fit(joined, order, best_fit))
    assert placement == place(requests, node_limit=500)  # the same each time


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=5))
def test_a_tiny_plan_is_optimal(entries: list[tuple[int, int, int]]) -> None:
    requests = [Request(f"b{i}", 16 * size, first, first + more) for i, (size, first, more) in enumerate(entries)]
    placement = place(requests)
    check(requests, placement)
    sizes = [size for size, _, _ in entries]
    lives = [(first, first + more) for _, first, more in entries]
    assert placement.bytes == 16 * optimum(sizes, lives, min(sum(sizes), placement.bytes // 16))


def test_the_search_finds_what_every_greedy_order_misses() -> None:
    # Found among random cases: (bytes, first call, last call). The peak of live bytes can be reached; no greedy order does.
    sizes_and_lives = [(96, 1, 3), (80, 6, 9), (32, 4, 5), (80, 5, 5), (32, 0, 1), (64, 2, 5), (64, 1, 4)]
    blocks = [Block((str(i),), size, first, last) for i, (size, first, last) in enumerate(sizes_and_lives)]
    greedy = memory.total(blocks, memory.greedy(blocks))
    found = search(sizes_and_lives, greedy, memory.peak(blocks), memory.NODE_LIMIT)
    assert found is not None
    assert memory.total(blocks, found) < greedy
    requests = [Request(b.members[0], b.size, b.first, b.last) for b in blocks]
    check(requests, place(requests))
    assert place(requests).bytes < greedy


def test_an_output_lies_on_an_input_that_dies_there() -> None:
    requests = [Request("a", 100, 0, 1), Request("b", 100, 1, 2, ("a",)), Request("c", 100, 2, 3, ("b",))]
    placement = place(requests)
    check(requests, placement)
    assert placement.offsets == {"a": 0, "b": 0, "c": 0}
    assert placement.bytes == placement.lower_bound == 112


def test_only_one_output_takes_over_an_input() -> None:
    requests = [Request("a", 64, 0, 1), Request("b", 64, 1, 2, ("a",)), Request("c", 64, 1, 2, ("a",))]
    placement = place(requests)
    check(requests, placement)
    assert placement.bytes == 128


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (Request("a", 64, 0, 2), Request("b", 64, 1, 3, ("a",))),  # still read later
        (Request("a", 64, 0, 1), Request("b", 65, 1, 3, ("a",))),  # of another size
        (Request("a", 64, 0, 1), Request("b", 64, 1, 3)),  # the kernel cannot
    ],
)
def test_an_input_that_must_stay_whole_is_not_written_over(below: Request, above: Request) -> None:
    placement = place([below, above])
    check([below, above], placement)
    assert placement.offsets["a"] != placement.offsets["b"]


def test_the_checker_sees_a_forbidden_overlap() -> None:
    requests = [Request("a", 32, 0, 2), Request("b", 32, 1, 2)]
    with pytest.raises(AssertionError, match="overlap in call 1"):
        check(requests, Placement({"a": 0, "b": 16}, 48, 48))
    shared = [Request("a", 32, 0, 1), Request("b", 32, 1, 2, ("a",))]
    with pytest.raises(AssertionError):
        check(shared, Placement({"a": 0, "b": 16}, 48, 32))  # permitted only on the very same bytes


def test_no_buffers_need_no_bytes() -> None:
    assert place([]) == Placement({}, 0, 0)
