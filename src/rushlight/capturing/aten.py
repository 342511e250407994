"""ATen operators as data: arguments by name, and the few operators that change no value."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node

#: Operators whose result is their first argument's value (dtype changes are looked at separately).
_PASS_ON = frozenset(
    {
        "alias.default",
        "clone.default",
        "contiguous.default",
        "detach.default",
        "detach_.default",
        "lift_fresh.default",
        "lift_fresh_copy.default",
    }
)
_CASTS = frozenset({"_to_copy.default", "to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as.default"})
_DROPOUTS = frozenset(
    f"{name}.default"
    for name in ("dropout", "dropout_", "feature_dropout", "feature_dropout_", "alpha_dropout", "alpha_dropout_")
)
#: These have a new storage of their own; the others of the above may return the very tensor they were given.
_COPIES = frozenset({"clone.default", "lift_fresh_copy.default"})


def target_name(node: Node) -> str:
    """ "conv2d.default" for ``aten.conv2d.default``; other namespaces keep their prefix; "" if not an operator."""
    if node.op != "call_function":
        return ""
    return str(node.target).removeprefix("aten.")


def arguments(node: Node) -> dict[str, Any]:
    """The node's arguments by schema name, defaults filled in."""
    schema = node.target._schema  # type: ignore[union-attr]
    found: dict[str, Any] = {}
    for position, argument in enumerate(schema.arguments):
        if position < len(node.args):
            found[argument.name] = node.args[position]
        elif argument.name in node.kwargs:
            found[argument.name] = node.kwargs[argument.name]
        elif argument.has_default_value():
            found[argument.name] = argument.default_value
        else:
            found[argument.name] = None
    return found


def dtype_of(node: Any) -> torch.dtype | None:
    """Element type of a node's value, None where it is not one tensor."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return value.dtype if isinstance(value, torch.Tensor) else None


def writes(node: Node) -> bool:
    """True for an operator that writes into one of its arguments."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def passed_on(node: Node) -> Node | None:
    """The argument whose value this node only passes on; None if it computes something."""
    name = target_name(node)
    if not node.args or not isinstance(node.args[0], Node):
        return None
    same = (
        name in _PASS_ON
        or (name in _DROPOUTS and not arguments(node)["train"])
        or (name in _CASTS and dtype_of(node) is not None and dtype_of(node) == dtype_of(node.args[0]))
    )
    return node.args[0] if same else None


def random_dropout(node: Node) -> bool:
    """True for a dropout that is on."""
    return target_name(node) in _DROPOUTS and bool(arguments(node)["train"])


def aliased(node: Node) -> Iterator[Node]:
    """The arguments whose memory this node's value may share."""
    if node.op != "call_function":
        return
    if node.target is operator.getitem:
        yield from (a for a in node.args if isinstance(a, Node))
    elif isinstance(node.target, torch._ops.OpOverload):
        if (source := passed_on(node)) is not None and target_name(node) not in _COPIES:
            yield source
        if any(result.alias_info is not None for result in node.target._schema.returns):
            values = arguments(node)
            for argument in node.target._schema.arguments:
                if argument.alias_info is not None and isinstance(values[argument.name], Node):
                    yield values[argument.name]
