"""Arithmetic on constants alone (weight norm, ``w.t()``, position tables) is done once, at capture."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from rushlight.capturing.aten import aliased, writes


def attribute(module: torch.nn.Module, path: str) -> Any:
    """The attribute at a dotted path."""
    for name in path.split("."):
        module = getattr(module, name)
    return module


def constant_of(node: Any, module: GraphModule) -> torch.Tensor | None:
    """The tensor that a ``get_attr`` node stands for."""
    if not isinstance(node, Node) or node.op != "get_attr":
        return None
    value = attribute(module, str(node.target))
    return value if isinstance(value, torch.Tensor) else None


def add_constant(module: GraphModule, before: Node, value: torch.Tensor, hint: str) -> Node:
    """Adds a buffer and, before ``before``, the node that reads it."""
    name, count = hint, 0
    while hasattr(module, name):
        count += 1
        name = f"{hint}_{count}"
    module.register_buffer(name, value.detach().clone().contiguous())
    with module.graph.inserting_before(before):
        node = module.graph.get_attr(name)
    node.meta = {k: v for k, v in before.meta.items() if k in ("nn_module_stack", "stack_trace")}
    return node


def evaluable(target: Any) -> bool:
    """True for a pure operator: no writes, no random numbers."""
    if target is operator.getitem:
        return True
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return False
    return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags


def _written(module: GraphModule) -> set[str]:
    """Names of attributes that some operator writes: state, no constants."""
    found: set[str] = set()
    for node in module.graph.nodes:
        if not writes(node):
            continue
        todo, seen = [a for a in node.all_input_nodes], set(node.all_input_nodes)
        while todo:
            source = todo.pop()
            if source.op == "get_attr":
                found.add(str(source.target))
            new = [s for s in aliased(source) if s not in seen]
            todo += new
            seen.update(new)
    return found


def fold_constants(module: GraphModule) -> None:
    """Evaluates operators whose inputs are all constants; their results become buffers."""
    state = _written(module)
    values: dict[Node, Any] = {}
    for node in list(module.graph.nodes):
        if node.op == "get_attr" and str(node.target) not in state:
            if (tensor := constant_of(node, module)) is not None:
                values[node] = tensor
        elif (
            node.op == "call_function"
            and evaluable(node.target)
            and all(source in values for source in node.all_input_nodes)
        ):
            args = map_arg(node.args, lambda n: values[n])
            kwargs = map_arg(node.kwargs, lambda n: values[n])
            with torch.no_grad():
                values[node] = node.target(*args, **kwargs)
    for node, value in values.items():
        if node.op == "call_function" and isinstance(value, torch.Tensor):
            outside = [user for user in node.users if user not in values]
            if outside:
                new = add_constant(module, node, value, f"folded_{node.name}")
                new.meta.update(node.meta)
                for user in outside:
                    user.replace_input_with(node, new)
    module.graph.eliminate_dead_code()
