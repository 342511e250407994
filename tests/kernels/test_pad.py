"""pad: kernels on all tiers, crops, values, ATen forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.pad import PadAttrs
from tests.kernels.building import dequantized, integer_graph, lowered, run, try_integer
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    rank = int(rng.integers(1, 7))
    shape = tuple(int(d) for d in rng.integers(1, {1: 40, 2: 18, 3: 9}.get(rank, 5), rank))
    pads = []
    for size in shape:
        low = -((size - 1) // 2) if rng.random() < 0.3 else 0
        pairs = rng.integers(low, 4, 2) if rng.random() < 0.6 else (0, 0)
        pads.append((int(pairs[0]), int(pairs[1])))
    q = random_q(rng)
    value = float(rng.choice([0.0, 0.0, 1.5, -1e6, math.inf, -math.inf]))
    graph = single_op("pad", PadAttrs(tuple(pads), value), [Tensor("x", shape, DType.INT8, q)], q)
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(31)
    count = geometries(240)
    checked = check_kernels(random_case(rng) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)


@pytest.mark.parametrize("pads", [[3, 0], [1, 2, 0, 1], [-1, 2, 3, -2], [0, 0, -1, -1, 1, 0], [1, 1, 1, 1, 1, 1, 1, 1]])
def test_equal_to_torch_for_every_aten_form(pads: list[int]) -> None:
    rng = np.random.default_rng(32)
    q = QParams((0.05,), (-7,))
    x = Tensor("x", (2, 3, 4, 5), DType.FLOAT32)
    codes = random_int8(rng, x.shape)
    real = torch.from_numpy(dequantized(codes, q))
    for target, extra, value in (
        ("pad.default", {"mode": "constant", "value": None}, 0.0),
        ("pad.default", {"mode": "constant", "value": 1.0}, 1.0),
        ("constant_pad_nd.default", {"value": -2}, -2.0),
    ):
        expected = F.pad(real, pads, value=value).numpy()
        context, name = lowered(target, [x], expected.shape, self="x", pad=pads, **extra)
        assert context.tensors[name].shape == expected.shape
        graph = integer_graph("pad", context.ops[0].attrs, [Tensor("x", x.shape, DType.INT8, q)], q)
        assert np.allclose(dequantized(run(graph, codes), q), expected)


def test_pads_of_nothing_leave_the_tensor() -> None:
    x = Tensor("x", (2, 3), DType.FLOAT32)
    assert lowered("pad.default", [x], (2, 3), self="x", pad=[0, 0], mode="constant", value=None)[1] == "x"


def test_a_value_outside_the_range_is_told() -> None:
    q = QParams((0.01,), (0,))
    x = Tensor("x", (4,), DType.INT8, q)
    builder, reason = try_integer("pad", PadAttrs(((1, 0),), 5.0), [x], q)
    assert reason is None
    assert builder.notes == ["warning: the padding value 5 is outside its range; 1.27 is used"]
    assert try_integer("pad", PadAttrs(((1, 0),), -math.inf), [x], q)[0].notes == []
    assert "another scale" in str(try_integer("pad", PadAttrs(((1, 0),)), [x], QParams((0.02,), (0,)))[1])


def test_a_permute_takes_the_pads_along() -> None:
    rng = np.random.default_rng(33)
    q, permutation = QParams((0.1,), (0,)), (0, 3, 1, 2)
    x = Tensor("x", (1, 2, 3, 4), DType.INT8, q)
    behind = Tensor("x", (1, 4, 2, 3), DType.INT8, q)
    graph = single_op("pad", PadAttrs(((0, 0), (1, 0), (0, 2), (3, 1))), [behind], q)
    attrs = operator("pad").permuted(graph.ops[0], graph, permutation)
    data = random_int8(rng, x.shape)
    before = run(single_op("pad", attrs, [x], q), data)
    assert (before.transpose(permutation) == run(graph, data.transpose(permutation))).all()


def test_what_cannot_be_padded_is_refused() -> None:
    x = Tensor("x", (2, 3), DType.FLOAT32)
    for arguments, why in (
        ({"pad": [1, 1], "mode": "reflect", "value": None}, "by 'reflect' has no kernel"),
        ({"pad": [1] * 6, "mode": "constant", "value": None}, "6 pads do not fit rank 2"),
        ({"pad": [1, 1], "mode": "constant", "value": math.nan}, "value is NaN"),
    ):
        with pytest.raises(RushlightError, match=why):
            lowered("pad.default", [x], (2, 3), self="x", **arguments)
    with pytest.raises(ValueError, match="leave nothing"):
        operator("pad").infer(PadAttrs(((0, 0), (-2, -1))), [x])
