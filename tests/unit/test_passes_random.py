"""Passes keep the meaning of random networks: the graph that is scheduled answers as the one before layout passes does."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as rl
from rushlight.frontend import import_program
from rushlight.graph import Graph
from rushlight.ops.base import Array
from rushlight.ops.interpreter import run_graph
from rushlight.passes import lower
from rushlight.passes.constants import fold_constants
from rushlight.passes.dequantize import hoist_clamps, hoist_quantize, sink_dequantize
from rushlight.passes.integer import to_integer
from tests.e2e.random_nets import build_random
from tests.unit.sketch import TO_NHWC


def integer_form(graph: Graph) -> Graph:
    """The integer graph in the model's own layout, every permute in its place."""
    for step in (fold_constants, sink_dequantize, fold_constants, hoist_clamps, hoist_quantize, to_integer):
        graph = step(graph)
    return graph


def nhwc(array: Array) -> Array:
    return np.ascontiguousarray(array.transpose(TO_NHWC)) if array.ndim == 4 else array


def snr_db(signal: Array, other: Array) -> float:
    noise = float(np.square(other.astype(np.float64) - signal).sum())
    return float("inf") if noise == 0 else float(10 * np.log10(np.square(signal.astype(np.float64)).sum() / noise))


@pytest.mark.filterwarnings("ignore")  # of dead outputs, and torch's of even kernels
@pytest.mark.parametrize("seed", range(24))
def test_lowered_graph_answers_as_before_and_as_pytorch_s_quantised_model(seed: int) -> None:
    net, batches = build_random(seed)
    program = rl.quantize(net, batches[0], batches)
    imported = import_program(program)
    plain, before, turned = lower(imported), integer_form(imported), lower(imported, layout="nhwc")
    copies = [sum(op.kind == "permute" for op in graph.ops) for graph in (before, plain)]
    assert copies[1] <= copies[0]
    assert copies[1] == 0 or any(n.kind == "copy" for n in plain.notes)
    simulated = program.module(check_guards=False)
    compared = 0
    for batch in batches[:2]:
        inputs = [x.numpy() for x in batch]
        answers = run_graph(plain, inputs)
        by_torch = simulated(*batch)
        by_torch = by_torch if isinstance(by_torch, tuple) else (by_torch,)
        for y, same, other, t in zip(
            answers, run_graph(before, inputs), run_graph(turned, [nhwc(x) for x in inputs]), by_torch, strict=True
        ):
            np.testing.assert_array_equal(y, same)
            np.testing.assert_array_equal(nhwc(y), other)
            assert snr_db(t.detach().numpy(), y) > 25
            compared += y.size
    assert compared > 0
