"""Imports torchao before anything else does, without its remarks.

On import it warns of CUDA extensions that it ships and that a CPU build of PyTorch cannot load, and of its own use of a PyTorch
function that will go. Neither touches PT2E, and a user can do nothing about them; errors still come through.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch  # sets up its loggers, whose levels are changed below  # noqa: F401


@contextmanager
def _errors_only(*names: str) -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


with _errors_only("torchao", "torch.utils._pytree"):
    import torchao.quantization.pt2e  # noqa: F401
