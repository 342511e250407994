"""Does the model remember earlier inputs? torch.export freezes such state in silence; this finds it by running the model."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from rushlight.capturing.notes import is_library
from rushlight.errors import RushlightError


def reason(error: BaseException) -> str:
    """An exception on one line: the first line of its text, and where in the user's code it happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename)]
    where = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    return f"{text[:300]}{where}"


def _run(model: nn.Module, inputs: tuple[Tensor, ...]) -> list[Any]:
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return pytree.tree_leaves(model(*[x.clone() for x in inputs]))


def _other(x: Tensor) -> Tensor:
    """Another input of the same kind: reversed, and smaller."""
    reversed_ = x.flip(tuple(range(x.dim()))) if x.dim() else x
    return reversed_ * 0.75 + 0.01 if x.is_floating_point() else reversed_


def _same(left: list[Any], right: list[Any]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
        return type(a) is type(b) and (a == b if isinstance(a, (int, float, str, bool)) else True)

    return len(left) == len(right) and all(map(equal, left, right))


def _plain(model: nn.Module) -> dict[str, Any]:
    """Attributes of all modules that are neither parameter, buffer nor module: what torch.export would freeze."""
    found: dict[str, Any] = {}
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if name.startswith("_") and name in nn.Module().__dict__:
                continue
            leaves = pytree.tree_leaves(value)
            if all(isinstance(leaf, (Tensor, int, float, str, type(None))) for leaf in leaves):
                found[f"{path}.{name}".lstrip(".")] = [v.clone() if isinstance(v, Tensor) else v for v in leaves]
    return found


def refuse_state(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """Runs ``model`` (a copy that may be changed) a few times; refuses it if an answer depends on the inputs before.

    Raises RushlightError that names the attributes which changed. Buffers are given back as they were.
    """
    buffers = {name: value.clone() for name, value in model.named_buffers()}
    before = _plain(model)
    try:
        first = _run(model, inputs)
    except Exception as error:
        raise RushlightError(f"the model's forward fails on example_inputs: {reason(error)}") from None
    changed = _changed(before, _plain(model))
    _restore(model, buffers)
    before = _plain(model)
    second = _run(model, inputs)
    _restore(model, buffers)
    _quietly(lambda: _run(model, tuple(map(_other, inputs))))
    changed += _changed(before, _plain(model))
    _restore(model, buffers)
    third = _run(model, inputs)
    _restore(model, buffers)
    if not (_same(first, second) and _same(first, third)):
        names = ", ".join(f"'{name}'" for name in dict.fromkeys(changed)) or "something outside of its parameters"
        raise RushlightError(
            f"the model keeps state from run to run in {names} (a plain attribute), which export would freeze in silence; "
            "take it as an input of forward and return its new value"
        )


def _restore(model: nn.Module, buffers: dict[str, Tensor]) -> None:
    """Buffers' values as they were, in the same tensors; those of ``persistent=False`` too."""
    with torch.no_grad():
        for name, value in model.named_buffers():
            if name in buffers and value.shape == buffers[name].shape:
                value.copy_(buffers[name])


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name, value in after.items() if name not in before or not _same(before[name], value)]


def _quietly(call: Callable[[], Any]) -> None:
    """Runs a probe whose failure says nothing: the other input may be outside of what the model takes."""
    try:
        call()
    except Exception:
        return
