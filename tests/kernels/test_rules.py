"""What operators say of ATen is true of torch's schemas, for all of them."""

from __future__ import annotations

import pytest
import torch

from rushlight.ops import REGISTRY
from rushlight.ops.base import AtenRule

RULES = [(target, rule) for o in REGISTRY.values() for rule in o.aten for target in rule.targets]


@pytest.mark.parametrize(("target", "rule"), RULES, ids=[t for t, _ in RULES])
def test_operator_exists_and_has_the_annotated_arguments(target: str, rule: AtenRule) -> None:
    packet, _, overload = target.partition(".")
    schema = getattr(getattr(torch.ops.aten, packet), overload)._schema
    names = {argument.name for argument in schema.arguments}
    assert not schema.is_mutable
    if rule.annotation is not None:
        given = {*rule.annotation.activations, rule.annotation.weight, rule.annotation.bias} - {None}
        assert given <= names


def test_no_operator_is_claimed_twice() -> None:
    targets = [target for target, _ in RULES]
    assert len(set(targets)) == len(targets) > 100
