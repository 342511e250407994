"""Layers are called in the report and in the C as they are in the user's model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rushlight.graph import Graph, Source
from rushlight.ops.interpreter import run_graph
from rushlight.passes.names import name_layers
from tests.unit.sketch import TO_NCHW, Sketch, random_inputs


def from_modules(graph: Graph, *sources: tuple[str, str]) -> Graph:
    """The graph whose operators come from these modules and ATen operators."""
    ops = [replace(op, source=Source(m, "net.py", 7, t)) for op, (m, t) in zip(graph.ops, sources, strict=True)]
    return replace(graph, ops=tuple(ops))


def written(graph: Graph) -> list[str]:
    assert [op.name for op in graph.ops] == [op.outputs[0] for op in graph.ops]
    return [op.name for op in graph.ops]


def test_layers_are_called_after_their_module_and_functions_after_themselves() -> None:
    s = Sketch()
    q = s.quantize(s.input("x", 1, 2, 3, 4), "quantize_per_tensor")
    t = s.table(s.permute(s.table(q, "sigmoid_q"), TO_NCHW, "sigmoid_q_p"), "tanh_q")
    graph = s.graph(s.dequantize(s.table(t, "tanh_1_q"), "output"))
    tanh = "aten.tanh.default"
    before = from_modules(
        graph,
        ("", "q.dq"),
        ("body.0", "aten.sigmoid.default"),
        ("body.0", "aten.sigmoid.default"),
        ("", tanh),
        ("", tanh),
        ("", ""),
    )
    after = name_layers(before)
    assert written(after) == ["quantize", "body_0", "body_0_permute", "tanh", "tanh_2", "output"]
    inputs = random_inputs(before)
    for left, right in zip(run_graph(before, inputs), run_graph(after, inputs), strict=True):
        assert np.array_equal(left, right)


def test_a_graph_is_printed_one_line_an_operator() -> None:
    s = Sketch()
    graph = s.graph(s.table(s.quantize(s.input("x", 4), "q"), "y"))
    lines = str(graph).splitlines()
    assert lines[1] == "  input  x: float32[4]"
    assert lines[2].startswith("  q: int8[4] scale=0.05 zero_point=3 = quantize(x; )")
    assert lines[3].startswith("  y: int8[4] scale=0.05 zero_point=3 = table(q, ")
    assert lines[4:] == ["  output y"]


def test_several_functions_of_one_module_are_told_apart_and_no_name_is_taken_twice() -> None:
    s = Sketch()
    q = s.quantize(s.input("body_quantize", 4), "a")
    y = s.table(s.table(q, "b"), "body_relu")
    graph = s.graph(y)
    after = name_layers(
        from_modules(graph, ("body", "q.dq"), ("body", "aten.relu.default"), ("body", "aten.neg.default"))
    )
    assert after.inputs == ("body_quantize",)
    assert after.outputs == ("body_relu",)
    assert written(after) == ["body_quantize_2", "body_relu_2", "body_relu"]
