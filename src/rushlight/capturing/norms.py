"""Batch norms: folded into the layer before where that is exact, else rewritten as a layer of their own.

torchao folds by itself inside ``prepare_pt2e``, wrongly where a convolution has other users; after this pass it finds none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from rushlight.capturing.aten import arguments, target_name
from rushlight.capturing.constants import add_constant, constant_of
from rushlight.capturing.notes import add_note, source_of
from rushlight.errors import RushlightError
from rushlight.graph import Source


@dataclass(frozen=True)
class _Layer:
    """A layer that can take in a norm: rank of its output, and whether its weights are input-channels first."""

    rank: int
    transposed: bool = False


_LAYERS = {
    "linear.default": _Layer(2),
    **{f"conv{d}d.{overload}": _Layer(d + 2) for d in (1, 2, 3) for overload in ("default", "padding")},
    "conv_transpose1d.default": _Layer(3, transposed=True),
    "conv_transpose2d.input": _Layer(4, transposed=True),
    "conv_transpose3d.input": _Layer(5, transposed=True),
}


def _rank(node: Any) -> int:
    return int(node.meta["val"].dim())


def _parameter(module: GraphModule, args: dict[str, Any], name: str, where: Source) -> torch.Tensor | None:
    value = constant_of(args[name], module)
    if value is None and args[name] is not None:
        raise RushlightError(f"batch_norm {where}: its {name} is computed from the input; only constants are supported")
    return None if value is None else value.double()


def _affine(module: GraphModule, norm: Node, where: Source) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm as ``a * x + b`` for each channel, in float64."""
    args = arguments(norm)
    if args["training"] or args["running_mean"] is None:
        raise RushlightError(
            f"batch_norm {where}: it normalises with each batch's own statistics, which a chip does not have; "
            "keep track_running_stats=True and call the norm in eval mode"
        )
    mean, var = _parameter(module, args, "running_mean", where), _parameter(module, args, "running_var", where)
    assert mean is not None
    assert var is not None
    gamma, beta = _parameter(module, args, "weight", where), _parameter(module, args, "bias", where)
    gamma = torch.ones_like(mean) if gamma is None else gamma
    beta = torch.zeros_like(mean) if beta is None else beta
    a = gamma / torch.sqrt(var + args["eps"])
    b = beta - mean * a
    if not (torch.isfinite(a).all() and torch.isfinite(b).all()):
        raise RushlightError(
            f"batch_norm {where}: running_var or running_mean gives NaN or infinity; check the training run"
        )
    return a, b


def _users_of_weight(module: GraphModule, weight: torch.Tensor) -> int:
    """How many operators read this very tensor, under whatever name."""
    count = 0
    for node in module.graph.nodes:
        value = constant_of(node, module)
        if value is not None and value.data_ptr() == weight.data_ptr() and value.numel():
            count += len(node.users)
    return count


def _why_not(module: GraphModule, norm: Node) -> str | None:
    """Why the norm cannot be folded into what comes before it; None if it can."""
    layer = arguments(norm)["input"]
    kind = _LAYERS.get(target_name(layer))
    if kind is None:
        return "what comes before it is no convolution or linear layer"
    if len(layer.users) != 1:
        return f"the output of {source_of(layer)} is also used elsewhere"
    if _rank(layer) != kind.rank:
        return f"its channels are not those of {source_of(layer)}"
    weight = constant_of(arguments(layer)["weight"], module)
    if weight is None:
        return f"the weights of {source_of(layer)} are computed from the input"
    if _users_of_weight(module, weight) != 1:
        return f"the weights of {source_of(layer)} are shared with another layer"
    bias = arguments(layer)["bias"]
    if bias is not None and constant_of(bias, module) is None:
        return f"the bias of {source_of(layer)} is computed from the input"
    return None


def _scaled(weight: torch.Tensor, a: torch.Tensor, kind: _Layer, groups: int) -> torch.Tensor:
    weight = weight.double()
    if not kind.transposed:
        return weight * a.reshape(-1, *[1] * (weight.dim() - 1))
    grouped = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    return (grouped * a.reshape(groups, 1, weight.shape[1], *[1] * (weight.dim() - 2))).reshape(weight.shape)


def _fold(module: GraphModule, norm: Node, a: torch.Tensor, b: torch.Tensor) -> None:
    layer = arguments(norm)["input"]
    args = arguments(layer)
    weight, bias = constant_of(args["weight"], module), constant_of(args["bias"], module)
    assert weight is not None
    new_weight = _scaled(weight, a, _LAYERS[target_name(layer)], args.get("groups", 1)).to(torch.float32)
    new_bias = (b if bias is None else bias.double() * a + b).to(torch.float32)
    args["weight"] = add_constant(module, layer, new_weight, f"{layer.name}_weight")
    args["bias"] = add_constant(module, layer, new_bias, f"{layer.name}_bias")
    layer.args, layer.kwargs = tuple(args.values()), {}
    norm.replace_all_uses_with(layer)
    module.graph.erase_node(norm)


def _stand_alone(module: GraphModule, norm: Node, a: torch.Tensor, b: torch.Tensor, why: str, where: Source) -> None:
    x, rank, channels = arguments(norm)["input"], _rank(norm), a.numel()
    aten, graph = torch.ops.aten, module.graph

    def call(target: Any, args: tuple[Any, ...], name: str) -> Node:
        with graph.inserting_before(norm):
            node = graph.create_node("call_function", target, args, name=name)
        node.meta = dict(norm.meta)
        return node

    if rank == 4:
        weight = add_constant(module, norm, a.float().reshape(channels, 1, 1, 1), f"{norm.name}_weight")
        bias = add_constant(module, norm, b.float(), f"{norm.name}_bias")
        args = (x, weight, bias, [1, 1], [0, 0], [1, 1], channels)
        new, form = call(aten.conv2d.default, args, norm.name), "a depthwise 1x1 convolution"
    else:
        shape = (channels, *[1] * (rank - 2))
        scale = add_constant(module, norm, a.float().reshape(shape), f"{norm.name}_scale")
        offset = add_constant(module, norm, b.float().reshape(shape), f"{norm.name}_offset")
        scaled = call(aten.mul.Tensor, (x, scale), f"{norm.name}_mul")
        new, form = call(aten.add.Tensor, (scaled, offset), norm.name), "a multiplication and an addition"
    add_note(new, "fold", f"batch norm is not folded, since {why}; it runs as {form}", where)
    norm.replace_all_uses_with(new)
    graph.erase_node(norm)


def fold_batch_norms(module: GraphModule) -> None:
    """Takes every batch norm out of the graph; one that cannot be folded leaves a note.

    ``bn(conv(x))`` → ``conv(x)`` with new weights; ``bn(relu(x))`` → ``conv2d(relu(x))``, depthwise 1x1.
    """
    for norm in [n for n in module.graph.nodes if target_name(n) == "batch_norm.default"]:
        where = source_of(norm)
        a, b = _affine(module, norm, where)
        why = _why_not(module, norm)
        if why is None:
            _fold(module, norm, a, b)
        else:
            _stand_alone(module, norm, a, b, why, where)
    module.graph.eliminate_dead_code()
