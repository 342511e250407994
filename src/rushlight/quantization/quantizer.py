"""The PT2E quantizer: annotates a captured graph as the operators' files say. It knows no operator by name."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    Quantizer,
    SharedQuantizationSpec,
)

from rushlight.capturing.aten import arguments, dtype_of, target_name
from rushlight.capturing.notes import source_of
from rushlight.ops import REGISTRY
from rushlight.ops.base import AtenRule, Fixed
from rushlight.quantization.folds import warn_of_wrong_folds
from rushlight.quantization.observers import ActivationObserver, WeightObserver, bias_qparams

KEY = "quantization_annotation"


def rules() -> dict[str, AtenRule]:
    """ATen target ("conv2d.default") → the rule of the operator it belongs to."""
    return {target: rule for op in REGISTRY.values() for rule in op.aten for target in rule.targets}


def activation_spec() -> QuantizationSpec:
    """int8, one scale and zero point a tensor."""
    return QuantizationSpec(
        dtype=torch.int8,
        quant_min=-128,
        quant_max=127,
        qscheme=torch.per_tensor_affine,
        observer_or_fake_quant_ctr=ActivationObserver,
    )


def weight_spec(axis: int) -> QuantizationSpec:
    """int8 in -127..127, a scale for each index along ``axis``."""
    return QuantizationSpec(
        dtype=torch.int8,
        quant_min=-127,
        quant_max=127,
        qscheme=torch.per_channel_symmetric,
        ch_axis=axis,
        observer_or_fake_quant_ctr=WeightObserver,
    )


def _fixed_spec(fixed: Fixed) -> FixedQParamsQuantizationSpec:
    return FixedQParamsQuantizationSpec(
        dtype=torch.int8,
        scale=fixed.scale,
        zero_point=fixed.zero_point,
        quant_min=-128,
        quant_max=127,
        qscheme=torch.per_tensor_affine,
    )


def _bias_spec(derived_from: list[Any]) -> DerivedQuantizationSpec:
    return DerivedQuantizationSpec(
        derived_from=derived_from,
        derive_qparams_fn=bias_qparams,
        dtype=torch.int32,
        quant_min=-(2**31),
        quant_max=2**31 - 1,
        qscheme=torch.per_channel_symmetric,
        ch_axis=0,
    )


def _is_float(node: Any) -> bool:
    return dtype_of(node) == torch.float32 or (
        isinstance(node, Node) and node.op == "get_attr" and "val" not in node.meta
    )


class RushlightQuantizer(Quantizer):  # type: ignore[misc]
    """int8 activations (per tensor, affine), int8 weights (per channel, symmetric), int32 bias.

    For ``prepare_pt2e(rushlight.capture(model, x).module(check_guards=False), RushlightQuantizer())``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rules = rules()
        self._fixed: dict[Node, FixedQParamsQuantizationSpec] = {}  # values whose scale is known beforehand

    def annotate(self, model: GraphModule) -> GraphModule:
        """Annotates every node that an operator's file has an annotation for."""
        warn_of_wrong_folds(model)
        self._fixed = {}
        for node in model.graph.nodes:
            rule = self._rules.get(target_name(node))
            if rule is not None and rule.annotation is not None and _is_float(node):
                node.meta[KEY] = self._annotation(node, rule)
        return model

    def validate(self, model: GraphModule) -> None:
        """All annotations come from ``annotate``; there is nothing to refuse."""

    def prepare_obs_or_fq_callback(self, model: GraphModule, edge_or_node_to_obs_or_fq: dict[Any, Any]) -> None:
        """Tells each observer which tensor it looks at, for messages."""
        for place, observer in edge_or_node_to_obs_or_fq.items():
            if isinstance(observer, (ActivationObserver, WeightObserver)) and "where" not in vars(observer):
                observer.where = _describe(place[0] if isinstance(place, tuple) else place, place)

    def _annotation(self, node: Node, rule: AtenRule) -> QuantizationAnnotation:
        annotation = rule.annotation
        assert annotation is not None
        args = arguments(node)
        inputs: dict[Node, Any] = {}
        output: Any = activation_spec()
        if isinstance(annotation.output, Fixed):
            output = _fixed_spec(annotation.output)
        if annotation.clamps and self._absorbed(node):
            return QuantizationAnnotation(inputs, output, _annotated=True)

        activations = [a for name in annotation.activations for a in _members(args[name]) if _is_float(a)]
        # Members of a list have one range, which must hold them all: no member's own fixed one.
        several = annotation.output == "same" and len(set(activations)) > 1
        for activation in activations:
            if activation not in inputs:
                own = activation_spec() if several else self._fixed.get(activation, activation_spec())
                inputs[activation] = SharedQuantizationSpec((activations[0], node)) if several and inputs else own
        weight = args[annotation.weight] if annotation.weight else None
        if isinstance(weight, Node):  # one that is computed on the way has no channels to look at beforehand
            inputs[weight] = weight_spec(annotation.weight_axis) if _constant(weight) else activation_spec()
        bias = args[annotation.bias] if annotation.bias else None
        if isinstance(bias, Node) and _constant(bias) and _constant(weight) and activations:
            inputs[bias] = _bias_spec([(activations[0], node), (weight, node)])

        if annotation.output == "same" and activations:
            output = SharedQuantizationSpec((activations[0], node))
            if not several and activations[0] in self._fixed:
                output = self._fixed[activations[0]]
        if annotation.absorbs_clamp and self._clamp_behind(node):
            output = None
        if isinstance(output, FixedQParamsQuantizationSpec):
            self._fixed[node] = output
        return QuantizationAnnotation(inputs, output, _annotated=True)

    def _clamp_behind(self, node: Node) -> bool:
        """True if the only reader of ``node`` is an operator that clamps it."""
        users = list(node.users)
        rule = self._rules.get(target_name(users[0])) if len(users) == 1 else None
        clamps = rule is not None and rule.annotation is not None and rule.annotation.clamps
        return clamps and users[0].args[0] is node and _is_float(users[0])

    def _absorbed(self, clamp: Node) -> bool:
        """True if ``clamp`` is fused into the operator before it."""
        before = clamp.args[0]
        rule = self._rules.get(target_name(before)) if isinstance(before, Node) else None
        absorbs = rule is not None and rule.annotation is not None and rule.annotation.absorbs_clamp
        return absorbs and isinstance(before, Node) and self._clamp_behind(before)


def _members(argument: Any) -> list[Node]:
    members = argument if isinstance(argument, (list, tuple)) else [argument]
    return [member for member in members if isinstance(member, Node)]


def _constant(node: Any) -> bool:
    return isinstance(node, Node) and node.op == "get_attr"


def _describe(node: Node, place: Any) -> str:
    if node.op == "placeholder":
        return f"input '{node.name}'"
    if node.op == "get_attr":
        return (
            f"constant '{node.target}' of {source_of(place[1])}"
            if isinstance(place, tuple)
            else f"constant '{node.target}'"
        )
    return f"{node.target} {source_of(node)}"
