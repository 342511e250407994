"""Rushlight: from a PyTorch model to its answers on an Arm Cortex-M.

    quantized = rushlight.quantize(model, example_inputs, calibration_batches)
    compiled = rushlight.compile(quantized, target="cortex-m55")

Importing this package does not import torch; the functions that need it do when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rushlight.errors import RushlightError, RushlightWarning, UnsupportedError

if TYPE_CHECKING:
    from rushlight.api import CompiledModel, compile
    from rushlight.capturing import capture
    from rushlight.quantization import RushlightQuantizer, quantize

__version__ = "0.1.0"
__all__ = [
    "CompiledModel",
    "RushlightError",
    "RushlightQuantizer",
    "RushlightWarning",
    "UnsupportedError",
    "__version__",
    "capture",
    "compile",
    "quantize",
]

#: Public name → module that holds it; loaded when first asked for.
_LAZY = {
    "CompiledModel": "rushlight.api",
    "compile": "rushlight.api",
    "capture": "rushlight.capturing",
    "RushlightQuantizer": "rushlight.quantization",
    "quantize": "rushlight.quantization",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'rushlight' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
