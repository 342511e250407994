"""Post-training quantisation by PT2E, annotated from the operators' own declarations."""

from rushlight.quantize import torchao_import  # noqa: F401  first: what follows imports torchao
from rushlight.quantize.ptq import quantize
from rushlight.quantize.quantizer import RushlightQuantizer

__all__ = ["RushlightQuantizer", "quantize"]
