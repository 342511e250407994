"""Programs that did not come from ``rushlight.capture`` get its rewrites here."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from rushlight.capturing.aten import target_name, writes
from rushlight.capturing.export import clean, export, zero_inputs
from rushlight.capturing.notes import source_of
from rushlight.errors import UnsupportedError


def tidy(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program without in-place operators, batch norms and no_grad blocks; itself where there are none.

    UnsupportedError for a batch norm that was still there when the program was quantised: it has no quantisation.
    """
    _refuse_late_norms(program.graph)
    untidy = any(
        writes(node) or target_name(node) in ("batch_norm.default", "wrap_with_set_grad_enabled", "wrap_with_autocast")
        for node in program.graph.nodes
    )
    if not untidy:
        return program
    module = program.module(check_guards=False)
    assert isinstance(module, GraphModule)
    clean(module)
    return export(module, *zero_inputs(program))


def _refuse_late_norms(graph: torch.fx.Graph) -> None:
    if not any(target_name(node).startswith("quantized_decomposed.") for node in graph.nodes):
        return
    norms = [source_of(node) for node in graph.nodes if target_name(node) == "batch_norm.default"]
    if norms:
        why = "the norm was not folded before the model was quantised; start from rl.capture instead of torch.export.export"
        raise UnsupportedError([f"aten.batch_norm.default {source}: {why}" for source in norms])
