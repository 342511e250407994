"""Offsets for buffers by lifetime: several greedy orders, then branch and bound; the best of all is taken.

A buffer occupies its bytes from its first call to its last, both included. Two buffers whose calls overlap must not overlap
in memory, with one exception: where a kernel may write its output over an input that dies there (``Request.over``), both may
have the very same bytes. Such pairs are joined to one block that lives as long as both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rushlight.schedule.search import search
from rushlight.schedule.types import ALIGN, round_up

#: Nodes that branch and bound may visit: a fixed number, not a time, so that each machine finds the same plan.
NODE_LIMIT = 100_000


@dataclass(frozen=True)
class Request:
    """A buffer to place: bytes, first and last call (inclusive).

    ``over``: buffers of the same size whose last call is this one's first, on whose very bytes this one may lie.
    """

    name: str
    size: int
    first: int
    last: int
    over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Placement:
    """Offsets by name, the bytes they need in all, and the peak of live bytes (no plan can need less)."""

    offsets: Mapping[str, int]
    bytes: int
    lower_bound: int


@dataclass(frozen=True)
class Block:
    """Buffers that share their bytes: ``size`` is a multiple of the alignment."""

    members: tuple[str, ...]
    size: int
    first: int
    last: int

    @property
    def life(self) -> int:
        return self.last - self.first + 1

    def conflicts(self, other: Block) -> bool:
        return self.first <= other.last and other.first <= self.last


def place(requests: Sequence[Request], *, align: int = ALIGN, node_limit: int = NODE_LIMIT) -> Placement:
    """Gives each buffer an offset that is a multiple of ``align``.

    The result is never above the best of the greedy orders, and the same for the same requests.
    """
    joined = join(requests, align)
    alone = [Block((r.name,), round_up(r.size, align), r.first, r.last) for r in requests]
    bound = peak(joined)
    best_blocks, best_offsets, best = joined, greedy(joined), 0
    best = total(joined, best_offsets)
    # Joining saves bytes at one call but ties two lifetimes together; where that is worse, each lies for itself.
    if best > bound and len(alone) != len(joined):
        offsets = greedy(alone)
        if total(alone, offsets) < best:
            best_blocks, best_offsets, best = alone, offsets, total(alone, offsets)
    if best > bound:
        for blocks in (joined, alone) if len(alone) != len(joined) else (joined,):
            found = search([(b.size, b.first, b.last) for b in blocks], best, bound, node_limit)
            if found is not None:
                best_blocks, best_offsets, best = blocks, found, total(blocks, found)
    placed = {name: offset for block, offset in zip(best_blocks, best_offsets, strict=True) for name in block.members}
    return Placement({r.name: placed[r.name] for r in requests}, best, bound)


def join(requests: Sequence[Request], align: int = ALIGN) -> list[Block]:
    """Blocks of buffers that may share their bytes; an input is taken over by one output at most."""
    by_name = {r.name: r for r in requests}
    chains: dict[str, list[Request]] = {}
    tail: dict[str, list[Request]] = {}  # last member of a chain → the chain
    for request in sorted(requests, key=lambda r: r.first):
        below = next((name for name in request.over if name in tail and _fits(by_name[name], request)), None)
        chain = tail.pop(below) if below is not None else chains.setdefault(request.name, [])
        chain.append(request)
        tail[request.name] = chain
    return [
        Block(tuple(r.name for r in chain), round_up(chain[0].size, align), chain[0].first, chain[-1].last)
        for chain in chains.values()
    ]


def _fits(below: Request, above: Request) -> bool:
    return below.size == above.size and below.last == above.first and below.first < above.first


def peak(blocks: Sequence[Block]) -> int:
    """The most bytes alive in any one call."""
    return max((sum(b.size for b in blocks if b.first <= at.first <= b.last) for at in blocks), default=0)


def total(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    """Bytes from 0 to the end of the highest block."""
    return max((offset + block.size for block, offset in zip(blocks, offsets, strict=True)), default=0)


def orders(blocks: Sequence[Block]) -> list[list[int]]:
    """The orders in which the greedy placements take the blocks (ties by size, first call and position)."""
    crowd = [sum(o.size for o in blocks if o is not b and b.conflicts(o)) for b in blocks]
    live = [sum(o.size for o in blocks if o.first <= b.first <= o.last) for b in blocks]
    busiest = [max((live[k] for k, o in enumerate(blocks) if b.first <= o.first <= b.last), default=0) for b in blocks]
    keys: list[Callable[[int], tuple[int, ...]]] = [
        lambda i: (-blocks[i].size, -blocks[i].life),
        lambda i: (-blocks[i].life, -blocks[i].size),
        lambda i: (-blocks[i].size * blocks[i].life, -blocks[i].size),
        lambda i: (-crowd[i], -blocks[i].size),
        lambda i: (-busiest[i], -blocks[i].size),
        lambda i: (blocks[i].first, -blocks[i].size),
    ]
    return [sorted(range(len(blocks)), key=lambda i, key=key: (*key(i), blocks[i].first, i)) for key in keys]  # type: ignore[misc]


def greedy(blocks: Sequence[Block]) -> list[int]:
    """Offsets of the best of all orders, first-fit and best-fit."""
    best: list[int] = []
    for order in orders(blocks):
        for best_fit in (False, True):
            offsets = fit(blocks, order, best_fit)
            if not best or total(blocks, offsets) < total(blocks, best):
                best = offsets
    return best


def fit(blocks: Sequence[Block], order: Sequence[int], best_fit: bool) -> list[int]:
    """Places blocks one by one into the lowest gap that takes them, or with ``best_fit`` into the tightest."""
    offsets = [0] * len(blocks)
    done: list[int] = []
    for i in order:
        taken = sorted((offsets[j], offsets[j] + blocks[j].size) for j in done if blocks[i].conflicts(blocks[j]))
        low, choice = 0, None
        for start, end in taken:
            gap = start - low
            if gap >= blocks[i].size and (choice is None or (best_fit and gap < choice[0])):
                choice = (gap, low)
            low = max(low, end)
        offsets[i] = low if choice is None else choice[1]
        done.append(i)
    return offsets
