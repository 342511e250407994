"""concat: kernels on all tiers, requantised and constant parts, ATen forms."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.concat import ConcatAttrs
from tests.kernels.building import dequantized, integer_graph, lowered, run, try_integer
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op


def random_case(rng: np.random.Generator, count: int) -> tuple[Graph, list[Array]]:
    rank = int(rng.integers(1, 7))
    axis = int(rng.integers(0, rank))
    shape = [int(d) for d in rng.integers(1, {1: 40, 2: 18, 3: 8}.get(rank, 4), rank)]
    out = random_q(rng)
    tensors = []
    for i in range(count):
        shape[axis] = int(rng.integers(1, 9))
        q = out if rng.random() < 0.6 else random_q(rng)
        data = random_int8(rng, shape) if i > 0 and rng.random() < 0.15 else None
        tensors.append(Tensor(f"x{i}", tuple(shape), DType.INT8, q, data))
    if rng.random() < 0.1 and not tensors[-1].constant:
        tensors[0] = tensors[-1]  # the same tensor twice
    graph = single_op("concat", ConcatAttrs(axis), tensors, out)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(21)
    counts = [int(c) for c in rng.integers(2, 9, geometries(200))] + [9, 12, 16, 17, 31, 32]
    checked = check_kernels(random_case(rng, count) for count in counts)
    assert all(checked.by_tier[tier] == len(counts) for tier in TIERS)
    assert all(checked.by_symbol[f"rl_concat{n}_table_s8_v6m"] for n in (2, 4, 8, 16, 32))
    assert all(checked.by_symbol[f"rl_concat{n}_s8_v6m"] for n in (2, 4, 8))


def test_values_of_another_scale_take_the_nearest_integer() -> None:
    q = [QParams((0.05,), (3,)), QParams((0.1,), (-20,))]
    tensors = [Tensor(f"x{i}", (2, 256), DType.INT8, p) for i, p in enumerate(q)]
    builder, reason = try_integer("concat", ConcatAttrs(1), tensors, q[1])
    assert reason is None
    assert builder.notes == ["requantise: its input 'x0' has another scale than its output: a table maps it"]
    graph = integer_graph("concat", ConcatAttrs(1), tensors, q[1])
    data = [np.tile(np.arange(-128, 128).astype(np.int8), (2, 1)) for _ in range(2)]
    y = run(graph, *data)
    real = dequantized(data[0], q[0]) / 0.1 - 20
    assert np.abs(y[:, :256] - np.clip(real, -128, 127)).max() <= 0.5
    assert (y[:, 256:] == data[1]).all()


def test_a_float_constant_takes_the_outputs_scale() -> None:
    q = QParams((0.05,), (3,))
    x = Tensor("x", (1, 4, 6), DType.INT8, q)
    token = Tensor("token", (1, 1, 6), DType.FLOAT32, None, np.linspace(-9, 9, 6, dtype=np.float32).reshape(1, 1, 6))
    graph = integer_graph("concat", ConcatAttrs(1), [token, x], q)
    y = run(graph, np.zeros((1, 4, 6), np.int8))
    assert y[0, 0].tolist() == [-128, -105, -33, 39, 111, 127]
    check_kernels([(graph, [np.ones((1, 4, 6), np.int8)])])


def test_every_aten_form() -> None:
    a, b = Tensor("a", (2, 3), DType.FLOAT32), Tensor("b", (2, 5), DType.FLOAT32)
    empty = Tensor("empty", (0,), DType.FLOAT32)
    context, _ = lowered("cat.default", [a, b, empty], (2, 8), tensors=["a", "empty", "b"], dim=-1)
    assert [(op.kind, op.inputs, op.attrs) for op in context.ops] == [("concat", ("a", "b"), ConcatAttrs(1))]
    context, name = lowered("cat.default", [a, empty], (2, 3), tensors=["a", "empty"], dim=1)
    assert (name, context.ops) == ("a", [])
    context, name = lowered("stack.default", [a], (2, 2, 3), tensors=["a", "a"], dim=1)
    assert [op.kind for op in context.ops] == ["reshape", "reshape", "concat"]
    assert context.tensors[name].shape == (2, 2, 3)


def test_a_permute_takes_the_axis_along() -> None:
    rng = np.random.default_rng(22)
    q = QParams((0.1,), (0,))
    permutation = (0, 3, 1, 2)
    tensors = [Tensor(f"x{i}", (1, 2, 3, 4 + i), DType.INT8, q) for i in range(2)]
    behind = [Tensor(t.name, tuple(t.shape[p] for p in permutation), DType.INT8, q) for t in tensors]
    graph = single_op("concat", ConcatAttrs(1), behind, q)
    attrs = operator("concat").permuted(graph.ops[0], graph, permutation)
    data = [random_int8(rng, t.shape) for t in tensors]
    before = run(single_op("concat", attrs, tensors, q), *data)
    assert (before.transpose(permutation) == run(graph, *(d.transpose(permutation) for d in data))).all()


def test_what_cannot_be_joined_is_refused() -> None:
    a, b = Tensor("a", (2, 3), DType.FLOAT32), Tensor("b", (3, 5), DType.FLOAT32)
    with pytest.raises(ValueError, match="differ elsewhere"):
        operator("concat").infer(ConcatAttrs(1), [a, b])
    with pytest.raises(RushlightError, match="33 tensors, 32 at most"):
        lowered("cat.default", [a], (66, 3), tensors=["a"] * 33, dim=0)
