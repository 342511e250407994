"""``capture``: from the user's module to a program that PT2E and the importer can take."""

from __future__ import annotations

import copy
import io
import warnings
from contextlib import redirect_stderr
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx import GraphModule, Node
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm
from torch.utils import _pytree as pytree

from rushlight.capturing.aten import passed_on, random_dropout
from rushlight.capturing.check import check_inputs, check_model, check_static, check_weight
from rushlight.capturing.constants import fold_constants
from rushlight.capturing.inplace import remove_in_place
from rushlight.capturing.norms import fold_batch_norms
from rushlight.capturing.notes import add_note, source_of
from rushlight.capturing.quiet import errors_only
from rushlight.capturing.state import reason, refuse_state
from rushlight.errors import RushlightError


def capture(model: nn.Module, example_inputs: tuple[Tensor, ...]) -> torch.export.ExportedProgram:
    """Exports an eval copy of ``model``, ready for PT2E; the model itself is left as it was.

    ``example_inputs`` are the positional arguments of ``forward`` (float32, integer or bool tensors; their shapes become the
    program's). Batch norms are folded where that is exact and else rewritten as layers; dropout, no-ops and in-place forms
    are gone; arithmetic on constants is done. Call ``.module(check_guards=False)`` on the result for ``prepare_pt2e``.
    Raises RushlightError for whatever cannot be exported faithfully.
    """
    check_model(model)
    inputs = check_inputs(example_inputs)
    twin = eval_copy(model)
    refuse_state(twin, inputs)
    program = export(twin, inputs)
    check_static(program)
    module = program.module(check_guards=False)
    assert isinstance(module, GraphModule)
    clean(module)
    return export(module, inputs)


