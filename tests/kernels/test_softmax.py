"""softmax: kernels on all tiers, within one step of the true one, any dimension."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.softmax import SoftmaxAttrs
from tests.kernels.building import dequantized, integer_graph, lowered, run
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op

UNIT = QParams((1 / 256,), (-128,))


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    rank = int(rng.integers(1, 5))
    shape = (*(int(d) for d in rng.integers(1, 4, rank - 1)), int(rng.integers(1, 70)))
    x = Tensor("x", shape, DType.INT8, random_q(rng, 1e-4, 2.0))
    y = UNIT if rng.random() < 0.6 else random_q(rng, 1 / 512, 0.1)
    graph = single_op("softmax", SoftmaxAttrs(), [x], y)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(11)
    cases = [random_case(rng) for _ in range(geometries(200))]
    for n in (1000, 65536):
        x = Tensor("x", (1, n), DType.INT8, QParams((1e-4,), (0,)))
        cases.append((single_op("softmax", SoftmaxAttrs(), [x], UNIT), [np.full((1, n), 5, np.int8)]))
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == len(cases) for tier in TIERS)
    assert checked.in_place >= len(cases)


def test_within_one_step_of_the_true_softmax() -> None:
    rng = np.random.default_rng(12)
    worst = 0.0
    for columns in (1, 2, 3, 10, 100, 1000, 40000):
        for scale in (1e-3, 0.02, 0.1, 0.7):
            x = Tensor("x", (3, columns), DType.INT8, QParams((scale,), (-7,)))
            graph = integer_graph("softmax", SoftmaxAttrs(), [x], UNIT)
            data = random_int8(rng, x.shape)
            data[0, 0] = 127
            real = dequantized(data, x.q)
            e = np.exp(real - real.max(axis=-1, keepdims=True))
            true = e / e.sum(axis=-1, keepdims=True)
            got = run(graph, data)
            worst = max(worst, float(np.abs(got - np.clip(true * 256 - 128, -128, 127)).max()))
    assert worst < 0.52


@pytest.mark.parametrize("dim", [-1, 2, 1, 0, -3])
def test_another_dimension_is_made_the_last_one(dim: int) -> None:
    x = Tensor("x", (2, 3, 4), DType.FLOAT32)
    context, name = lowered("softmax.int", [x], x.shape, self="x", dim=dim, dtype=None)
    kinds = [op.kind for op in context.ops]
    assert kinds == (["softmax"] if dim in (-1, 2) else ["permute", "softmax", "permute"])
    assert context.tensors[name].shape == x.shape
    inner = next(op for op in context.ops if op.kind == "softmax")
    assert context.tensors[inner.inputs[0]].shape[-1] == x.shape[dim]


def test_a_permute_passes_only_if_it_leaves_the_last_dimension() -> None:
    graph = single_op("softmax", SoftmaxAttrs(), [Tensor("x", (2, 3, 4), DType.INT8, UNIT)], UNIT)
    assert operator("softmax").permuted(graph.ops[0], graph, (1, 0, 2)) == SoftmaxAttrs()
    assert operator("softmax").permuted(graph.ops[0], graph, (0, 2, 1)) is None


def test_what_has_no_softmax_is_refused() -> None:
    with pytest.raises(RushlightError, match="softmax of a number"):
        lowered("softmax.int", [Tensor("x", (), DType.FLOAT32)], (), self="x", dim=0, dtype=None)
    x = Tensor("x", (1, 65537), DType.INT8, UNIT)
    graph = single_op("softmax", SoftmaxAttrs(), [x], UNIT)
    with pytest.raises(ValueError, match="above 65536"):
        operator("softmax").check(graph.ops[0], graph)
