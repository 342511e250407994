"""Post-training quantisation by PT2E, annotated from the operators' own declarations."""

from rushlight.errors import torch_needed

with torch_needed():
    from rushlight.quantization import torchao_import  # noqa: F401  first: what follows imports torchao
    from rushlight.quantization.ptq import quantize, quantize_program
    from rushlight.quantization.quantizer import RushlightQuantizer

__all__ = ["RushlightQuantizer", "quantize", "quantize_program"]
