"""permute: all permutations of rank 4, samples of the other ranks, every ATen form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.permute import PermuteAttrs
from tests.kernels.building import lowered, run
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_q, single_op


def case(
    rng: np.random.Generator, shape: tuple[int, ...], permutation: tuple[int, ...], dtype: DType
) -> tuple[Graph, list[Array]]:
    q = random_q(rng) if dtype is DType.INT8 else None
    graph = single_op("permute", PermuteAttrs(permutation), [Tensor("x", shape, dtype, q)], q)
    return graph, random_inputs(rng, graph)


def test_all_permutations_of_rank_4_on_all_tiers() -> None:
    rng = np.random.default_rng(3)
    shapes = ((2, 3, 4, 5), (1, 33, 17, 3), (3, 16, 1, 9), (1, 3, 20, 7))
    cases = [
        case(rng, shape, permutation, dtype)
        for permutation in itertools.permutations(range(4))
        for shape in shapes
        for dtype in (DType.INT8, DType.FLOAT32)
    ]
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == 24 * 4 * 2 for tier in TIERS)


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    """Any rank but 4, which has a test of its own."""
    rank = int(rng.choice([1, 2, 3, 5, 6]))
    shape = tuple(int(d) for d in rng.integers(1, (70 if rank < 3 else 6), rank))
    permutation = tuple(int(d) for d in rng.permutation(rank))
    return case(rng, shape, permutation, DType.INT8 if rng.random() < 0.7 else DType.FLOAT32)


def test_other_ranks_on_all_tiers() -> None:
    rng = np.random.default_rng(4)
    count = geometries(200)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)


FORMS = [
    ("permute.default", {"dims": [2, 0, -2]}, lambda x: x.permute(2, 0, -2)),
    ("transpose.int", {"dim0": 0, "dim1": -1}, lambda x: x.transpose(0, -1)),
    ("swapaxes.default", {"axis0": 1, "axis1": 2}, lambda x: x.swapaxes(1, 2)),
    ("swapdims.default", {"dim0": 1, "dim1": 2}, lambda x: x.swapdims(1, 2)),
    ("mT.default", {}, lambda x: x.mT),
    ("movedim.int", {"source": 0, "destination": -1}, lambda x: x.movedim(0, -1)),
    ("movedim.int", {"source": 2, "destination": 0}, lambda x: x.movedim(2, 0)),
    ("movedim.intlist", {"source": [0, 1], "destination": [-1, 0]}, lambda x: x.movedim([0, 1], [-1, 0])),
    ("movedim.intlist", {"source": [2, 0], "destination": [0, 1]}, lambda x: x.movedim([2, 0], [0, 1])),
]


@pytest.mark.parametrize(("target", "arguments", "form"), FORMS)
def test_every_aten_form(target: str, arguments: dict[str, object], form: object) -> None:
    data = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    expected = form(data).contiguous().numpy()  # type: ignore[operator]
    context, name = lowered(target, [Tensor("x", (2, 3, 4), DType.FLOAT32)], expected.shape, self="x", **arguments)
    (op,) = context.ops
    assert context.tensors[name].shape == expected.shape
    graph = Graph("t", context.tensors, (op,), ("x",), (name,))
    assert np.array_equal(run(graph, data.numpy()), expected)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_t_of_any_rank(rank: int) -> None:
    shape = (2, 3)[:rank]
    context, name = lowered("t.default", [Tensor("x", shape, DType.FLOAT32)], shape[::-1], self="x")
    assert context.tensors[name].shape == shape[::-1]
    assert len(context.ops) == (1 if rank == 2 else 0)


def test_what_does_not_permute_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[0, 0\] does not permute"):
        operator("permute").infer(PermuteAttrs((0, 0)), [Tensor("x", (2, 3), DType.INT8)])
    graph = single_op("permute", PermuteAttrs((1, 0)), [Tensor("x", (2, 3), DType.INT32)], None)
    with pytest.raises(ValueError, match="int32 values"):
        operator("permute").check(graph.ops[0], graph)
