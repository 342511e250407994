"""The integer reference of a compiled model as an ``nn.Module``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from rushlight.api import CompiledModel


class ReferenceModule(torch.nn.Module):
    """Takes and gives tensors (float32, or int8 for an int8 program); no gradient flows through it."""

    def __init__(self, compiled: CompiledModel) -> None:
        super().__init__()
        self._compiled = compiled

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        outputs = self._compiled.reference(*(x.detach().cpu().numpy() for x in inputs))
        if isinstance(outputs, tuple):
            return tuple(torch.from_numpy(y) for y in outputs)
        return torch.from_numpy(outputs)
