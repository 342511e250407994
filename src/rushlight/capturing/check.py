"""What is looked at before export: the model, its weights and the example inputs. One line for each thing that is wrong."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from rushlight.capturing.notes import source_of
from rushlight.errors import RushlightError
from rushlight.graph import Source

_INPUT_TYPES = (torch.float32, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def short(dtype: torch.dtype) -> str:
    """``float32`` rather than ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


def describe(value: Any) -> str:
    """``float32[1, 3, 8, 8]``, or the type's name."""
    return f"{short(value.dtype)}{list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__


def check_inputs(inputs: Any, what: str = "example_inputs") -> tuple[Tensor, ...]:
    """Refuses what is not a tuple of float32, integer or bool CPU tensors."""
    if isinstance(inputs, Tensor):
        raise RushlightError(f"{what} is one tensor, not a tuple of tensors; write ({what},) with the comma")
    if not isinstance(inputs, (tuple, list)):
        raise RushlightError(
            f"{what} is a {type(inputs).__name__}, not a tuple of tensors; pass the inputs of forward as a tuple"
        )
    for index, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            nested = isinstance(value, (tuple, list, dict))
            hint = "let forward take each as an argument of its own" if nested else "convert it: torch.as_tensor(x)"
            raise RushlightError(f"{what}[{index}] is a {type(value).__name__}, not a tensor; {hint}")
        if value.dtype not in _INPUT_TYPES:
            raise RushlightError(f"{what}[{index}] is {short(value.dtype)}; use float32: x.float()")
        if value.device.type != "cpu":
            raise RushlightError(f"{what}[{index}] is on {value.device}; move it with .cpu()")
        if not value.numel():
            raise RushlightError(f"{what}[{index}] is empty: {describe(value)}; give every dimension at least size 1")
    return tuple(inputs)


def check_model(model: Any) -> None:
    """Refuses what is not an eager, initialised, finite float32 module on the CPU."""
    if isinstance(model, torch.export.ExportedProgram):
        raise RushlightError(
            "this is an ExportedProgram, not an nn.Module: it is captured already; pass it to rushlight.compile, "
            "or pass the nn.Module it was exported from"
        )
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise RushlightError(
            "this is a TorchScript module, which torch.export does not take; pass the nn.Module it was made from"
        )
    if isinstance(model, torch.fx.GraphModule) and any(
        n.op == "placeholder" and "val" in n.meta for n in model.graph.nodes
    ):
        raise RushlightError(
            "this is the module of an ExportedProgram: it is captured already; pass the nn.Module it was exported from"
        )
    if not isinstance(model, nn.Module):
        raise RushlightError(f"the model is a {type(model).__name__}, not an nn.Module")
    for name, module in model.named_modules():
        if isinstance(module, (torch.jit.ScriptModule,)):
            raise RushlightError(
                f"'{name}' is a TorchScript module, which torch.export does not take; use the nn.Module"
            )
    for kind, tensors in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        for name, value in tensors:
            check_weight(kind, name, value)


def check_weight(kind: str, name: str, value: Tensor) -> None:
    if is_lazy(value):
        raise RushlightError(
            f"{kind} '{name}' is not initialised (a lazy module); run the model once on real input first"
        )
    if value.device.type != "cpu":
        raise RushlightError(f"{kind} '{name}' is on {value.device}; move the model with .cpu()")
    if value.is_complex() or (value.is_floating_point() and value.dtype != torch.float32):
        raise RushlightError(f"{kind} '{name}' is {short(value.dtype)}; only float32 models are taken: model.float()")
    if not value.is_floating_point():
        return
    if torch.isnan(value).any():
        raise RushlightError(
            f"{kind} '{name}' holds NaN ({int(torch.isnan(value).sum())} of {value.numel()}); train again or load other weights"
        )
    if kind == "parameter" and torch.isinf(value).any():
        raise RushlightError(
            f"{kind} '{name}' holds infinity ({int(torch.isinf(value).sum())} of {value.numel()}); "
            "train again or load other weights"
        )


def check_static(program: torch.export.ExportedProgram) -> None:
    """Refuses programs whose shapes or values are only known at run time."""
    for node in program.graph.nodes:
        value = node.meta.get("val")
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                raise RushlightError(
                    f"{node.target} {source_of(node)}: takes a number out of a tensor or a shape (.item(), a dynamic size), "
                    "so the program depends on data; use tensor operations, and fixed shapes"
                )
            if isinstance(part, Tensor) and any(isinstance(d, torch.SymInt) for d in part.shape):
                raise RushlightError(_dynamic(node, part, source_of(node)))


def _dynamic(node: torch.fx.Node, value: Tensor, source: Source) -> str:
    shape = [d if isinstance(d, int) else str(d) for d in value.shape]
    if node.op == "placeholder":
        return f"input '{node.name}' has a dynamic shape {shape}; export with fixed shapes (no dynamic_shapes)"
    return (
        f"{node.target} {source}: its shape {shape} depends on data or on a dynamic input; "
        "use fixed shapes (no boolean-mask indexing or nonzero, no dynamic_shapes)"
    )