def recapture(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """What ``capture`` makes of a model, from a program that was exported (and perhaps saved) already."""
    check_static(program)
    for kind, tensors in (("parameter", program.named_parameters()), ("buffer", program.named_buffers())):
        for name, value in tensors:
            check_weight(kind, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = copy.deepcopy(program).module(check_guards=False)
    assert isinstance(module, GraphModule)
    clean(module)
    return export(module, *zero_inputs(program))


def zero_inputs(program: torch.export.ExportedProgram) -> tuple[Any, Any]:
    """Positional and keyword inputs of the program's shapes and dtypes, all zero."""
    names = set(program.graph_signature.user_inputs)
    values = [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    leaves = [torch.zeros(v.shape, dtype=v.dtype) if isinstance(v, Tensor) else v for v in values]
    args, kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    return args, kwargs


def eval_copy(model: nn.Module) -> nn.Module:
    """A deep copy in eval mode that wants no gradients, with hook-based weight norms made plain weights."""
    memo: dict[int, Any] = {}
    for module in model.modules():
        for value in vars(module).values():
            if isinstance(value, Tensor) and not value.is_leaf:  # deepcopy refuses these
                memo[id(value)] = value.detach().clone()
    try:
        twin = copy.deepcopy(model, memo)
    except Exception as error:
        raise RushlightError(f"the model cannot be copied (copy.deepcopy): {reason(error)}") from None
    twin.eval().requires_grad_(False)
    for module in twin.modules():
        for key, hook in list(module._forward_pre_hooks.items()):
            if isinstance(hook, (WeightNorm, SpectralNorm)):
                hook.remove(module)
                del module._forward_pre_hooks[key]
    return twin


def export(
    module: nn.Module, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> torch.export.ExportedProgram:
    """``torch.export.export`` with its errors on one line and its chatter off."""
    try:  # where it fails it prints half of a graph
        with (
            warnings.catch_warnings(),
            torch.no_grad(),
            redirect_stderr(io.StringIO()),
            errors_only("torch.fx.experimental.symbolic_shapes"),
        ):
            warnings.simplefilter("ignore")
            return torch.export.export(module, inputs, kwargs, strict=False)
    except Exception as error:
        raise RushlightError(_why_export_failed(error)) from None


def _why_export_failed(error: Exception) -> str:
    text = reason(error)
    if "data-dependent" in text or "GuardOnDataDependent" in type(error).__name__:
        return (
            f"the model depends on data (an `if`, a loop or a number taken from a tensor's values), which a fixed program "
            f"cannot follow: {text}; use tensor operations, or take the decision outside of the model"
        )
    if "were assigned during export" in text:
        return f"the model keeps state in a plain attribute: {text}; take it as an input of forward and return its new value"
    return f"torch.export cannot capture the model: {text}"


def clean(module: GraphModule) -> None:
    """All rewrites of capture, in place, on the unlifted graph of an exported program."""
    _inline_blocks(module)
    for node in module.graph.nodes:
        if random_dropout(node):
            raise RushlightError(
                f"{node.target} {source_of(node)}: dropout is on though the model is in eval mode; "
                "use nn.Dropout, or F.dropout(x, p, self.training)"
            )
    remove_in_place(module)
    _remove_no_ops(module)
    fold_constants(module)
    fold_batch_norms(module)
    _forget_unused(module)
    module.graph.lint()
    module.recompile()


def _inline_blocks(module: GraphModule) -> None:
    """``with torch.no_grad():`` and autocast blocks become plain operators in the graph (in float32)."""
    autocast = torch.ops.higher_order.wrap_with_autocast
    blocks = (torch.ops.higher_order.wrap_with_set_grad_enabled, autocast)
    while found := [n for n in module.graph.nodes if n.op == "call_function" and n.target in blocks]:
        for node in found:
            at = next(i for i, a in enumerate(node.args) if isinstance(a, Node) and a.op == "get_attr")
            reader = node.args[at]
            body = getattr(module, str(reader.target))
            inlined = _inline(module, node, body, list(node.args[at + 1 :]))
            if node.target is autocast and inlined and True in node.args[:at]:
                text = "an autocast block is computed in float32, as if it were not there"
                add_note(inlined[0], "warning", text, source_of(inlined[0]))
            module.graph.erase_node(node)


def _inline(module: GraphModule, node: Node, body: GraphModule, inputs: list[Any]) -> list[Node]:
    """Copies ``body`` before ``node`` and redirects its readers; returns the operators copied."""
    values: dict[Node, Any] = {}
    placeholders = iter(inputs)
    for inner in body.graph.nodes:
        if inner.op == "placeholder":
            values[inner] = next(placeholders)
        elif inner.op == "output":
            results = inner.args[0]
        else:
            if inner.op == "get_attr":
                name = f"{node.name}_{inner.target}".replace(".", "_")
                setattr(module, name, getattr(body, str(inner.target)))
            with module.graph.inserting_before(node):
                values[inner] = module.graph.node_copy(inner, lambda n: values[n])
            if inner.op == "get_attr":
                values[inner].target = name
    for user in list(node.users):  # getitem nodes
        user.replace_all_uses_with(values[results[user.args[1]]])
        module.graph.erase_node(user)
    return [value for value in values.values() if value.op == "call_function" and value not in inputs]


def _remove_no_ops(module: GraphModule) -> None:
    for node in list(module.graph.nodes):
        if (source := passed_on(node)) is not None:
            node.replace_all_uses_with(source)
            module.graph.erase_node(node)
        elif str(node.target) == "aten._assert_tensor_metadata.default":
            module.graph.erase_node(node)


def _forget_unused(module: GraphModule) -> None:
    """Deletes parameters, buffers and submodules that no node reads (train-mode counters, folded norms, guards)."""
    used = {str(node.target) for node in module.graph.nodes if node.op in ("get_attr", "call_module")}
    for path, owner in list(module.named_modules()):
        for name in [*owner._parameters, *owner._buffers]:
            if f"{path}.{name}".lstrip(".") not in used:
                delattr(owner, name)
    module.delete_all_unused_submodules()
