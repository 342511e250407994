"""The order of the passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from rushlight.graph import Graph
from rushlight.ops.verify import check_exact, verify
from rushlight.passes.constants import fold_constants, merge_equal
from rushlight.passes.dead_channels import remove_dead_channels
from rushlight.passes.dequantize import hoist_clamps, hoist_quantize, sink_dequantize
from rushlight.passes.edges import int8_edges, name_outputs, nhwc_edges, own_outputs
from rushlight.passes.integer import to_integer
from rushlight.passes.layout import move_permutes, note_copies
from rushlight.passes.names import name_layers
from rushlight.passes.pads import merge_pads
from rushlight.passes.tables import compose_tables

Pass = Callable[[Graph], Graph]


def lower(
    graph: Graph,
    *,
    io: Literal["float", "int8"] = "float",
    layout: Literal["nchw", "nhwc"] = "nchw",
    keep_dead_channels: bool = False,
) -> Graph:
    """The integer graph that is scheduled, from a float graph with quantize and dequantize operators.

    ``io``: element type of the program's inputs and outputs. ``layout``: order of rank-4 inputs and outputs.
    ``keep_dead_channels``: also those that can only have one value.
    Raises UnsupportedError with a reason for each operator that has no exact integer form.
    """
    passes: list[Pass] = [fold_constants, sink_dequantize, fold_constants, hoist_clamps, hoist_quantize, to_integer]
    passes += [int8_edges] if io == "int8" else []
    passes += [nhwc_edges] if layout == "nhwc" else []
    passes += [merge_equal, merge_pads, merge_equal, move_permutes, compose_tables, merge_equal]
    passes += [] if keep_dead_channels else [remove_dead_channels]
    passes += [own_outputs, note_copies]
    names = verify(graph, "import").outputs
    for step in passes:
        graph = verify(step(graph), step.__name__)
    graph = verify(name_outputs(graph, names, layout), "name_outputs")
    graph = verify(name_layers(graph), "name_layers")
    return check_exact(graph)
