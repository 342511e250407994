"""Programs that did not come from ``rushlight.capture`` get its rewrites here."""

from __future__ import annotations

import torch
from torch.fx import GraphModule

from rushlight.capturing.aten import target_name, writes
from rushlight.capturing.export import clean, export, zero_inputs


def tidy(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program without in-place operators, batch norms and no_grad blocks; itself where there are none."""
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
