"""In-place operators become their functional forms where no one else sees the memory they write."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from rushlight.capturing.aten import aliased, arguments, writes


def functional_form(target: Any) -> Any | None:
    """``relu_.default`` → ``relu.default``; None if there is no such form."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    name, overload = target._schema.name.removeprefix("aten::"), target._schema.overload_name or "default"
    if not name.endswith("_") or name == "copy_" or target.namespace != "aten":
        return None
    packet = getattr(torch.ops.aten, name.removesuffix("_"), None)
    form = getattr(packet, overload, None) if packet is not None else None
    if form is None:
        return None
    same = [a.name for a in form._schema.arguments] == [a.name for a in target._schema.arguments]
    return form if same and not form._schema.is_mutable else None


def _family(graph: Graph, member: Node) -> set[Node]:
    """All nodes whose memory may overlap that of ``member``."""
    neighbours: dict[Node, set[Node]] = {node: set() for node in graph.nodes}
    for node in graph.nodes:
        for source in aliased(node):
            neighbours[node].add(source)
            neighbours[source].add(node)
    seen, todo = {member}, [member]
    while todo:
        for other in neighbours[todo.pop()] - seen:
            seen.add(other)
            todo.append(other)
    return seen


def _functionalise(graph: Graph, node: Node, form: Any) -> bool:
    position = {n: i for i, n in enumerate(graph.nodes)}
    written = arguments(node)[node.target._schema.arguments[0].name]  # type: ignore[union-attr]
    here = position[node]
    for member in _family(graph, node):
        if member.op == "get_attr":
            return False  # a parameter or buffer: state
        if member in (node, written) or position[member] > here:
            continue
        if any(position[user] > here for user in member.users):
            return False  # someone reads the memory later through another name
    with graph.inserting_before(node):
        new = graph.create_node("call_function", form, node.args, node.kwargs, name=node.name.rstrip("_"))
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new)
    written.replace_all_uses_with(new, delete_user_cb=lambda user: position.get(user, -1) > here)
    graph.erase_node(node)
    return True


def remove_in_place(module: GraphModule) -> None:
    """Rewrites safe in-place operators: ``y = relu_(x)`` → ``y = relu(x)``, later reads of ``x`` read ``y``.

    Those that are not safe (state, overlapping views) stay; the importer refuses them.
    """
    for node in list(module.graph.nodes):
        if writes(node) and (form := functional_form(node.target)) is not None:
            _functionalise(module.graph, node, form)
