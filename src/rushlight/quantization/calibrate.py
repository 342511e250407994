"""Looking at calibration data before and while it runs through the prepared model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sized
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.utils import _pytree as pytree

from rushlight.capturing.check import check_inputs, describe, short
from rushlight.capturing.state import reason
from rushlight.errors import RushlightError, RushlightWarning
from rushlight.quantization.observers import ActivationObserver, WeightObserver

Progress = Callable[[int, int], None]
#: A calibration range this many times wider (or narrower) than the example's is worth a warning.
_SUSPICIOUS = 20.0


def calibrate(
    prepared: GraphModule,
    example_inputs: tuple[Tensor, ...],
    batches: Iterable[tuple[Tensor, ...]],
    progress: Progress | None = None,
) -> None:
    """Runs ``batches`` through ``prepared``; its buffers other than observers' are given back as they were.

    A batch may hold a multiple of the example's first dimension; it is then run in parts. ``progress(done, total)`` is called
    after each batch; ``total`` is 0 if ``batches`` has no length. Raises RushlightError for empty, ill-fitting or non-finite
    data and for tensors that calibration gave no range.
    """
    if isinstance(batches, Tensor):
        raise RushlightError("calibration_batches is one tensor; pass a list of tuples, one tuple of inputs a batch")
    if not isinstance(batches, Iterable):
        raise RushlightError(
            f"calibration_batches is a {type(batches).__name__}; pass a list of tuples, one tuple of inputs a batch"
        )
    total = len(batches) if isinstance(batches, Sized) else 0
    state = _state(prepared)
    kept = {name: value.clone() for name, value in state.items()}
    ranges = _Ranges(example_inputs)
    done = 0
    with torch.no_grad():
        for batch in batches:
            for part in _parts(batch, example_inputs, done):
                ranges.add(part, _run(prepared, part, done))
            done += 1
            if progress is not None:
                progress(done, total)
        for name, value in state.items():
            value.copy_(kept[name])
    if done == 0:
        raise RushlightError(
            "calibration_batches is empty; give at least one batch, better 50 or more examples of real input"
        )
    _refuse_problems(prepared)
    ranges.warn()


def _run(prepared: GraphModule, inputs: tuple[Tensor, ...], index: int) -> list[Any]:
    try:
        return pytree.tree_leaves(prepared(*inputs))
    except Exception as error:
        raise RushlightError(f"calibration batch {index}: the model fails on it: {reason(error)}") from None


def _state(prepared: GraphModule) -> dict[str, Tensor]:
    observers = tuple(
        f"{n}." for n, m in prepared.named_modules() if isinstance(m, torch.nn.Module) and n and not n.isdigit()
    )
    observed = tuple(n for n in observers if n.startswith("activation_post_process"))
    return {name: value for name, value in prepared.named_buffers() if not name.startswith(observed or ("\0",))}


def _parts(batch: Any, example: tuple[Tensor, ...], index: int) -> list[tuple[Tensor, ...]]:
    """The batch in parts of the example's shapes."""
    what = f"calibration batch {index}"
    inputs = check_inputs(batch, what)
    if len(inputs) != len(example):
        hint = "; leave labels out" if len(inputs) == len(example) + 1 else ""
        raise RushlightError(f"{what} has {len(inputs)} inputs, the model takes {len(example)}{hint}")
    counts = set()
    for number, (given, wanted) in enumerate(zip(inputs, example, strict=True)):
        _check_fit(f"{what}, input {number}", given, wanted)
        counts.add(given.shape[0] // wanted.shape[0] if wanted.dim() and wanted.shape[0] else 1)
    if len(counts) != 1:
        shapes = ", ".join(describe(x) for x in inputs)
        raise RushlightError(f"{what}: the inputs hold different numbers of examples ({shapes})")
    count = counts.pop()
    if count == 1:
        return [inputs]
    return list(zip(*(x.chunk(count) for x in inputs), strict=True))


def _check_fit(what: str, given: Tensor, wanted: Tensor) -> None:
    if given.dtype != wanted.dtype:
        raise RushlightError(
            f"{what} is {short(given.dtype)}, example_inputs has {short(wanted.dtype)}; convert it the way the model's user does"
        )
    fits = given.shape[1:] == wanted.shape[1:] and given.dim() == wanted.dim()
    multiple = (
        given.dim() > 0
        and wanted.dim() > 0
        and wanted.shape[0] > 0
        and given.shape[0] > 0
        and given.shape[0] % wanted.shape[0] == 0
    )
    if not (given.shape == wanted.shape or (fits and multiple)):
        hint = ""
        if sorted(given.shape[1:]) == sorted(wanted.shape[1:]) and given.dim() > 2:
            hint = "; it looks like another layout (NHWC?): permute it to the model's"
        if given.shape == wanted.shape[1:]:
            hint = "; its first dimension is missing: x.unsqueeze(0) adds it"
        raise RushlightError(f"{what} is {list(given.shape)}, example_inputs has {list(wanted.shape)}{hint}")
    if given.is_floating_point() and not torch.isfinite(given).all():
        bad = int((~torch.isfinite(given)).sum())
        raise RushlightError(f"{what} holds NaN or infinity ({bad} of {given.numel()} values); clean the data")


def _refuse_problems(prepared: GraphModule) -> None:
    problems = [
        problem
        for module in prepared.modules()
        if isinstance(module, (ActivationObserver, WeightObserver)) and (problem := module.problem()) is not None
    ]
    if problems:
        more = f" (and {len(problems) - 1} more tensors)" if len(problems) > 1 else ""
        raise RushlightError(problems[0] + more)


class _Ranges:
    """Smallest and largest value of each input and output, for warnings."""

    def __init__(self, example: tuple[Tensor, ...]) -> None:
        self.example = example
        self.inputs: list[tuple[float, float]] = []
        self.outputs: list[tuple[float, float]] = []
        self.seen: list[int] = []  # values of each output

    def add(self, inputs: tuple[Tensor, ...], outputs: list[Any]) -> None:
        results = [y for y in outputs if isinstance(y, Tensor)]
        self.inputs = _widened(self.inputs, list(inputs))
        self.outputs = _widened(self.outputs, results)
        self.seen = [a + b for a, b in zip(self.seen or [0] * len(results), (y.numel() for y in results), strict=True)]

    def warn(self) -> None:
        for index, (x, (low, high)) in enumerate(zip(self.example, self.inputs, strict=True)):
            if not x.is_floating_point() or not x.numel():
                continue
            example, given = float(x.abs().max()), max(abs(low), abs(high))
            if low == high and x.numel() > 1:
                _say(f"calibration data of input {index} is {low:.4g} throughout: is it real input?")
            elif example > 0 and not example / _SUSPICIOUS <= given <= example * _SUSPICIOUS:
                _say(
                    f"calibration data of input {index} lies in {low:.4g}..{high:.4g}, example_inputs in "
                    f"{float(x.min()):.4g}..{float(x.max()):.4g}: is it scaled as the model expects (0..255 or 0..1)?"
                )
        for index, (low, high) in enumerate(self.outputs):
            if low == high and self.seen[index] > 1:
                _say(
                    f"output {index} is {low:.4g} for all calibration data: "
                    "it depends on no input, or the layers before it are dead"
                )


def _widened(ranges: list[tuple[float, float]], values: list[Tensor]) -> list[tuple[float, float]]:
    new = [(float(v.min()), float(v.max())) if v.numel() else (0.0, 0.0) for v in values]
    if not ranges:
        return new
    return [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, new, strict=True)]


def _say(text: str) -> None:
    warnings.warn(text, RushlightWarning, stacklevel=6)  # the call of rushlight.quantize
