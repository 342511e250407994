"""Branch and bound over placements.

Every placement can be pushed down until each block lies at 0 or right on a block it is alive with. Taking blocks in the order
of their offsets then builds it: the next block's offset is the highest end of the blocks placed before that are alive with it.
So the search chooses the next block, whose offset must not be below the last one's. A branch is cut where, in some call, the
height reached plus what is still to be placed there does not beat the best.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Beyond this many blocks a fixed number of nodes finds nothing that greedy did not.
_MAX_BLOCKS = 150


def search(blocks: Sequence[tuple[int, int, int]], below: int, bound: int, node_limit: int) -> list[int] | None:
    """Offsets that need less than ``below`` bytes, or None if none were found.

    Args:
        blocks: (size, first call, last call) each.
        below: what the best known placement needs.
        bound: no placement needs less; the search ends when it is reached.
        node_limit: how many placements of a block are tried.
    """
    if not blocks or len(blocks) > _MAX_BLOCKS or below <= bound:
        return None
    run = _Search(blocks, below, bound, node_limit)
    run.descend(0)
    return run.found


class _Search:
    def __init__(self, blocks: Sequence[tuple[int, int, int]], below: int, bound: int, nodes: int) -> None:
        self.sizes = [size for size, _, _ in blocks]
        # Only calls in which a block begins can be the most crowded ones.
        steps = sorted({first for _, first, _ in blocks})
        self.live = np.array([[first <= step <= last for step in steps] for _, first, last in blocks])
        self.spans = [np.flatnonzero(row) for row in self.live]
        self.height = np.zeros(len(steps), np.int64)
        self.rest = (self.live * np.array(self.sizes, np.int64)[:, None]).sum(axis=0)
        self.offsets = [-1] * len(blocks)
        self.best, self.bound, self.nodes = below, bound, nodes
        self.found: list[int] | None = None
        self.left = len(blocks)

    def descend(self, floor: int) -> None:
        """Places each of the blocks that are left next, lowest and largest first."""
        if self.left == 0:
            self.best = int(self.height.max())
            self.found = list(self.offsets)
            return
        choices = []
        for i, offset in enumerate(self.offsets):
            if offset < 0:
                low = int(self.height[self.spans[i]].max())
                if low >= floor:
                    choices.append((low, -self.sizes[i], i))
                # Not below the last one: that order of the two is another branch.
        for low, _, i in sorted(choices):
            if self.nodes <= 0 or self.best <= self.bound:
                return
            self.nodes -= 1
            span = self.spans[i]
            before: NDArray[np.int64] = self.height[span].copy()
            self.offsets[i] = low
            self.height[span] = low + self.sizes[i]
            self.rest[span] -= self.sizes[i]
            self.left -= 1
            # What is left lies on the height reached, and not below this block.
            least = np.where(self.rest > 0, np.maximum(self.height, low) + self.rest, self.height)
            if int(least.max()) < self.best:
                self.descend(low)
            self.left += 1
            self.rest[span] += self.sizes[i]
            self.height[span] = before
            self.offsets[i] = -1
