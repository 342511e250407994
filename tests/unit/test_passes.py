"""Each pass on the example of its docstring, and where it must keep its hands off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rushlight.graph import DType, Graph, QParams, Source
from rushlight.ops.add import AddAttrs
from rushlight.ops.concat import ConcatAttrs
from rushlight.ops.interpreter import run_graph
from rushlight.ops.mul import MulAttrs
from rushlight.ops.pad import PadAttrs
from rushlight.ops.verify import verify
from rushlight.passes.constants import fold_constants, merge_equal
from rushlight.passes.dequantize import hoist_clamps, hoist_quantize, sink_dequantize
from rushlight.passes.layout import move_permutes, note_copies
from rushlight.passes.pads import merge_pads
from rushlight.passes.tables import compose_tables
from tests.unit.sketch import TO_NCHW, TO_NHWC, Q, Sketch, kinds, random_inputs, told

OTHER = QParams((0.08,), (-11,))


def assert_same_answers(before: Graph, after: Graph, samples: int = 3) -> None:
    verify(before, "the sketch")
    verify(after, "the pass")
    for seed in range(samples):
        inputs = random_inputs(before, seed)
        for a, b in zip(run_graph(before, inputs), run_graph(after, inputs), strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


# --- constants


def test_a_permuted_constant_is_a_constant() -> None:
    s = Sketch()
    x = s.input("x", 2, 3, q=Q)
    w = s.permute(s.const("w", np.arange(6, dtype=np.int8).reshape(3, 2), Q), (1, 0), "w2")
    before = s.graph(s.op("add", [x, w], AddAttrs(), "y", Q))
    after = fold_constants(before)
    assert told(before) == "add(x, permute(const))"
    assert told(after) == "add(x)"
    assert after["w2"].data is not None and after["w2"].q == Q
    np.testing.assert_array_equal(after["w2"].data, [[0, 2, 4], [1, 3, 5]])
    assert_same_answers(before, after)


def test_scales_of_channels_follow_their_axis() -> None:
    s = Sketch()
    s.const("w", np.zeros((4, 3, 1, 1), np.int8), QParams((0.1, 0.2, 0.3, 0.4), (0,) * 4, 0))
    after = fold_constants(s.graph(s.permute("w", (2, 3, 1, 0), "w2")))
    assert after["w2"].q.axis == 3 and after["w2"].q.scale == (0.1, 0.2, 0.3, 0.4)


def test_constants_that_are_computed_with_stay() -> None:
    s = Sketch()
    x = s.input("x", 4, q=Q)
    before = s.graph(s.table(x, "y"))
    assert kinds(fold_constants(before)) == ["table"]


def test_what_is_computed_twice_is_computed_once() -> None:
    s = Sketch()
    x = s.input("x", 2, 3, q=Q)
    a, b = s.permute(x, (1, 0), "a"), s.permute(x, (1, 0), "b")
    before = s.graph(s.op("add", [a, b], AddAttrs(), "y", Q))
    after = merge_equal(before)
    assert kinds(after) == ["permute", "add"]
    assert after.ops[1].inputs == ("a", "a")
    assert_same_answers(before, after)


def test_other_attributes_or_another_quantisation_are_not_the_same() -> None:
    s = Sketch()
    x = s.input("x", 3, 3, q=Q)
    z = s.input("z", 3, 3)
    a, b = s.permute(x, (1, 0), "a"), s.permute(x, (0, 1), "b")
    c, d = s.quantize(z, "c", Q), s.quantize(z, "d", OTHER)
    before = s.graph(a, b, c, d)
    assert len(merge_equal(before).ops) == 4


def test_equal_operators_behind_equal_ones_are_merged_too() -> None:
    s = Sketch()
    x = s.input("x", 3, 2, q=Q)
    a, b = (s.reshape(s.permute(x, (1, 0), f"p{i}"), (6,), f"r{i}") for i in range(2))
    after = merge_equal(s.graph(a, b))
    assert kinds(after) == ["permute", "reshape"]
    assert after.outputs == ("r0", "r0")


# --- dequantize, clamps, quantize


def test_dequantize_sinks_below_a_reshape() -> None:
    s = Sketch()
    x = s.input("x", 2, 6, q=Q)
    before = s.graph(s.reshape(s.dequantize(x, "f"), (12,), "y"))
    after = sink_dequantize(before)
    assert told(before) == "reshape(dequantize(x))"
    assert told(after) == "dequantize(reshape(x))"
    assert_same_answers(before, after)


def test_dequantize_sinks_below_all_that_moves_values() -> None:
    s = Sketch()
    x = s.input("x", 2, 6, q=Q)
    y = s.permute(s.reshape(s.dequantize(x, "f"), (3, 4), "r"), (1, 0), "y")
    assert told(sink_dequantize(s.graph(y))) == "dequantize(permute(reshape(x)))"


def test_dequantize_stays_where_a_reshape_tears_a_channel_axis_apart() -> None:
    s = Sketch()
    q = QParams((0.1, 0.2, 0.3, 0.4), (0,) * 4, 0)
    w = s.const("w", np.ones((4, 3), np.int8), q)
    torn = s.graph(s.reshape(s.dequantize(w, "f"), (2, 6), "y"))
    assert told(sink_dequantize(torn)) == "reshape(dequantize(const))"
    s = Sketch()
    w = s.const("w", np.ones((4, 3), np.int8), q)
    whole = sink_dequantize(s.graph(s.reshape(s.dequantize(w, "f"), (4, 3, 1), "y")))
    assert told(whole) == "dequantize(reshape(const))"


def test_relu_rises_above_a_permute() -> None:
    s = Sketch()
    x = s.input("x", 2, 3)
    before = s.graph(s.clamp(s.permute(s.op("add", [x, x], AddAttrs(), "a"), (1, 0), "p"), 0, np.inf, "y"))
    after = hoist_clamps(before)
    assert told(before) == "clamp(permute(add(x, x)))"
    assert told(after) == "permute(clamp(add(x, x)))"


def test_relu_stays_below_a_permute_that_something_else_reads() -> None:
    s = Sketch()
    x = s.input("x", 2, 3)
    p = s.permute(s.op("add", [x, x], AddAttrs(), "a"), (1, 0), "p")
    before = s.graph(s.clamp(p, 0, np.inf, "y"), s.quantize(p, "q"))
    assert told(hoist_clamps(before)) == "clamp(permute(add(x, x)))"


def test_quantize_rises_above_a_permute_of_floats() -> None:
    s = Sketch()
    x = s.input("x", 2, 3)
    before = s.graph(s.quantize(s.permute(x, (1, 0), "p"), "y"))
    after = hoist_quantize(before)
    assert told(after) == "permute(quantize(x))"
    assert_same_answers(before, after)


def test_quantize_stays_where_the_floats_are_read_otherwise_or_in_two_ways() -> None:
    s = Sketch()
    x = s.input("x", 2, 3)
    p = s.permute(x, (1, 0), "p")
    a, b = s.quantize(p, "a", Q), s.quantize(p, "b", OTHER)
    assert told(hoist_quantize(s.graph(a, b))) == "quantize(permute(x))"
    assert told(hoist_quantize(s.graph(p, a))) == "permute(x)"


# --- tables


def test_two_tables_become_one() -> None:
    s = Sketch()
    before = s.graph(s.table(s.table(s.input("x", 2, 5, q=Q), "f"), "g"))
    after = compose_tables(before)
    assert told(before) == "table(table(x))"
    assert told(after) == "table(x)"
    assert_same_answers(before, after)


def test_a_table_that_something_else_reads_is_kept() -> None:
    s = Sketch()
    f = s.table(s.input("x", 2, 5, q=Q), "f")
    before = s.graph(s.table(f, "g"), f)
    after = compose_tables(before)
    assert kinds(after) == ["table", "table"]
    assert_same_answers(before, after)


def test_three_tables_become_one() -> None:
    s = Sketch()
    before = s.graph(s.table(s.table(s.table(s.input("x", 7, q=Q), "f"), "g"), "h"))
    after = compose_tables(before)
    assert told(after) == "table(x)"
    assert_same_answers(before, after)


# --- pads


@pytest.mark.parametrize("nchw", [False, True])
def test_zero_padding_goes_into_the_convolution(nchw: bool) -> None:
    s = Sketch()
    if nchw:
        x = s.input("x", 1, 3, 6, 5, q=Q)
        p = s.op("pad", [x], PadAttrs(((0, 0), (0, 0), (1, 2), (0, 3))), "p", Q)
        p = s.permute(p, TO_NHWC, "nhwc")
    else:
        x = s.input("x", 1, 6, 5, 3, q=Q)
        p = s.op("pad", [x], PadAttrs(((0, 0), (1, 2), (0, 3), (0, 0))), "p", Q)
    before = s.graph(s.conv2d(p, 4, 3, "y", padding=1))
    after = merge_pads(before)
    assert told(after) == ("conv2d(permute(x))" if nchw else "conv2d(x)")
    assert after.ops[-1].attrs.padding == (2, 3, 1, 4)
    assert_same_answers(before, after)


@pytest.mark.parametrize(
    "attrs",
    [
        PadAttrs(((0, 0), (1, 1), (1, 1), (0, 0)), value=1.0),
        PadAttrs(((0, 0), (1, 1), (0, 0), (0, 1))),
        PadAttrs(((1, 0), (1, 1), (0, 0), (0, 0))),
        PadAttrs(((0, 0), (1, -1), (0, 0), (0, 0))),
    ],
    ids=["of one", "of channels", "of the batch", "and cropping"],
)
def test_other_padding_stays(attrs: PadAttrs) -> None:
    s = Sketch()
    p = s.op("pad", [s.input("x", 1, 6, 5, 3, q=Q)], attrs, "p", Q)
    assert told(merge_pads(s.graph(s.conv2d(p, 4, 3, "y")))) == "conv2d(pad(x))"


def test_padding_that_something_else_reads_stays_for_that() -> None:
    s = Sketch()
    p = s.op("pad", [s.input("x", 1, 6, 5, 3, q=Q)], PadAttrs(((0, 0), (1, 1), (1, 1), (0, 0))), "p", Q)
    before = s.graph(s.conv2d(p, 4, 3, "y"), p)
    after = merge_pads(before)
    assert (told(after, 0), told(after, 1)) == ("conv2d(x)", "pad(x)")
    assert_same_answers(before, after)


# --- layout


def test_inverse_permutes_cancel() -> None:
    s = Sketch()
    x = s.conv2d(s.input("x", 1, 6, 6, 3, q=Q), 4, 3, "a")
    f = s.permute(s.table(s.permute(x, TO_NCHW, "p"), "f"), TO_NHWC, "p2")
    before = s.graph(s.conv2d(f, 2, 1, "y"))
    after = move_permutes(before)
    assert told(before) == "conv2d(permute(table(permute(conv2d(x)))))"
    assert told(after) == "conv2d(table(conv2d(x)))"
    assert_same_answers(before, after)


def test_permutes_sink_below_an_add_of_two_branches() -> None:
    s = Sketch()
    x = s.input("x", 1, 4, 5, 3, q=Q)
    a, b = (s.permute(s.conv2d(x, 2, 1, f"c{i}"), TO_NCHW, f"p{i}") for i in range(2))
    before = s.graph(s.op("add", [a, b], AddAttrs(), "y", Q))
    after = move_permutes(before)
    assert told(after) == "permute(add(conv2d(x), conv2d(x)))"
    assert_same_answers(before, after)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (4, 1), (3, 1, 1), (1, 3, 4, 5), (3, 4, 1)], ids=str)
@pytest.mark.parametrize("kind", ["add", "mul"])
def test_permutes_sink_below_an_operator_with_a_constant_of_any_rank(shape: tuple[int, ...], kind: str) -> None:
    s = Sketch()
    x = s.permute(s.input("x", 1, 4, 5, 3, q=Q), TO_NCHW, "p")
    c = s.const("c", s.rng.integers(-128, 128, shape).astype(np.int8), OTHER)
    before = s.graph(s.op(kind, [c, x], AddAttrs() if kind == "add" else MulAttrs(), "y", Q))
    after = move_permutes(before)
    assert told(after) == f"permute({kind}(x))"
    assert_same_answers(before, after)


def test_a_channel_gate_is_turned_without_a_copy() -> None:
    s = Sketch()
    x = s.permute(s.input("x", 1, 4, 5, 3, q=Q), TO_NCHW, "p")
    gate = s.reshape(s.input("gate", 1, 3, q=OTHER), (1, 3, 1, 1), "g")
    before = s.graph(s.op("mul", [x, gate], MulAttrs(), "y", Q))
    after = move_permutes(before)
    assert told(after) == "permute(mul(x, reshape(gate)))"
    assert_same_answers(before, after)


def test_permutes_do_not_sink_where_the_other_operand_would_need_one() -> None:
    s = Sketch()
    x = s.permute(s.input("x", 1, 4, 5, 3, q=Q), TO_NCHW, "p")
    before = s.graph(s.op("add", [x, s.input("z", 1, 3, 4, 5, q=Q)], AddAttrs(), "y", Q))
    assert told(move_permutes(before)) == "add(permute(x), z)"


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_concat_renumbers_its_axis(axis: int) -> None:
    s = Sketch()
    names = [s.permute(s.input(n, 2, 4, 5, 3, q=Q), TO_NCHW, f"{n}p") for n in "ab"]
    names.append(s.const("c", s.rng.integers(-128, 128, (2, 3, 4, 5)).astype(np.int8), Q))
    before = s.graph(s.op("concat", names, ConcatAttrs(axis), "y", Q))
    after = move_permutes(before)
    assert told(after) == "permute(concat(a, b))"
    assert_same_answers(before, after)


def test_pad_renumbers_its_dimensions() -> None:
    s = Sketch()
    x = s.permute(s.input("x", 2, 4, 5, 3, q=Q), TO_NCHW, "p")
    before = s.graph(s.op("pad", [x], PadAttrs(((0, 1), (2, 0), (1, -1), (0, 3)), 0.5), "y", Q))
    after = move_permutes(before)
    assert told(after) == "permute(pad(x))"
    assert_same_answers(before, after)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_permute_before_flatten_and_linear_goes_into_the_order_of_weights(batch: int) -> None:
    s = Sketch()
    x = s.permute(s.input("x", batch, 4, 5, 3, q=Q), TO_NCHW, "p")
    before = s.graph(s.linear(s.reshape(x, (batch, 60), "flat"), 7, "y"))
    after = move_permutes(before)
    assert told(after) == "linear(reshape(x))"
    assert [n.kind for n in after.notes] == ["layout"]
    assert_same_answers(before, after)


def test_a_permute_that_mixes_the_batch_is_not_folded_into_weights() -> None:
    s = Sketch()
    x = s.permute(s.input("x", 4, 5, 3, q=Q), (1, 0, 2), "p")
    before = s.graph(s.linear(s.reshape(x, (5, 12), "flat"), 7, "y"))
    after = move_permutes(before)
    assert told(after) == "linear(reshape(permute(x)))"
    assert_same_answers(before, after)


def test_a_permute_of_dimensions_of_one_is_a_view() -> None:
    s = Sketch()
    before = s.graph(s.permute(s.input("x", 1, 1, 1, 9, q=Q), TO_NCHW, "y"))
    after = move_permutes(before)
    assert told(after) == "reshape(x)"
    assert_same_answers(before, after)


def test_permutes_in_a_row_become_one() -> None:
    s = Sketch()
    x = s.permute(s.permute(s.input("x", 2, 3, 4, q=Q), (1, 2, 0), "a"), (1, 2, 0), "b")
    after = move_permutes(before := s.graph(x))
    assert told(after) == "permute(x)" and after.ops[0].attrs.permutation == (2, 0, 1)
    assert_same_answers(before, after)


def test_reshapes_in_a_row_become_one_and_those_to_the_same_shape_none() -> None:
    s = Sketch()
    y = s.reshape(s.reshape(s.input("x", 2, 6, q=Q), (3, 4), "a"), (12,), "b")
    z = s.reshape(s.reshape("x", (12,), "c"), (2, 6), "d")
    after = move_permutes(before := s.graph(y, z))
    assert (told(after, 0), told(after, 1)) == ("reshape(x)", "x")
    assert_same_answers(before, after)


def test_a_permute_that_is_left_is_told() -> None:
    s = Sketch()
    graph = note_copies(s.graph(s.permute(s.input("x", 2, 3, q=Q), (1, 0), "y")))
    assert [str(n) for n in graph.notes] == ["copy: 'y' (model.py:1): int8[2, 3] is copied to permuted order (1, 0)"]


def test_copies_alike_in_one_place_are_counted() -> None:
    s = Sketch()
    s.permute(s.input("x", 2, 3, q=Q), (1, 0), "y")
    s.permute(s.input("z", 2, 3, q=Q), (1, 0), "w")
    s.ops = [replace(op, source=Source("block")) for op in s.ops]
    (note,) = note_copies(s.graph("y", "w")).notes
    assert note.text == "int8[2, 3] is copied to permuted order (1, 0), 2 times"


def test_floats_are_permuted_as_integers_are() -> None:
    s = Sketch()
    x = s.permute(s.input("x", 1, 2, 3, 4), TO_NHWC, "p")
    after = move_permutes(before := s.graph(s.permute(x, TO_NCHW, "y")))
    assert after["x"].dtype is DType.FLOAT32 and told(after) == "x"
    assert_same_answers(before, after)
