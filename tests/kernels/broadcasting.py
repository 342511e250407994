"""Pairs of shapes for operators of two operands."""

from __future__ import annotations

import numpy as np

Shape = tuple[int, ...]

#: Every kind of relation between two shapes; tests take each in both orders.
RELATIONS: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((1,), (1,)),
    ((7,), ()),
    ((2, 3, 17), (2, 3, 17)),
    ((2, 8, 8, 33), (33,)),  # per channel, NHWC
    ((2, 33, 8, 8), (33, 1, 1)),  # per channel, NCHW
    ((2, 33, 4, 4), (2, 33, 1, 1)),  # squeeze-excite, NCHW
    ((2, 4, 4, 33), (2, 1, 1, 33)),  # squeeze-excite, NHWC
    ((2, 1, 4, 5), (2, 3, 1, 5)),  # each broadcasts the other
    ((5, 1), (1, 7)),  # outer sum
    ((1, 7), (5, 1)),
    ((3, 1, 5, 1, 7, 1), (1, 4, 1, 6, 1, 2)),  # all six apart
    ((2, 3, 4, 5, 6, 7), (2, 3, 4, 5, 6, 7)),
    ((2, 1, 3, 1, 2, 1), (2, 3, 1, 2, 1, 2)),
    ((1, 1, 1, 16), (3, 2, 2, 16)),
    ((4, 9), (1,)),
    ((16,), (3, 1)),
)


def random_shapes(rng: np.random.Generator) -> tuple[Shape, Shape]:
    """Two shapes that broadcast, of rank 1 to 6; one may lack leading dimensions."""
    rank = int(rng.integers(1, 7))
    full = rng.integers(1, {1: 70, 2: 20, 3: 9}.get(rank, 5), rank)
    shapes = []
    for _ in range(2):
        if rng.random() < 0.4:
            shapes.append(tuple(int(d) for d in full))
        else:
            kept = np.where(rng.random(rank) < 0.6, full, 1)
            shapes.append(tuple(int(d) for d in kept[int(rng.integers(0, rank + 1)) if rng.random() < 0.3 else 0 :]))
    return shapes[0], shapes[1]
