"""``quantize``: post-training quantisation in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from rushlight.capturing import capture, recapture
from rushlight.capturing.aten import target_name
from rushlight.capturing.check import check_inputs
from rushlight.capturing.export import export, zero_inputs
from rushlight.errors import RushlightError
from rushlight.quantization.calibrate import Progress, calibrate
from rushlight.quantization.quantizer import RushlightQuantizer


def quantize(
    model: nn.Module,
    example_inputs: tuple[Tensor, ...],
    calibration_batches: Iterable[tuple[Tensor, ...]],
    progress: Progress | None = None,
) -> torch.export.ExportedProgram:
    """Captures, calibrates and quantises ``model``, which is left as it was.

    The same as ``capture``, ``prepare_pt2e(program.module(check_guards=False), RushlightQuantizer())``, calibration,
    ``convert_pt2e`` and export by hand. ``calibration_batches`` are tuples like ``example_inputs``, or holding a multiple of
    its first dimension. ``progress(done, total)`` is called after each batch. The result has float inputs and outputs with
    quantize/dequantize nodes inside. Raises RushlightError for models that cannot be captured and data that does not fit.
    """
    program = capture(model, example_inputs)
    return _quantize(program, check_inputs(example_inputs), calibration_batches, progress)


def quantize_program(
    program: torch.export.ExportedProgram,
    calibration_batches: Iterable[tuple[Tensor, ...]],
    progress: Progress | None = None,
) -> torch.export.ExportedProgram:
    """``quantize`` for a float model that was exported already, as from a ``.pt2`` file."""
    if any(target_name(node).startswith("quantized_decomposed.") for node in program.graph.nodes):
        raise RushlightError("the program is quantised already: compile it as it is, without calibration data")
    args, kwargs = zero_inputs(program)
    if kwargs:
        names = ", ".join(kwargs)
        raise RushlightError(
            f"the program takes keyword inputs ({names}); export the model with positional inputs alone"
        )
    captured = recapture(program)
    return _quantize(captured, _examples(program, check_inputs(args)), calibration_batches, progress)


def _examples(program: torch.export.ExportedProgram, zeros: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The inputs that the program was exported with, if it still has them: they show how the model expects its data."""
    kept = pytree.tree_leaves((program.example_inputs or ((), {}))[0])
    fit = len(kept) == len(zeros) and all(
        isinstance(x, Tensor) and (x.shape, x.dtype) == (zero.shape, zero.dtype)
        for x, zero in zip(kept, zeros, strict=True)
    )
    return tuple(kept) if fit else zeros


def _quantize(
    program: torch.export.ExportedProgram,
    inputs: tuple[Tensor, ...],
    calibration_batches: Iterable[tuple[Tensor, ...]],
    progress: Progress | None,
) -> torch.export.ExportedProgram:
    """PT2E on a captured program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = prepare_pt2e(program.module(check_guards=False), RushlightQuantizer())
    calibrate(prepared, inputs, calibration_batches, progress)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = convert_pt2e(prepared)
    return export(converted, inputs)
