"""reshape: every ATen form is a view of the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.graph import DType, Graph, Tensor
from rushlight.ops import operator
from rushlight.ops.reshape import ReshapeAttrs
from tests.kernels.building import lowered, run

FORMS: list[tuple[str, dict[str, Any], Callable[[torch.Tensor], torch.Tensor]]] = [
    ("view.default", {"size": [6, -1]}, lambda x: x.view(6, -1)),
    ("reshape.default", {"shape": [2, 3, 2, 2, 1]}, lambda x: x.reshape(2, 3, 2, 2, 1)),
    ("flatten.using_ints", {"start_dim": 1, "end_dim": -1}, lambda x: x.flatten(1)),
    ("flatten.using_ints", {"start_dim": 0, "end_dim": -2}, lambda x: x.flatten(0, -2)),
    ("unflatten.int", {"dim": -1, "sizes": [2, 2]}, lambda x: x.reshape(2, 1, 3, 2, 2)),
    ("squeeze.default", {}, lambda x: x.squeeze()),
    ("squeeze.dim", {"dim": 1}, lambda x: x.squeeze(1)),
    ("squeeze.dim", {"dim": 0}, lambda x: x.squeeze(0)),  # of size 2: stays
    ("squeeze.dims", {"dim": [1, -1]}, lambda x: x.squeeze((1, -1))),
    ("unsqueeze.default", {"dim": -1}, lambda x: x.unsqueeze(-1)),
    ("unsqueeze.default", {"dim": 0}, lambda x: x.unsqueeze(0)),
]


@pytest.mark.parametrize(("target", "arguments", "form"), FORMS)
def test_every_aten_form(target: str, arguments: dict[str, Any], form: Callable[[torch.Tensor], torch.Tensor]) -> None:
    data = torch.arange(24, dtype=torch.float32).reshape(2, 1, 3, 4)
    expected = form(data).numpy()
    context, name = lowered(target, [Tensor("x", (2, 1, 3, 4), DType.FLOAT32)], expected.shape, self="x", **arguments)
    if expected.shape == (2, 1, 3, 4):
        assert (name, context.ops) == ("x", [])
        return
    (op,) = context.ops
    assert np.array_equal(run(Graph("t", context.tensors, (op,), ("x",), (name,)), data.numpy()), expected)


def test_it_costs_nothing_on_the_chip() -> None:
    assert operator("reshape").view
    assert operator("reshape").moves_values


def test_another_count_of_elements_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[2, 3\] cannot be viewed as \[5\]"):
        operator("reshape").infer(ReshapeAttrs((5,)), [Tensor("x", (2, 3), DType.INT8)])
