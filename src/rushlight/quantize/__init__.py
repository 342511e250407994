"""Post-training quantisation by PT2E, annotated from the operators' own declarations."""

import logging

# torchao tells of every CUDA library it cannot load, which is none of the user's concern here.
_level = logging.root.manager.disable
logging.disable(logging.WARNING)
try:
    from rushlight.quantize.ptq import quantize
    from rushlight.quantize.quantizer import RushlightQuantizer
finally:
    logging.disable(_level)

__all__ = ["RushlightQuantizer", "quantize"]
