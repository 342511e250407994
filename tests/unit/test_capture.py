"""Capture: the exported program computes what the model computes in eval mode, and the model stays as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from rushlight.capturing import capture, notes_of
from rushlight.quantization import RushlightQuantizer


class Apply(nn.Module):
    """Modules by name, and a function of them and the inputs."""

    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


def lively(model: nn.Module, seed: int = 0) -> nn.Module:
    """Batch norms with statistics that change something."""
    generator = torch.Generator().manual_seed(seed)
    for m in model.modules():
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            assert m.running_mean is not None
            assert m.running_var is not None
            m.running_mean.copy_(torch.randn(m.num_features, generator=generator))
            m.running_var.copy_(torch.rand(m.num_features, generator=generator) + 0.5)
            if m.affine:
                m.weight.data.copy_(torch.rand(m.num_features, generator=generator) + 0.5)
                m.bias.data.copy_(torch.randn(m.num_features, generator=generator))
    return model


def run(program: torch.export.ExportedProgram, *inputs: Tensor) -> Any:
    with torch.no_grad():
        return program.module(check_guards=False)(*inputs)


def kinds(program: torch.export.ExportedProgram) -> list[str]:
    return [str(n.target).removeprefix("aten.") for n in program.graph.nodes if n.op == "call_function"]


def check_same(model: nn.Module, *inputs: Tensor) -> torch.export.ExportedProgram:
    program = capture(model, inputs)
    with torch.no_grad():
        wanted = copy.deepcopy(model).eval()(*[x.clone() for x in inputs])
    torch.testing.assert_close(run(program, *inputs), wanted, rtol=1e-4, atol=1e-5)
    return program


def image(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


# --- norms that are folded


@pytest.mark.parametrize(
    ("layer", "norm", "shape"),
    [
        pytest.param(nn.Conv1d(4, 6, 3, padding=1, bias=False), nn.BatchNorm1d(6), (2, 4, 9), id="conv1d"),
        pytest.param(nn.Conv1d(4, 6, 3, padding="same"), nn.BatchNorm1d(6), (2, 4, 9), id="conv1d-same"),
        pytest.param(nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d(6), (1, 4, 8, 8), id="conv2d"),
        pytest.param(nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6, affine=False), (1, 4, 8, 8), id="conv2d-not-affine"),
        pytest.param(nn.Conv2d(4, 6, (3, 5), padding="same"), nn.BatchNorm2d(6), (1, 4, 8, 8), id="conv2d-same"),
        pytest.param(nn.Conv2d(4, 8, 3, groups=4), nn.BatchNorm2d(8), (1, 4, 8, 8), id="depthwise-multiplier"),
        pytest.param(nn.ConvTranspose1d(4, 6, 3, stride=2), nn.BatchNorm1d(6), (2, 4, 9), id="conv_transpose1d"),
        pytest.param(nn.ConvTranspose2d(4, 6, 3, bias=False), nn.BatchNorm2d(6), (1, 4, 5, 5), id="conv_transpose2d"),
        pytest.param(nn.ConvTranspose2d(4, 6, 3, groups=2), nn.BatchNorm2d(6), (1, 4, 5, 5), id="grouped-transpose"),
        pytest.param(nn.Linear(4, 6), nn.BatchNorm1d(6), (3, 4), id="linear"),
        pytest.param(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), (3, 4), id="linear-no-bias"),
    ],
)
def test_norm_is_folded_into_the_layer_before(layer: nn.Module, norm: nn.Module, shape: tuple[int, ...]) -> None:
    program = check_same(lively(nn.Sequential(layer, norm)), image(*shape))
    assert len(kinds(program)) == 1
    assert notes_of(program.graph) == ()


def test_dropout_between_layer_and_norm_does_not_hinder_the_fold() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Dropout2d(0.5), nn.BatchNorm2d(4))
    assert kinds(check_same(lively(model), image(1, 3, 8, 8))) == ["conv2d.default"]


# --- norms that must not be folded


def _norm_plus_itself(m: Any, x: Tensor) -> Tensor:
    y = m.conv(x)
    return m.bn(y) + y  # type: ignore[no-any-return]


def _two_norms(m: Any, x: Tensor) -> Tensor:
    y = m.conv(x)
    return m.bn(y) + m.bn2(y)  # type: ignore[no-any-return]


def _shared_layer(m: Any, x: Tensor) -> Tensor:
    return m.bn(m.conv(x)) + m.conv(x * 2)  # type: ignore[no-any-return]


def _conv_and_norms() -> dict[str, nn.Module]:
    return {"conv": nn.Conv2d(3, 4, 3), "bn": nn.BatchNorm2d(4), "bn2": nn.BatchNorm2d(4)}


@pytest.mark.parametrize(
    ("function", "why"),
    [(_norm_plus_itself, "also used"), (_two_norms, "also used"), (_shared_layer, "shared with another layer")],
)
def test_norm_is_not_folded_where_others_would_notice(function: Callable[..., Any], why: str) -> None:
    program = check_same(lively(Apply(function, **_conv_and_norms())), image(1, 3, 8, 8))
    notes = notes_of(program.graph)
    assert notes
    assert all(note.kind == "fold" and why in note.text and "'bn" in note.where for note in notes)
    assert "batch_norm.default" not in kinds(program)


def test_weights_tied_under_two_names_count_as_shared() -> None:
    model = nn.Sequential(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 1))
    model.get_submodule("2").weight = model.get_submodule("0").weight
    program = check_same(lively(model), image(1, 4, 5, 5))
    assert "shared" in notes_of(program.graph)[0].text


def test_norm_over_another_dimension_than_the_linear_layers_is_not_folded() -> None:
    program = check_same(lively(nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6))), image(2, 6, 4))
    assert kinds(program) == ["linear.default", "mul.Tensor", "add.Tensor"]
    assert "channels are not those" in notes_of(program.graph)[0].text


@pytest.mark.parametrize(
    ("norm", "shape", "wanted"),
    [
        (nn.BatchNorm1d(4), (3, 4), ["mul.Tensor", "add.Tensor"]),
        (nn.BatchNorm1d(4), (3, 4, 7), ["mul.Tensor", "add.Tensor"]),
        (nn.BatchNorm2d(4), (2, 4, 5, 5), ["conv2d.default"]),
        (nn.BatchNorm3d(4), (2, 4, 3, 3, 3), ["mul.Tensor", "add.Tensor"]),
    ],
)
def test_norm_that_stands_alone_becomes_a_layer(norm: nn.Module, shape: tuple[int, ...], wanted: list[str]) -> None:
    program = check_same(lively(nn.Sequential(nn.ReLU(), norm)), image(*shape))
    assert kinds(program) == ["relu.default", *wanted]
    (note,) = notes_of(program.graph)
    assert note.where.startswith("'1' (test_capture.py:") or note.where == "'1'"


def test_notes_survive_files_and_pt2e(tmp_path: Path) -> None:
    x = image(1, 3, 8, 8)
    program = capture(lively(Apply(_norm_plus_itself, **_conv_and_norms())), (x,))
    notes = notes_of(program.graph)
    assert len(notes) == 1
    torch.export.save(program, tmp_path / "net.pt2")
    assert notes_of(torch.export.load(str(tmp_path / "net.pt2")).graph) == notes
    prepared = prepare_pt2e(program.module(check_guards=False), RushlightQuantizer())
    prepared(x)
    converted = convert_pt2e(prepared)
    assert notes_of(torch.export.export(converted, (x,)).graph) == notes


# --- what disappears


def test_dropout_identity_counters_and_guards_are_gone() -> None:
    model = nn.Sequential(nn.Identity(), nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.ReLU()).train()
    program = check_same(lively(model), image(2, 3, 8, 8))
    assert kinds(program) == ["conv2d.default", "relu.default"]
    assert not any("num_batches_tracked" in name for name in program.state_dict)
    module = program.module(check_guards=False)
    assert not any(n.op == "call_module" for n in module.graph.nodes)
    prepare_pt2e(module, RushlightQuantizer())


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda m, x: F.relu_(x + 1), "relu.default"),
        (lambda m, x: nn.ReLU6(inplace=True)(x + 1), "hardtanh.default"),
        (lambda m, x: F.hardtanh(x + 1, inplace=True), "hardtanh.default"),
        (lambda m, x: (x * 2).add_(x), "add.Tensor"),
        (lambda m, x: F.hardswish(x + 1, inplace=True), "hardswish.default"),
        (lambda m, x: F.silu(x + 1, inplace=True), "silu.default"),
        (lambda m, x: F.leaky_relu(x + 1, inplace=True), "leaky_relu.default"),
        (lambda m, x: F.relu_((x + 1).view(-1)), "relu.default"),
        (lambda m, x: F.relu_(x.clone()) + x, "relu.default"),
        (lambda m, x: (x + 1).clamp_(0.0, 1.0), "clamp.default"),
    ],
)
def test_in_place_operators_become_functional(function: Callable[..., Any], wanted: str) -> None:
    program = check_same(Apply(function), image(2, 3, 4))
    assert wanted in kinds(program)
    assert not any(k.split(".")[0].endswith("_") for k in kinds(program))


def test_later_readers_see_what_was_written_in_place() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        y = x + 1
        F.relu_(y)
        return y * 2

    check_same(Apply(function), image(2, 3))


def test_a_write_that_another_view_shows_is_left_alone() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        y = x + 1
        view = y.view(-1)
        F.relu_(y)
        return view * 2

    assert "relu_.default" in kinds(check_same(Apply(function), image(2, 3)))


def test_blocks_without_gradients_are_inlined() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x + 1
            y = F.relu(y)
        with torch.enable_grad():
            y = y * 3
        return y

    assert kinds(check_same(Apply(function), image(2, 3))) == ["add.Tensor", "relu.default", "mul.Tensor"]


def test_autocast_block_is_computed_in_float32_and_said_so() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y: Tensor = m.fc(x)
        return y

    model = Apply(function, fc=nn.Linear(4, 3))
    x = image(2, 4)
    program = capture(model, (x,))
    assert kinds(program) == ["linear.default"]
    torch.testing.assert_close(run(program, x), model.get_submodule("fc")(x).detach())
    (note,) = notes_of(program.graph)
    assert "autocast" in note.text
    assert "'fc'" in note.where


def test_arithmetic_on_constants_is_done_at_capture() -> None:
    model = Apply(lambda m, x: F.linear(x, m.fc.weight.t()), fc=nn.Linear(4, 6))
    assert kinds(check_same(model, image(2, 6))) == ["linear.default"]
    normed = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 3))
    assert kinds(check_same(nn.Sequential(normed), image(1, 3, 8))) == ["conv1d.default"]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_weight_norm_by_hooks_becomes_plain_weights() -> None:
    model = nn.Sequential(nn.utils.weight_norm(nn.Conv1d(3, 4, 3)), nn.BatchNorm1d(4))
    x = image(1, 3, 8)
    model.eval()(x)  # leaves a weight that deepcopy refuses
    with torch.no_grad():
        wanted = model(x)
    program = capture(model, (x,))
    assert kinds(program) == ["conv1d.default"]
    torch.testing.assert_close(run(program, x), wanted, rtol=1e-4, atol=1e-5)
    assert hasattr(model.get_submodule("0"), "weight_g")


# --- the user's model


def test_model_is_left_exactly_as_it_was() -> None:
    model = lively(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.ReLU(inplace=True)))
    model.train()
    model.get_submodule("1").eval()
    before = copy.deepcopy(model.state_dict())
    modes = [m.training for m in model.modules()]
    tensors = {name: id(p) for name, p in model.named_parameters()}
    capture(model, (image(2, 3, 8, 8),))
    assert [m.training for m in model.modules()] == modes
    assert {name: id(p) for name, p in model.named_parameters()} == tensors
    assert all(p.requires_grad for p in model.parameters())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_example_inputs_are_not_written_to() -> None:
    x = image(2, 3)
    kept = x.clone()
    capture(nn.Sequential(nn.ReLU(inplace=True)), (x,))
    assert torch.equal(x, kept)


def test_several_inputs_and_outputs() -> None:
    program = check_same(Apply(lambda m, a, b: (a + b, {"product": a * b})), image(2, 3), image(2, 3))
    assert len(program.graph_signature.user_outputs) == 2
