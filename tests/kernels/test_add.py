"""add and subtract: kernels on all tiers, accuracy, broadcasting, constants, ATen forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.add import AddAttrs, add_terms
from rushlight.ops.base import Array
from rushlight.ops.unary import UnaryAttrs
from tests.kernels.broadcasting import RELATIONS, random_shapes
from tests.kernels.building import dequantized, integer_graph, lowered, run, try_integer
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op


def random_attrs(rng: np.random.Generator) -> AddAttrs:
    low = -128 if rng.random() < 0.5 else int(rng.integers(-128, 100))
    high = 127 if rng.random() < 0.5 else int(rng.integers(low, 128))
    alpha = 1.0 if rng.random() < 0.7 else float(rng.choice([0.0, -0.5, 2.5]))
    return AddAttrs(bool(rng.random() < 0.5), alpha, low, high)


def random_case(rng: np.random.Generator, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Graph, list[Array]]:
    a = Tensor("a", shapes[0], DType.INT8, random_q(rng))
    b = Tensor("b", shapes[1], DType.INT8, random_q(rng))
    if rng.random() < 0.2:
        b = Tensor("b", b.shape, DType.INT8, b.q, random_int8(rng, b.shape))
    elif rng.random() < 0.2:
        a = Tensor("a", a.shape, DType.INT8, a.q, random_int8(rng, a.shape))
    elif rng.random() < 0.1:
        b = a
    graph = single_op("add", random_attrs(rng), [a, b], random_q(rng, 1e-2, 3.0))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(5)
    count = geometries(260)
    checked = check_kernels(random_case(rng, random_shapes(rng)) for _ in range(count))
    assert all(checked.by_tier[tier] == count for tier in TIERS)
    assert checked.in_place > 200


def test_every_relation_of_shapes_on_all_tiers() -> None:
    rng = np.random.default_rng(6)
    cases = [random_case(rng, pair) for relation in RELATIONS for pair in (relation, relation[::-1])]
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == 2 * len(RELATIONS) for tier in TIERS)


def test_extremes_of_scales_stay_in_32_bits() -> None:
    rng = np.random.default_rng(7)
    cases = []
    for s_a in (2.0**-20, 0.004, 1.0, 16000.0):
        for s_b in (2.0**-20, 0.004, 1.0, 16000.0):
            for z in (-128, 127):
                a = Tensor("a", (2, 33), DType.INT8, QParams((s_a,), (z,)))
                b = Tensor("b", (2, 33), DType.INT8, QParams((s_b,), (-1 - z,)))
                y = QParams((1.0,), (z,))
                terms = add_terms(a, b, Tensor("y", (), DType.INT8, y), AddAttrs())
                assert max(map(abs, terms.multipliers)) < 2**15
                assert abs(terms.offset) + 128 * sum(map(abs, terms.multipliers)) < 2**31
                graph = single_op("add", AddAttrs(), [a, b], y)
                cases.append((graph, [rng.choice(np.array([-128, 127], np.int8), (2, 33)) for _ in range(2)]))
    check_kernels(cases)
    broken = Tensor("a", (1,), DType.INT8, QParams((2.0**15,), (0,)))
    with pytest.raises(ValueError, match="broken calibration"):
        add_terms(broken, broken, Tensor("y", (), DType.INT8, QParams((1.0,), (0,))), AddAttrs())


def test_results_are_nearest_to_the_real_ones() -> None:
    rng = np.random.default_rng(8)
    worst = 0.0
    for _ in range(100):
        q = [random_q(rng, 0.005, 0.05) for _ in range(2)]
        y = random_q(rng, 0.02, 0.2)
        a, b = (Tensor(n, (500,), DType.INT8, p) for n, p in zip("ab", q, strict=True))
        graph = single_op("add", AddAttrs(subtract=True), [a, b], y)
        data = [random_int8(rng, (500,)) for _ in range(2)]
        real = (dequantized(data[0], q[0]) - dequantized(data[1], q[1])) / y.s + y.z
        got = run(graph, *data)
        worst = max(worst, float(np.abs(got - np.clip(real, -128, 127)).max()))
    assert worst < 0.54  # half a step, and what 15 bits of a multiplier lose


def test_a_float_constant_is_quantised_by_its_own_range() -> None:
    rng = np.random.default_rng(9)
    x = Tensor("x", (1, 4, 5, 5), DType.INT8, QParams((0.05,), (4,)))
    data = rng.uniform(0.5, 3.0, (4, 1, 1)).astype(np.float32)
    c = Tensor("c", (4, 1, 1), DType.FLOAT32, None, data)
    y = QParams((0.06,), (-20,))
    builder, reason = try_integer("add", AddAttrs(), [x, c], y)
    assert reason is None
    assert "constant operand [4, 1, 1] is quantised to int8" in builder.notes[0]
    for order in ((0, 1), (1, 0)):
        pair = [x, c]
        graph = integer_graph("add", AddAttrs(), [pair[i] for i in order], y, clamp=(0.0, np.inf))
        codes = random_int8(rng, x.shape)
        real = np.maximum(dequantized(codes, x.q) + data, 0.0) / y.s + y.z
        assert np.abs(run(graph, codes) - np.clip(real, -128, 127)).max() < 0.62
    infinite = Tensor("c", (5,), DType.FLOAT32, None, np.full(5, np.inf, np.float32))
    assert try_integer("add", AddAttrs(), [x, infinite], y)[1] == "its constant operand has NaN or infinite values"


def test_a_constant_of_one_element_becomes_a_table() -> None:
    x = Tensor("x", (1, 256), DType.INT8, QParams((0.05,), (4,)))
    codes = np.arange(-128, 128)
    for q, data in ((None, np.float32(3)), (QParams((0.03,), (0,)), np.int8(100))):
        dtype = DType.FLOAT32 if q is None else DType.INT8
        c = Tensor("c", (1,), dtype, q, np.full((1,), data))
        y = QParams((0.1,), (-3,))
        graph = integer_graph("add", AddAttrs(subtract=True), [c, x], y)
        assert graph.ops[0].kind == "table"
        expected = np.rint((3 - (codes - 4) * 0.05) / 0.1) - 3
        assert (run(graph, codes.astype(np.int8)[None]) == np.clip(expected, -128, 127)).all()


X = Tensor("x", (2, 3), DType.FLOAT32)
Y = Tensor("y", (2, 3), DType.FLOAT32)
ONE = Tensor("one", (1, 1, 1), DType.FLOAT32, None, np.full((1, 1, 1), 0.5, np.float32))


@pytest.mark.parametrize(
    ("target", "first", "second", "alpha", "expected"),
    [
        ("add.Tensor", "x", 3, 1, UnaryAttrs("affine", (1.0, 3.0))),
        ("add.Tensor", "x", 3, 2, UnaryAttrs("affine", (1.0, 6.0))),
        ("add.Scalar", "x", 3, 1, UnaryAttrs("affine", (1.0, 3.0))),
        ("add.Tensor", "one", "x", 2, UnaryAttrs("affine", (2.0, 0.5))),
        ("sub.Tensor", "x", 1.5, 1, UnaryAttrs("affine", (1.0, -1.5))),
        ("sub.Tensor", "one", "x", 1, UnaryAttrs("affine", (-1.0, 0.5))),
        ("rsub.Scalar", "x", 1, 1, UnaryAttrs("affine", (-1.0, 1.0))),
        ("rsub.Scalar", "x", 1, 3, UnaryAttrs("affine", (-3.0, 1.0))),
        ("add.Tensor", "x", "y", 1, AddAttrs()),
        ("sub.Tensor", "x", "y", 1, AddAttrs(subtract=True)),
        ("sub.Tensor", "x", "y", 0.5, AddAttrs(subtract=True, alpha=0.5)),
        ("rsub.Tensor", "x", "y", 1, AddAttrs(subtract=True)),
    ],
)
def test_every_aten_form(target: str, first: str, second: float | str, alpha: float, expected: object) -> None:
    shape = (1, 2, 3) if "one" in (first, second) else (2, 3)
    context, name = lowered(target, [X, Y, ONE], shape, self=first, other=second, alpha=alpha)
    op = context.ops[0]
    assert op.attrs == expected
    assert context.tensors[name].shape == shape
    if target == "rsub.Tensor":
        assert op.inputs == ("y", "x")
    if isinstance(expected, UnaryAttrs):  # what torch computes is what the attributes say
        value = {"x": torch.tensor(1.25), "one": torch.tensor(0.5)}
        packet, _, overload = target.partition(".")
        form = getattr(getattr(torch.ops.aten, packet), overload)
        other = value.get(second, second) if isinstance(second, str) else second
        got = form(value[first], torch.as_tensor(other) if overload == "Tensor" else other, alpha=alpha)
        assert float(got) == expected.parameters[0] * 1.25 + expected.parameters[1]


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ValueError, match="do not broadcast"):
        operator("add").infer(AddAttrs(), [X, Tensor("z", (4,), DType.FLOAT32)])
    wide = Tensor("w", (1,) * 7, DType.INT8, QParams((1.0,), (0,)))
    graph = single_op("add", AddAttrs(), [wide, wide], QParams((1.0,), (0,)))
    with pytest.raises(ValueError, match="rank 7"):
        operator("add").check(graph.ops[0], graph)
