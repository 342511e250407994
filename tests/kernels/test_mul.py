"""mul: kernels on all tiers, accuracy, broadcasting, division by constants, ATen forms."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.mul import MulAttrs
from rushlight.ops.unary import UnaryAttrs
from tests.kernels.broadcasting import RELATIONS, random_shapes
from tests.kernels.building import dequantized, integer_graph, lowered, run
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op


def random_case(rng: np.random.Generator, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Graph, list[Array]]:
    a = Tensor("a", shapes[0], DType.INT8, random_q(rng))
    b = Tensor("b", shapes[1], DType.INT8, random_q(rng))
    scale = a.q.s * b.q.s / float(np.exp(rng.uniform(np.log(2.0**-20), np.log(0.2 if rng.random() < 0.8 else 8000.0))))
    if rng.random() < 0.2:
        b = Tensor("b", b.shape, DType.INT8, b.q, random_int8(rng, b.shape))
    elif rng.random() < 0.2:
        a = Tensor("a", a.shape, DType.INT8, a.q, random_int8(rng, a.shape))
    elif rng.random() < 0.1 and shapes[0] == shapes[1]:
        scale, b = a.q.s**2 * 200, a
    low = -128 if rng.random() < 0.5 else int(rng.integers(-128, 100))
    attrs = MulAttrs(low, 127 if rng.random() < 0.5 else int(rng.integers(low, 128)))
    graph = single_op("mul", attrs, [a, b], QParams((scale,), (int(rng.integers(-128, 128)),)))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(15)
    count = geometries(300)
    checked = check_kernels(random_case(rng, random_shapes(rng)) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
    assert checked.by_symbol["rl_mul_s8_dsp"] >= 200
    assert checked.by_symbol["rl_mul_s8_mve"] >= 200
    assert checked.in_place > 200


def test_every_relation_of_shapes_on_all_tiers() -> None:
    rng = np.random.default_rng(16)
    cases = [random_case(rng, pair) for relation in RELATIONS for pair in (relation, relation[::-1])]
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == 2 * len(RELATIONS) for tier in TIERS)


def test_results_are_nearest_to_the_real_ones() -> None:
    rng = np.random.default_rng(18)
    worst = 0.0
    for _ in range(100):
        q = [random_q(rng, 0.005, 0.05) for _ in range(2)]
        y = QParams((q[0].s * q[1].s * float(rng.uniform(60, 400)),), (int(rng.integers(-128, 128)),))
        a, b = (Tensor(n, (500,), DType.INT8, p) for n, p in zip("ab", q, strict=True))
        data = [random_int8(rng, (500,)) for _ in range(2)]
        real = dequantized(data[0], q[0]) * dequantized(data[1], q[1]) / y.s + y.z
        got = run(single_op("mul", MulAttrs(), [a, b], y), *data)
        worst = max(worst, float(np.abs(got - np.clip(real, -128, 127)).max()))
    assert worst < 0.51


def test_a_scale_that_leaves_32_bits_is_refused() -> None:
    x = Tensor("x", (3,), DType.INT8, QParams((1.0,), (-128,)))
    graph = single_op("mul", MulAttrs(), [x, x], QParams((2.0**-14,), (0,)))
    with pytest.raises(ValueError, match="beyond 32 bits"):
        operator("mul").check(graph.ops[0], graph)


def test_a_float_constant_is_quantised_by_its_own_range() -> None:
    rng = np.random.default_rng(19)
    x = Tensor("x", (1, 4, 5, 5), DType.INT8, QParams((0.05,), (4,)))
    data = rng.uniform(-1.0, 1.0, (4, 1, 1)).astype(np.float32)
    y = QParams((0.05,), (0,))
    graph = integer_graph("mul", MulAttrs(), [x, Tensor("c", data.shape, DType.FLOAT32, None, data)], y)
    codes = rng.integers(-60, 60, x.shape).astype(np.int8)
    real = dequantized(codes, x.q) * data / y.s
    # the constant is half a step of 2/255 off at most, 0.004 of |x|
    assert (np.abs(run(graph, codes) - real) <= 0.51 + 0.004 * np.abs(dequantized(codes, x.q)) / y.s).all()


def test_a_constant_of_one_element_becomes_a_table() -> None:
    x = Tensor("x", (1, 256), DType.INT8, QParams((0.05,), (4,)))
    codes = np.arange(-128, 128)
    for q, data in ((None, np.float32(3)), (QParams((0.03,), (0,)), np.int8(100))):
        dtype = DType.FLOAT32 if q is None else DType.INT8
        c = Tensor("c", (1,), dtype, q, np.full((1,), data))
        y = QParams((0.11,), (-3,))
        graph = integer_graph("mul", MulAttrs(), [c, x], y)
        assert graph.ops[0].kind == "table"
        expected = np.rint((3 * (codes - 4) * 0.05) / 0.11) - 3
        assert (run(graph, codes.astype(np.int8)[None]) == np.clip(expected, -128, 127)).all()


X = Tensor("x", (2, 3), DType.FLOAT32)
Y = Tensor("y", (2, 3), DType.FLOAT32)
ONE = Tensor("one", (1, 1, 1), DType.FLOAT32, None, np.full((1, 1, 1), 0.5, np.float32))
VECTOR = Tensor("vector", (3,), DType.FLOAT32, None, np.array([1, 2, 4], np.float32))
ZERO = Tensor("zero", (3,), DType.FLOAT32, None, np.array([1, 0, 4], np.float32))


@pytest.mark.parametrize(
    ("target", "first", "second", "expected"),
    [
        ("mul.Tensor", "x", 3, UnaryAttrs("affine", (3.0, 0.0))),
        ("mul.Scalar", "x", 3, UnaryAttrs("affine", (3.0, 0.0))),
        ("mul.Tensor", "one", "x", UnaryAttrs("affine", (0.5, 0.0))),
        ("mul.Tensor", "x", "y", MulAttrs()),
        ("mul.Tensor", "x", "vector", MulAttrs()),
        ("div.Tensor", "x", 4, UnaryAttrs("affine", (0.25, 0.0))),
        ("div.Scalar", "x", -2, UnaryAttrs("affine", (-0.5, 0.0))),
        ("div.Tensor", "one", "x", UnaryAttrs("rdiv", (0.5,))),
        ("div.Tensor", "x", "vector", MulAttrs()),
    ],
)
def test_every_aten_form(target: str, first: str, second: float | str, expected: object) -> None:
    shape = (1, 2, 3) if "one" in (first, second) else (2, 3)
    context, name = lowered(target, [X, Y, ONE, VECTOR], shape, self=first, other=second)
    assert context.ops[0].attrs == expected
    assert context.tensors[name].shape == shape
    if (target, second) == ("div.Tensor", "vector"):
        reciprocal = context.tensors[context.ops[0].inputs[1]].data
        assert reciprocal is not None
        assert reciprocal.tolist() == [1.0, 0.5, 0.25]


def test_divisions_without_an_integer_form_are_refused() -> None:
    for second, why in (("y", "computed when running"), ("zero", "has zeros"), (0, "divides by 0")):
        with pytest.raises(RushlightError, match=why):
            lowered("div.Tensor", [X, Y, ZERO], (2, 3), self="x", other=second)
