"""From float operators between quantize and dequantize to integer ones, and what is said where that cannot be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rushlight.errors import RushlightError, UnsupportedError
from rushlight.graph import QParams
from rushlight.ops.add import AddAttrs
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.unary import UnaryAttrs
from rushlight.passes.integer import to_integer
from tests.unit.sketch import Q, Sketch, kinds, told

WIDE = QParams((0.1,), (0,))


def float_linear(s: Sketch, x: str, name: str = "fc", features: int = 3) -> str:
    """dequantised x and weight, float bias."""
    k = s.tensors[x].shape[-1]
    w = s.const(f"{name}_w", s.rng.integers(-127, 128, (features, k)).astype(np.int8), QParams((0.01,), (0,)))
    b = s.const(f"{name}_b", s.rng.standard_normal(features).astype(np.float32))
    return s.op("linear", [s.dequantize(x, f"{name}_x"), s.dequantize(w, f"{name}_wf"), b], LinearAttrs(), name)


def test_dequantize_linear_relu_quantize_is_one_integer_operator() -> None:
    s = Sketch()
    x = s.quantize(s.input("x", 2, 5), "q")
    y = s.quantize(s.clamp(float_linear(s, x), 0.0, math.inf, "relu"), "yq", WIDE)
    after = to_integer(s.graph(s.dequantize(y, "y")))
    assert told(after) == "dequantize(linear(quantize(x)))"
    linear = after.ops[1]
    assert (linear.attrs.out_min, linear.attrs.out_max) == (0, 127)
    assert after[linear.outputs[0]].q == WIDE
    bias = after[linear.inputs[2]]
    assert bias.dtype.value == "int32" and bias.q.scale == pytest.approx((0.01 * 0.05,) * 3)
    assert bias.data is not None
    np.testing.assert_array_equal(bias.data, np.rint(s.tensors["fc_b"].data / (0.01 * 0.05)))  # type: ignore[operator]


def test_clamps_in_a_row_leave_what_all_let_through() -> None:
    s = Sketch()
    x = s.quantize(s.input("x", 2, 5), "q")
    y = s.clamp(s.clamp(float_linear(s, x), 0.0, math.inf, "relu"), -1.0, 6.0, "c")
    after = to_integer(s.graph(s.quantize(y, "y", WIDE)))
    assert (after.ops[-1].attrs.out_min, after.ops[-1].attrs.out_max) == (0, 60)


def test_what_is_read_before_its_relu_is_not_fused_with_it() -> None:
    s = Sketch()
    f = float_linear(s, s.quantize(s.input("x", 2, 5), "q"))
    a = s.quantize(f, "a", WIDE)
    after = to_integer(s.graph(a, s.quantize(s.clamp(s.dequantize(a, "d"), 0.0, math.inf, "relu"), "b", WIDE)))
    assert (told(after, 0), told(after, 1)) == ("linear(quantize(x))", "table(linear(quantize(x)))")
    assert after.ops[1].attrs.out_min == -128


def test_a_result_quantised_in_two_ways_is_computed_once_and_mapped_by_a_table() -> None:
    s = Sketch()
    f = float_linear(s, s.quantize(s.input("x", 2, 5), "q"))
    after = to_integer(s.graph(s.quantize(f, "a", Q), s.quantize(f, "b", WIDE)))
    assert (told(after, 0), told(after, 1)) == ("linear(quantize(x))", "table(linear(quantize(x)))")
    assert [n.kind for n in after.notes] == ["requantise"]


def test_quantize_of_what_was_dequantised_alike_is_nothing() -> None:
    s = Sketch()
    x = s.input("x", 5, q=Q)
    same = s.quantize(s.dequantize(x, "f"), "y", QParams(Q.scale, Q.zero_point, None, -127, 127))
    assert told(to_integer(s.graph(same))) == "x"


def test_a_float_output_is_a_dequantised_integer_one() -> None:
    s = Sketch()
    f = float_linear(s, s.quantize(s.input("x", 2, 5), "q"))
    after = to_integer(s.graph(f, s.quantize(f, "a", Q)))
    assert told(after, 0) == "dequantize(linear(quantize(x)))"
    assert kinds(after).count("linear") == 1


def test_every_operator_without_an_integer_form_is_named_at_once_with_its_line_and_reason() -> None:
    s = Sketch()
    x = s.quantize(s.input("x", 5), "q")
    z = s.input("z", 5)
    first = s.op("unary", [z], UnaryAttrs("silu"), "act")
    second = s.op("add", [s.dequantize(x, "f"), s.dequantize(x, "f2")], AddAttrs(), "sum")
    with pytest.raises(UnsupportedError) as caught:
        to_integer(s.graph(s.quantize(first, "a"), second))
    assert caught.value.reasons == [
        "unary 'act' (model.py:2): no integer form, its input 'z' is float32: it is not quantised; "
        "quantise it with rl.quantize or RushlightQuantizer",
        "add 'sum' (model.py:5): no integer form, its output is not quantised; "
        "quantise it with rl.quantize or RushlightQuantizer",
    ]


def test_what_follows_an_operator_without_integer_form_is_not_blamed() -> None:
    s = Sketch()
    z = s.op("unary", [s.input("z", 5)], UnaryAttrs("silu"), "a")
    y = s.op("unary", [z], UnaryAttrs("silu"), "b")
    with pytest.raises(UnsupportedError) as caught:
        to_integer(s.graph(s.quantize(y, "y")))
    assert len(caught.value.reasons) == 1 and "'a'" in caught.value.reasons[0]


def test_weights_that_are_not_constant_integers_are_refused() -> None:
    s = Sketch()
    x = s.quantize(s.input("x", 2, 5), "q")
    w = s.const("w", np.ones((3, 5), np.float32))
    y = s.op("linear", [s.dequantize(x, "xf"), w], LinearAttrs(), "fc")
    with pytest.raises(UnsupportedError, match=r"linear 'fc' .* its weight is not a constant quantised to int8"):
        to_integer(s.graph(s.quantize(y, "y")))


def test_a_float_program_is_told_to_be_quantised() -> None:
    s = Sketch()
    with pytest.raises(RushlightError, match=r"the program is not quantised.*rl.quantize"):
        to_integer(s.graph(s.op("unary", [s.input("x", 5)], UnaryAttrs("silu"), "y")))
