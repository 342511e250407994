"""A program's inputs and outputs: int8, NHWC, outputs that are buffers of their own, and their names."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, QParams
from rushlight.ops.interpreter import run_graph
from rushlight.passes import lower
from rushlight.passes.edges import int8_edges, name_outputs, nhwc_edges, own_outputs
from rushlight.passes.layout import move_permutes
from tests.unit.sketch import TO_NCHW, TO_NHWC, Q, Sketch, kinds, random_inputs, told

OTHER = QParams((0.08,), (-11,))


# --- int8


def test_int8_program_begins_and_ends_with_integers() -> None:
    s = Sketch()
    y = s.dequantize(s.table(s.quantize(s.input("x", 4), "q", OTHER), "t"), "y")
    after = int8_edges(s.graph(y))
    assert told(after) == "table(x)"
    assert (after["x"].dtype, after["x"].q) == (DType.INT8, OTHER)
    assert after[after.outputs[0]].q == Q


def test_int8_input_that_is_quantised_twice_alike_is_one_input() -> None:
    s = Sketch()
    x = s.input("x", 4)
    after = int8_edges(s.graph(s.table(s.quantize(x, "a"), "t"), s.table(s.quantize(x, "b"), "u")))
    assert (told(after, 0), told(after, 1)) == ("table(x)", "table(x)")


def test_int8_input_that_is_quantised_in_two_ways_is_refused() -> None:
    s = Sketch()
    x = s.input("x", 4)
    with pytest.raises(RushlightError, match="input 'x': it is quantised in several ways; compile with float inputs"):
        int8_edges(s.graph(s.quantize(x, "a", Q), s.quantize(x, "b", OTHER)))


def test_int8_input_that_is_read_as_float_is_refused() -> None:
    s = Sketch()
    x = s.input("x", 4)
    with pytest.raises(RushlightError, match=r"input 'x': int8 input needs .* but reshape reads it as float32"):
        int8_edges(s.graph(s.reshape(x, (2, 2), "y")))


def test_an_int8_output_that_is_also_used_inside_has_one_buffer() -> None:
    s = Sketch()
    t = s.table(s.quantize(s.input("x", 4), "q"), "t")
    after = own_outputs(int8_edges(s.graph(s.dequantize(t, "y"), s.dequantize(s.table(t, "u"), "z"))))
    assert (told(after, 0), told(after, 1)) == ("table(x)", "table(table(x))")


# --- NHWC


def conv_net(s: Sketch) -> Graph:
    """What the importer makes of quantize, convolution, dequantize."""
    x = s.permute(s.quantize(s.input("x", 1, 3, 6, 5), "q"), TO_NHWC, "p")
    return s.graph(s.dequantize(s.permute(s.conv2d(x, 4, 3, "c"), TO_NCHW, "p2"), "y"))


def test_nhwc_program_has_no_copy_around_convolutions() -> None:
    before = conv_net(Sketch())
    after = move_permutes(nhwc_edges(before))
    assert told(after) == "dequantize(conv2d(quantize(x)))"
    assert after["x"].shape == (1, 6, 5, 3)
    assert [n.where for n in after.notes] == ["input 'x'", "output 0"]
    (x,) = random_inputs(before)
    (expected,) = run_graph(before, [x])
    (found,) = run_graph(after, [np.ascontiguousarray(x.transpose(TO_NHWC))])
    np.testing.assert_array_equal(found, expected.transpose(TO_NHWC))


def test_nhwc_input_before_flatten_and_linear_needs_no_copy_either() -> None:
    s = Sketch()
    flat = s.reshape(s.quantize(s.input("x", 1, 3, 4, 5), "q"), (1, 60), "flat")
    before = s.graph(s.dequantize(s.linear(flat, 7, "l"), "y"))
    after = move_permutes(nhwc_edges(before))
    assert told(after) == "dequantize(linear(reshape(quantize(x))))"
    (x,) = random_inputs(before)
    np.testing.assert_array_equal(
        run_graph(after, [np.ascontiguousarray(x.transpose(TO_NHWC))])[0], run_graph(before, [x])[0]
    )


def test_nhwc_where_the_model_needs_its_own_order_costs_a_copy_that_is_told() -> None:
    s = Sketch()
    x = s.quantize(s.input("x", 1, 3, 4, 5), "q")
    before = s.graph(s.dequantize(s.reshape(x, (1, 4, 3, 5), "r"), "y"))
    after = lower(before, layout="nhwc")
    assert kinds(after).count("permute") == 2
    assert [n.kind for n in after.notes].count("copy") == 2
    (array,) = random_inputs(before)
    (found,) = run_graph(after, [np.ascontiguousarray(array.transpose(TO_NHWC))])
    np.testing.assert_array_equal(found, run_graph(before, [array])[0].transpose(TO_NHWC))


def test_nhwc_turns_every_input_of_rank_4_and_no_other() -> None:
    s = Sketch()
    a, b, c = s.input("a", 1, 2, 3, 4), s.input("b", 2, 3, 4), s.input("unused", 1, 5, 6, 7)
    after = lower(
        s.graph(s.dequantize(s.quantize(a, "qa"), "y"), s.dequantize(s.quantize(b, "qb"), "z")), layout="nhwc"
    )
    assert [after[n].shape for n in (a, b, c)] == [(1, 3, 4, 2), (2, 3, 4), (1, 6, 7, 5)]
    assert [after[n].shape for n in after.outputs] == [(1, 3, 4, 2), (2, 3, 4)]
    assert after.layouts == {"a": "NHWC", "unused": "NHWC", "y": "NHWC"}


def test_an_nhwc_input_quantised_in_two_ways_stays_right() -> None:
    s = Sketch()
    x = s.input("x", 1, 3, 4, 5)
    y, z = (s.dequantize(s.quantize(x, f"q{q.z}", q), f"y{q.z}") for q in (Q, OTHER))
    before = s.graph(y, z)
    after = lower(before, layout="nhwc")
    assert "permute" not in kinds(after)
    (array,) = random_inputs(before)
    for found, expected in zip(
        run_graph(after, [np.ascontiguousarray(array.transpose(TO_NHWC))]), run_graph(before, [array]), strict=True
    ):
        np.testing.assert_array_equal(found, expected.transpose(TO_NHWC))


def test_int8_and_nhwc_together() -> None:
    before = conv_net(Sketch())
    after = lower(before, io="int8", layout="nhwc")
    assert told(after) == "conv2d(x)" and after.outputs == ("y",)
    assert after.layouts == {"x": "NHWC", "y": "NHWC"}


# --- outputs of one's own


def test_an_input_that_is_also_an_output_is_copied() -> None:
    s = Sketch()
    x = s.input("x", 4)
    after = own_outputs(s.graph(x, s.quantize(x, "q")))
    assert (told(after, 0), told(after, 1)) == ("copy(x)", "quantize(x)")
    assert [str(n) for n in after.notes] == ["copy: output 0: 16 bytes are copied: it is input 'x'"]


def test_a_view_of_an_input_is_copied() -> None:
    s = Sketch()
    after = own_outputs(s.graph(s.reshape(s.input("x", 4), (2, 2), "y")))
    assert told(after) == "copy(reshape(x))"


def test_a_view_of_a_result_is_not_copied() -> None:
    s = Sketch()
    after = own_outputs(s.graph(s.reshape(s.table(s.input("x", 4, q=Q), "t"), (2, 2), "y")))
    assert told(after) == "reshape(table(x))" and after.notes == ()


def test_an_output_that_is_used_inside_is_not_copied() -> None:
    s = Sketch()
    t = s.table(s.input("x", 4, q=Q), "t")
    after = own_outputs(s.graph(t, s.table(t, "u")))
    assert (told(after, 0), told(after, 1)) == ("table(x)", "table(table(x))")


def test_the_same_output_twice_is_copied_once() -> None:
    s = Sketch()
    t = s.table(s.input("x", 4, q=Q), "t")
    after = own_outputs(s.graph(t, t))
    assert (told(after, 0), told(after, 1)) == ("table(x)", "copy(table(x))")
    assert after.notes[0].text == "4 bytes are copied: it is output 0 too"


def test_two_views_of_one_result_are_two_buffers() -> None:
    s = Sketch()
    t = s.table(s.input("x", 4, q=Q), "t")
    after = own_outputs(s.graph(s.reshape(t, (2, 2), "y"), t, s.reshape(t, (1, 4), "z")))
    assert [told(after, i) for i in range(3)] == ["reshape(table(x))", "copy(table(x))", "copy(reshape(table(x)))"]


def test_a_constant_output_is_copied() -> None:
    s = Sketch()
    s.input("x", 4, q=Q)
    c = s.const("c", np.arange(3, dtype=np.float32))
    after = own_outputs(s.graph(c))
    assert told(after) == "copy(const)"
    np.testing.assert_array_equal(run_graph(after, random_inputs(after))[0], [0, 1, 2])


# --- names


def test_outputs_keep_the_names_that_they_had() -> None:
    s = Sketch()
    before = s.graph(s.dequantize(s.table(s.quantize(s.input("x", 4), "q"), "t"), "y"))
    assert lower(before, io="int8").outputs == ("y",)
    assert lower(before).outputs == ("y",)


def test_an_input_that_is_an_output_keeps_its_name_as_input() -> None:
    s = Sketch()
    x = s.input("x", 4)
    after = lower(s.graph(x, s.dequantize(s.quantize(x, "q"), "y")))
    assert (after.inputs, after.outputs) == (("x",), ("x_out", "y"))


def test_one_tensor_that_is_two_outputs_has_two_names() -> None:
    s = Sketch()
    y = s.dequantize(s.quantize(s.input("x", 4), "q"), "y")
    assert lower(s.graph(y, y)).outputs == ("y", "y_out")


def test_a_name_that_an_inner_tensor_has_taken_is_given_back() -> None:
    s = Sketch()
    y = s.table(s.input("x", 4, q=Q), "y")
    after = name_outputs(s.graph(s.table(y, "z")), ["y"], "nchw")
    assert after.outputs == ("y",) and told(after) == "table(table(x))"
