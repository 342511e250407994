"""What a refusal says: the very operand, what to do instead, each line once; and what is not refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import rushlight as rl
from rushlight.frontend.hints import _HINTS
from rushlight.ops import REGISTRY

X = torch.linspace(-1, 1, 256).reshape(1, 4, 8, 8)


class Calls(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def compiled(model: nn.Module, *inputs: Tensor, **options: Any) -> rl.CompiledModel:
    return rl.compile(rl.quantize(model.eval(), inputs, [inputs]), target="cortex-m4", **options)


def refused(function: Callable[..., Any], *inputs: Tensor) -> list[str]:
    with pytest.raises(rl.UnsupportedError) as caught:
        compiled(Calls(function), *(inputs or (X,)))
    return caught.value.reasons


# --- models that compute nothing


@pytest.mark.parametrize("model", [nn.Identity(), nn.Dropout()])
def test_a_model_without_an_operator_is_a_copy(model: nn.Module) -> None:
    made = compiled(model, X)
    assert [op.kind for op in made.graph.ops] == ["copy"]
    np.testing.assert_array_equal(np.asarray(made.run(X, on="host")), X)


def test_one_that_only_moves_values_needs_no_quantisation() -> None:
    program = torch.export.export(nn.Flatten().eval(), (X,))
    made = rl.compile(program, target="cortex-m4")
    np.testing.assert_array_equal(np.asarray(made.reference(X)), X.flatten(1))


def test_one_that_computes_does() -> None:
    program = torch.export.export(nn.ReLU().eval(), (X,))
    with pytest.raises(rl.RushlightError, match=r"the program is not quantised: .*rl\.quantize"):
        rl.compile(program, target="cortex-m4")


def test_an_input_that_is_an_output_as_it_is_stays_float_and_the_report_says_so() -> None:
    made = compiled(nn.Identity(), X, io="int8")
    assert [made.graph[n].dtype.value for n in (*made.graph.inputs, *made.graph.outputs)] == ["float32", "float32"]
    assert "warning: input 'input': stays float32" in " ".join(map(str, made.graph.notes))


# --- operands that are no float32


BINARY: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "mul": lambda a, b: a * b,
    "add": lambda a, b: a + b,
    "cat": lambda a, b: torch.cat([a, b]),
}


def check_operand(line: str, dtype: torch.dtype) -> None:
    name = str(dtype).removeprefix("torch.")
    assert line.endswith(f"its input 'inputs_1' is {name} and only float32 is quantised; give the model float32"), line


@pytest.mark.parametrize("dtype", [torch.bool, torch.int32, torch.int8])
@pytest.mark.parametrize("function", BINARY)
def test_the_operand_that_is_no_float32_is_named(function: str, dtype: torch.dtype) -> None:
    (line,) = refused(BINARY[function], X, torch.ones(X.shape, dtype=dtype))
    check_operand(line, dtype)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8])
def test_so_is_the_input_of_an_operator_on_integers_alone(dtype: torch.dtype) -> None:
    (line,) = refused(lambda a, b: (torch.relu(a), torch.relu(b)), X, torch.ones(X.shape, dtype=dtype))
    check_operand(line, dtype)


def test_conversion_in_the_model_is_refused_with_what_to_do() -> None:
    (line,) = refused(lambda a, b: a + b.float(), X, torch.ones(X.shape, dtype=torch.int32))
    assert line.endswith("no kernel; convert outside of the model: give float32 inputs")


# --- hints


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        (lambda a: torch.conv1d(a[0], torch.ones(4, 8, 3)), "use nn.Conv2d with height 1"),
        (lambda a: a @ a, "a product of two activations has no kernel"),
        (lambda a: torch.bmm(a.reshape(4, 8, 8), a.reshape(4, 8, 8)), "a product of two activations has no kernel"),
        (lambda a: a[:, 1:3] * 2, "cut outside of the model"),
        (lambda a: a[:, 1] * 2, "cut outside of the model"),
        (lambda a: a.split(2, 1)[0] * 2, "cut outside of the model"),
        (lambda a: a.sum(1), "use mean over these dimensions and multiply by the count"),
        (lambda a: torch.where(a > 0, a, -a), "multiply by a mask that is an input of the model"),
        (lambda a: torch.maximum(a, -a), "max(a, b) = b + relu(a - b)"),
    ],
)
def test_a_refusal_says_what_to_use_instead(function: Callable[..., Any], hint: str) -> None:
    lines = refused(function)
    assert hint in lines[-1] and "aten." in lines[-1], lines


def test_the_advice_for_maximum_and_minimum_is_true() -> None:
    a, b = torch.randn(9), torch.randn(9)
    torch.testing.assert_close(b + torch.relu(a - b), torch.maximum(a, b))
    torch.testing.assert_close(a - torch.relu(a - b), torch.minimum(a, b))


def test_hints_are_for_operators_of_torch_that_have_no_kernel() -> None:
    known = {target.partition(".")[0] for op in REGISTRY.values() for rule in op.aten for target in rule.targets}
    assert not known & set(_HINTS)
    assert [name for name in _HINTS if not hasattr(torch.ops.aten, name)] == []


def test_the_same_line_stands_once_with_its_count() -> None:
    def twice(a: Tensor) -> Tensor:
        return torch.cumsum(torch.cumsum(a, 1), 2) + torch.cumsum(a, 3)

    (line,) = refused(twice)
    assert line.startswith("aten.cumsum.default the model's forward") and line.endswith("(3 times)")
    assert str(rl.UnsupportedError(["a", "b", "a"])) == "a (2 times)\nb"


def test_a_norm_that_was_there_when_the_program_was_quantised() -> None:
    model = nn.Sequential(nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3)).eval()
    prepared = prepare_pt2e(torch.export.export(model, (X,)).module(), rl.RushlightQuantizer())
    prepared(X)
    program = torch.export.export(convert_pt2e(prepared), (X,))
    with pytest.raises(
        rl.UnsupportedError, match=r"aten\.batch_norm\.default '0'.*: the norm was not folded .*rl\.capture"
    ):
        rl.compile(program, target="cortex-m4")
