"""Imports torchao before anything else does, without its remarks.

On import it warns of CUDA extensions that it ships and that a CPU build of PyTorch cannot load, and of its own use of a PyTorch
function that will go. Neither touches PT2E, and a user can do nothing about them; errors still come through.
"""

from __future__ import annotations

from rushlight.capturing.quiet import errors_only

with errors_only("torchao", "torch.utils._pytree"):
    import torchao.quantization.pt2e  # noqa: F401
