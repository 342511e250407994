"""Which of an operator's kernels runs: the cheapest by estimate that asks for no more memory than is there anyway."""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.graph import Graph, Op
from rushlight.ops import operator
from rushlight.ops.base import Kernel
from rushlight.target import Core
from rushlight.target.costs import Cost, costs

#: A kernel is preferred to the first candidate if it takes less than this share, for estimates are not exact …
_CLEARLY = 0.95
#: … and this many cycles less, for a kernel that other layers do not need adds about a kilobyte of code.
_WORTH = 10_000
#: Kernels are chosen by cycles where these are known this well, as a share; else by instructions.
_TRUSTED = 0.15
#: Bytes of constants that a cheaper kernel may take beyond the first candidate's: this many, or a quarter.
_MORE_FLASH = 256


def estimate(op: Op, kernel: Kernel, core: Core) -> Cost | None:
    """What a call of the operator's kernel costs; None where there is no figure."""
    return costs().predict(kernel.symbol, operator(op.kind).features(kernel), core)


def predict(op: Op, kernel: Kernel, core: Core) -> float | None:
    """What kernels are compared by: estimated cycles, or instructions where the core's cycles are not known well."""
    cost = estimate(op, kernel, core)
    if cost is None or cost.cycles is None or costs().cycle_errors[core.name] > _TRUSTED:
        return None if cost is None else cost.instructions
    return cost.cycles


def room(graph: Graph, op: Op) -> int:
    """Bytes of scratch for which no arena grows: what the operator with most inputs and outputs holds beyond this one's."""

    def held(one: Op) -> int:
        return sum(graph[name].nbytes for name in {*one.inputs, *one.outputs} if not graph[name].constant)

    return max(map(held, graph.ops)) - held(op)


def cheapest(op: Op, candidates: Sequence[Kernel], core: Core, scratch: int) -> Kernel:
    """The candidate that costs least; the first if any is without a figure, or if none is clearly cheaper.

    A candidate that needs more than ``scratch`` bytes and more than the first, or far more flash, is not taken.
    """
    first = candidates[0]
    found = [predict(op, kernel, core) for kernel in candidates]
    ranks = [rank for rank in found if rank is not None]
    if len(ranks) < len(candidates):
        return first
    flash = _bytes(first) + max(_MORE_FLASH, _bytes(first) // 4)
    allowed = [
        (rank, i)
        for i, (rank, kernel) in enumerate(zip(ranks, candidates, strict=True))
        if kernel.scratch <= max(scratch, first.scratch) and _bytes(kernel) <= flash
    ]
    rank, best = min(allowed)
    return candidates[best] if rank < min(_CLEARLY * ranks[0], ranks[0] - _WORTH) else first


def _bytes(kernel: Kernel) -> int:
    return sum(int(constant.data.nbytes) for constant in kernel.constants)
