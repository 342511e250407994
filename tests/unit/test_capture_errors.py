"""What capture refuses, each in one line that says where and what next."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rushlight.capturing import capture
from rushlight.capturing.notes import source_of
from rushlight.errors import RushlightError

X = torch.linspace(-1, 1, 12).reshape(2, 6)


def refusal(model: Any, inputs: Any = (X,)) -> str:
    with pytest.raises(RushlightError) as caught:
        capture(model, inputs)
    message = str(caught.value)
    assert "\n" not in message
    return message


class Simple(nn.Module):
    def __init__(self, function: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


def test_an_exported_program_is_no_module() -> None:
    assert "ExportedProgram" in refusal(torch.export.export(nn.Linear(6, 2), (X,)))


def test_the_module_of_an_exported_program_is_captured_already() -> None:
    assert "captured already" in refusal(torch.export.export(nn.Linear(6, 2), (X,)).module())


def test_something_else_is_no_module() -> None:
    assert "is a int, not an nn.Module" in refusal(3)


def test_float64_model_names_the_parameter() -> None:
    assert "parameter 'weight' is float64" in refusal(nn.Linear(6, 2).double())


def test_half_model_names_the_parameter() -> None:
    assert "parameter '0.weight' is bfloat16" in refusal(nn.Sequential(nn.Linear(6, 2)).bfloat16())


@pytest.mark.parametrize(("value", "word"), [(float("nan"), "NaN"), (float("inf"), "infinity")])
def test_bad_weight_names_the_parameter(value: float, word: str) -> None:
    model = nn.Sequential(nn.Linear(6, 2))
    model.get_parameter("0.weight").data[1, 2] = value
    assert f"parameter '0.weight' holds {word} (1 of 12)" in refusal(model)


def test_bad_buffer_names_the_buffer() -> None:
    model = nn.Sequential(nn.Linear(6, 2), nn.BatchNorm1d(2))
    model.get_buffer("1.running_mean")[0] = float("nan")
    assert "buffer '1.running_mean' holds NaN" in refusal(model)


def test_lazy_module_is_not_initialised() -> None:
    assert "parameter 'weight' is not initialised" in refusal(nn.LazyLinear(3))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_script_module() -> None:
    traced: Any = torch.jit.trace(nn.Linear(6, 2), X)
    assert "TorchScript" in refusal(traced)
    assert "TorchScript" in refusal(nn.Sequential(traced))


@pytest.mark.parametrize(
    ("inputs", "wanted"),
    [
        (X, "one tensor, not a tuple"),
        ({"x": X}, "is a dict, not a tuple"),
        ((X.numpy(),), "example_inputs[0] is a ndarray, not a tensor; convert it"),
        ((X[:0],), "example_inputs[0] is empty: float32[0, 6]"),
        ((X.double(),), "example_inputs[0] is float64"),
        (([X, X],), "example_inputs[0] is a list, not a tensor; let forward take each"),
        ((X, X), "forward fails on example_inputs"),
        ((X[:, :3],), "forward fails on example_inputs"),
        ((), "forward fails on example_inputs"),
    ],
)
def test_wrong_example_inputs(inputs: Any, wanted: str) -> None:
    assert wanted in refusal(nn.Linear(6, 2), inputs)


def test_control_flow_on_data_names_the_line(capfd: pytest.CaptureFixture[str]) -> None:
    def function(x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x - 1

    message = refusal(Simple(function))
    assert "depends on data" in message
    assert "test_capture_errors.py:" in message
    assert capfd.readouterr() == ("", "")  # nothing but the one line


def test_a_users_folders_may_be_called_as_libraries_are(tmp_path: Path) -> None:
    file = tmp_path / "rushlight" / "torch" / "net.py"
    file.parent.mkdir(parents=True)
    lines = ["import torch", "", "", "class Choose(torch.nn.Module):", "    def forward(self, x):"]
    lines += ["        x = x.cosh()", "        return x if self.always or x.sum() > 0 else -x", ""]
    file.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("net", file)
    assert spec is not None
    assert spec.loader is not None
    net = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(net)
    model = net.Choose()
    model.always = False
    assert "(net.py:7)" in refusal(model)
    model.always = True
    nodes = [node for node in capture(model, (X,)).graph.nodes if node.op == "call_function"]
    assert [(source_of(node).file, source_of(node).line) for node in nodes] == [("net.py", 6)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x.max().item(),
        lambda x: x[x > 0],
        lambda x: torch.nonzero(x),
    ],
    ids=["item", "boolean mask", "nonzero"],
)
def test_values_that_become_shapes_or_numbers(function: Callable[[Tensor], Any]) -> None:
    assert "data" in refusal(Simple(function))


def test_numpy_in_forward() -> None:
    assert "export cannot capture" in refusal(Simple(lambda x: torch.from_numpy(x.detach().numpy() * 2) + x))


def test_dropout_that_is_on_in_eval_mode() -> None:
    message = refusal(Simple(lambda x: F.dropout(x, 0.5)))
    assert "dropout is on" in message or "state" in message


def test_norm_without_running_statistics() -> None:
    assert "each batch's own statistics" in refusal(nn.BatchNorm1d(6, track_running_stats=False))


# --- state


class Recurrent(nn.Module):
    """Keeps its last output in a plain attribute."""

    def __init__(self, start: Any) -> None:
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.h: Any = start

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = torch.tanh(self.fc(x) + (0.0 if self.h is None else self.h))
        self.h = y
        return y


class Difference(nn.Module):
    """What a test with the same input twice would not notice after the first."""

    def __init__(self) -> None:
        super().__init__()
        self.cell: Any = nn.Module()
        self.cell.last = torch.zeros(2, 6)

    def forward(self, x: Tensor) -> Any:
        y = x - self.cell.last
        self.cell.last = x.clone()
        return y


class History(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.frames.append(x)
        return torch.stack(self.frames[-4:]).mean(0) * len(self.frames)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Recurrent(torch.zeros(2, 6)), "'h'"),
        (Recurrent(None), "'h'"),
        (Difference(), "'cell.last'"),
        (History(), "'frames'"),
    ],
)
def test_state_in_a_plain_attribute_is_refused_by_name(model: nn.Module, name: str) -> None:
    message = refusal(model)
    assert name in message
    assert "state" in message


def test_refused_state_leaves_the_model_as_it_was() -> None:
    model = History()
    refusal(model)
    assert model.frames == []


class CachedGrid(nn.Module):
    """Makes a constant on the first call, as detectors do."""

    def __init__(self) -> None:
        super().__init__()
        self.grid: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.grid is None:
            self.grid = torch.arange(6.0)
        return x + self.grid


def test_a_constant_made_on_the_first_call_is_no_state() -> None:
    program = capture(CachedGrid(), (X,))
    assert torch.equal(program.module(check_guards=False)(X), X + torch.arange(6.0))
