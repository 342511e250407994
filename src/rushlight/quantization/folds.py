"""Recognising batch norms that ``prepare_pt2e`` itself has folded, where that may be wrong.

It folds whatever norm stands behind a convolution, even if others read the convolution's output too: ``bn(y) + y`` then
computes ``bn(y) + bn(y)``. Graphs from ``rushlight.capture`` hold no norms, so nothing of this happens to them.
"""

from __future__ import annotations

import warnings

from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from rushlight.capturing.constants import constant_of
from rushlight.capturing.notes import add_note, source_of
from rushlight.errors import RushlightWarning


def _reads(layer: Node) -> int:
    """How many times the layer's output is read (``y + y`` reads it twice)."""
    return sum(list(pytree.tree_leaves((user.args, user.kwargs))).count(layer) for user in layer.users)


def warn_of_wrong_folds(module: GraphModule) -> None:
    """Warns, and leaves a note, at layers that a norm was folded into though their output may be read elsewhere too."""
    read = {str(node.target) for node in module.graph.nodes if node.op == "get_attr"}
    means = {n: b for n, b in module.named_buffers() if n.endswith("running_mean") and n not in read}
    channels = {b.numel(): n.removesuffix(".running_mean") for n, b in means.items()}
    if not channels:
        return
    for node in module.graph.nodes:
        weight = constant_of(node.args[1], module) if node.op == "call_function" and len(node.args) > 1 else None
        value = node.meta.get("val")
        if weight is None or weight.dim() < 2 or value is None or _reads(node) < 2:
            continue
        norm = channels.get(value.shape[1] if value.dim() > 1 else -1)
        if norm is not None:
            text = (
                f"prepare_pt2e folded batch norm '{norm}' into a layer, perhaps this one, whose output is read more than once; "
                "if anything but the norm read it, results are wrong: prepare rushlight.capture(model, inputs) instead"
            )
            add_note(node, "warning", text, source_of(node))
            warnings.warn(f"{node.target} {source_of(node)}: {text}", RushlightWarning, stacklevel=4)
