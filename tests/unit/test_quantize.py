"""Quantisation: what is observed, which scales are shared, and that by hand gives the same as in one call."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.fx import Node
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from rushlight.capturing import capture, notes_of
from rushlight.capturing.aten import target_name
from rushlight.errors import RushlightError, RushlightWarning
from rushlight.ops import REGISTRY
from rushlight.ops.base import Annotation, AtenRule, Fixed, Operator
from rushlight.quantization import RushlightQuantizer, quantize, quantize_program
from rushlight.quantization.observers import DEAD_SCALE, ActivationObserver, WeightObserver


class Net(nn.Module):
    """A small CNN with a residual way."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.conv = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 36, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = torch.relu(self.conv(x) + x)
        y: Tensor = self.fc(x.flatten(1))
        return y


class Apply(nn.Module):
    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(self, *inputs)


def seeded() -> Net:
    torch.manual_seed(0)
    return Net()


def images(count: int, batch: int = 1, seed: int = 5) -> list[tuple[Tensor, ...]]:
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(batch, 3, 6, 6, generator=generator),) for _ in range(count)]


def by_hand(model: nn.Module, batches: list[tuple[Tensor, ...]]) -> torch.export.ExportedProgram:
    prepared = prepare_pt2e(capture(model, batches[0]).module(check_guards=False), RushlightQuantizer())
    for batch in batches:
        prepared(*batch)
    return torch.export.export(convert_pt2e(prepared), batches[0])


def scales(program: torch.export.ExportedProgram) -> dict[str, tuple[float, int]]:
    """Producer's ATen name → scale and zero point it is quantised with."""
    found = {}
    for node in program.graph.nodes:
        if "quantize_per_tensor" in str(node.target) and "dequantize" not in str(node.target):
            source = node.args[0]
            found[source.name] = (node.args[1], node.args[2])
    return found


# --- one call, by hand


def test_quantised_net_is_close_to_the_float_one() -> None:
    model = seeded()
    program = quantize(model, images(1)[0], images(8))
    (x,) = images(1, seed=9)[0]
    with torch.no_grad():
        y, wanted = program.module(check_guards=False)(x), model.eval()(x)
    assert float((y - wanted).norm() / wanted.norm()) < 0.05


def test_by_hand_gives_exactly_the_same_program() -> None:
    batches = images(6)
    ours, theirs = quantize(seeded(), batches[0], batches), by_hand(seeded(), batches)
    assert str(ours.graph) == str(theirs.graph)
    for name, value in ours.state_dict.items():
        assert torch.equal(value, theirs.state_dict[name]), name
    assert ours.constants.keys() == theirs.constants.keys()


def test_the_users_model_is_left_as_it_was() -> None:
    model = seeded().train()
    before = copy.deepcopy(model.state_dict())
    quantize(model, images(1)[0], images(3))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any("activation_post_process" in name for name, _ in model.named_modules())


def test_calibration_of_a_model_with_buffers_it_writes_keeps_their_start() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.register_buffer("total", torch.zeros(4))

        def forward(self, x: Tensor) -> Tensor:
            self.get_buffer("total").add_(x.sum(0))
            y: Tensor = self.fc(x)
            return y

    model = Counter()
    program = quantize(model, (torch.randn(1, 4),), [(torch.ones(1, 4),)] * 3)
    assert not model.get_buffer("total").any()
    assert not program.state_dict["total"].any()


def test_conversion_is_quick_with_norms_that_cannot_be_folded() -> None:
    layers: list[nn.Module] = []
    for _ in range(8):
        layers += [nn.ReLU(), nn.BatchNorm2d(3), nn.Conv2d(3, 3, 1)]
    start = time.monotonic()
    quantize(nn.Sequential(*layers), images(1)[0], images(2))
    assert time.monotonic() - start < 15


def test_progress_is_told_after_each_batch() -> None:
    seen: list[tuple[int, int]] = []
    quantize(seeded(), images(1)[0], images(3), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    seen.clear()
    quantize(seeded(), images(1)[0], iter(images(2)), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 0), (2, 0)]


def test_batches_of_several_examples_are_run_one_by_one() -> None:
    whole = quantize(seeded(), images(1)[0], [(torch.cat([x for (x,) in images(6)]),)])
    single = quantize(seeded(), images(1)[0], images(6))
    assert scales(whole) == scales(single)


# --- what is observed


def test_weights_are_per_channel_symmetric_and_biases_int32() -> None:
    program = quantize(seeded(), images(1)[0], images(3))
    dequantized = [n for n in program.graph.nodes if "dequantize_per_channel" in str(n.target)]
    ranges = {tuple(n.args[3:6]) for n in dequantized}
    assert ranges == {(0, -127, 127), (0, -(2**31), 2**31 - 1)}
    assert len(dequantized) == 6
    assert not any(program.state_dict[name].any() for name in program.state_dict if "zero_point" in name)


def test_nothing_is_observed_between_a_layer_and_the_clamp_fused_into_it() -> None:
    program = quantize(seeded(), images(1)[0], images(3))
    for node in program.graph.nodes:
        if target_name(node) == "relu.default":
            assert target_name(node.args[0]) in ("conv2d.default", "add.Tensor")


def test_inputs_of_add_keep_their_own_scales() -> None:
    found = scales(quantize(seeded(), images(1)[0], images(3)))
    assert found["conv2d_1"] != found["relu"]


def test_views_share_the_scale_of_what_they_show() -> None:
    model = Apply(
        lambda m, x: m.fc(torch.relu(m.conv(x)).flatten(1).unsqueeze(1)), conv=nn.Conv2d(3, 2, 3), fc=nn.Linear(32, 4)
    )
    found = scales(quantize(model, images(1)[0], images(3)))
    assert found["relu"] == found["flatten"] == found["unsqueeze"]


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Declares ATen operators for this test, in place of what is registered for them."""

    def declare(target: str, annotation: Annotation) -> None:
        class Stub(Operator):
            kind = f"stub_{target}"
            aten = (AtenRule((target,), lambda ctx, node: "", annotation),)

        monkeypatch.setitem(REGISTRY, Stub.kind, Stub())

    return declare


def test_members_of_a_list_share_one_scale_with_the_output(declared: Callable[..., None]) -> None:
    declared("cat.default", Annotation(("tensors",), output="same"))
    model = Apply(lambda m, x: torch.cat([m.a(x), m.b(x), m.a(x)], 1), a=nn.Conv2d(3, 2, 3), b=nn.Conv2d(3, 2, 3))
    found = scales(quantize(model, images(1)[0], images(3)))
    assert found["conv2d"] == found["conv2d_1"] == found["conv2d_2"] == found["cat"]


def test_fixed_outputs_have_the_declared_scale(declared: Callable[..., None]) -> None:
    declared("sigmoid.default", Annotation(("self",), output=Fixed(1 / 256, -128)))
    model = Apply(lambda m, x: torch.sigmoid(m.conv(x)), conv=nn.Conv2d(3, 2, 3))
    assert scales(quantize(model, images(1)[0], images(3)))["sigmoid"] == (1 / 256, -128)


def test_readers_of_a_fixed_output_take_its_scale(declared: Callable[..., None]) -> None:
    declared("sigmoid.default", Annotation(("self",), output=Fixed(1 / 256, -128)))
    model = Apply(lambda m, x: m.fc(torch.sigmoid(m.conv(x)).flatten(1)), conv=nn.Conv2d(3, 2, 3), fc=nn.Linear(32, 3))
    found = scales(quantize(model, images(1)[0], images(3)))
    assert found["sigmoid"] == found["flatten"] == (1 / 256, -128)
    assert set(found) == {"inputs_0", "conv2d", "sigmoid", "flatten", "linear"}


def test_a_fixed_output_does_not_narrow_what_it_is_joined_with(declared: Callable[..., None]) -> None:
    declared("sigmoid.default", Annotation(("self",), output=Fixed(1 / 256, -128)))
    declared("cat.default", Annotation(("tensors",), output="same"))
    model = Apply(lambda m, x: torch.cat([torch.sigmoid(x), x * 3], 1))
    found = scales(quantize(model, images(1)[0], images(3)))
    assert found["sigmoid"] == (1 / 256, -128)
    assert found["cat"] == found["mul"]
    assert found["cat"][0] > 1 / 64


@pytest.mark.filterwarnings("ignore:output 1")
def test_integers_are_left_alone(declared: Callable[..., None]) -> None:
    declared("add.Tensor", Annotation(("self", "other")))
    model = Apply(lambda m, x, i: (m.fc(x), i + i), fc=nn.Linear(4, 4))
    program = quantize(
        model,
        (torch.randn(1, 4), torch.ones(3, dtype=torch.int32)),
        [(torch.randn(1, 4), torch.ones(3, dtype=torch.int32))],
    )
    (add,) = [n for n in program.graph.nodes if target_name(n) == "add.Tensor"]
    assert all(isinstance(a, Node) and a.op == "placeholder" for a in add.args)


def test_shared_layer_is_quantised_once_for_each_use() -> None:
    model = Apply(lambda m, x: m.fc(torch.relu(m.fc(x))), fc=nn.Linear(4, 4))
    program = quantize(model, (torch.randn(2, 4),), [(torch.randn(2, 4),)] * 3)
    weights = [v for n, v in program.state_dict.items() if "frozen" in n and v.dtype == torch.int8]
    assert len({tuple(w.flatten().tolist()) for w in weights}) == 1


# --- observers


def test_activation_scale_has_no_floor_worth_noticing() -> None:
    observer = ActivationObserver(dtype=torch.int8, quant_min=-128, quant_max=127, qscheme=torch.per_tensor_affine)
    observer(torch.tensor([-1e-4, 1e-4]))
    assert float(observer.calculate_qparams()[0]) == pytest.approx(2e-4 / 255)


def test_dead_tensor_has_a_moderate_scale() -> None:
    observer = ActivationObserver(dtype=torch.int8, quant_min=-128, quant_max=127, qscheme=torch.per_tensor_affine)
    observer(torch.zeros(4))
    scale, zero_point = observer.calculate_qparams()
    assert (float(scale), int(zero_point)) == (DEAD_SCALE, 0)


def test_dead_channel_does_not_get_a_scale_near_zero() -> None:
    observer = WeightObserver(
        dtype=torch.int8, quant_min=-127, quant_max=127, qscheme=torch.per_channel_symmetric, ch_axis=0
    )
    observer(torch.tensor([[1.0, -1.27], [0.0, 0.0], [1e-9, 0.0]]))
    scale, zero_point = observer.calculate_qparams()
    assert scale.tolist() == pytest.approx([0.01, 0.01 / 4096, 0.01 / 4096])
    assert not zero_point.any()


# --- calibration errors


def refusal(batches: Any, model: nn.Module | None = None, example: tuple[Tensor, ...] | None = None) -> str:
    with pytest.raises(RushlightError) as caught:
        quantize(model or seeded(), example or images(1)[0], batches)
    message = str(caught.value)
    assert "\n" not in message
    return message


X = torch.zeros(1, 3, 6, 6)


@pytest.mark.parametrize(
    ("batches", "wanted"),
    [
        ([], "calibration_batches is empty"),
        (X, "calibration_batches is one tensor"),
        ([X], "calibration batch 0 is one tensor"),
        ([(X,), (X, X, X)], "calibration batch 1 has 3 inputs, the model takes 1"),
        ([(X, torch.zeros(1))], "leave labels out"),
        ([(X[:, :2],)], "calibration batch 0, input 0 is [1, 2, 6, 6], example_inputs has [1, 3, 6, 6]"),
        ([(X.permute(0, 2, 3, 1),)], "another layout"),
        ([(X.to(torch.uint8),)], "is uint8, example_inputs has float32"),
        ([(X.double(),)], "is float64"),
        ([(X,), (X * float("nan"),)], "calibration batch 1, input 0 holds NaN or infinity (108 of 108 values)"),
        ([(X / 0 + float("inf"),)], "holds NaN or infinity"),
        ([(X[:0],)], "calibration batch 0[0] is empty: float32[0, 3, 6, 6]"),
        ([(X[0],)], "its first dimension is missing: x.unsqueeze(0)"),
        (None, "calibration_batches is a NoneType; pass a list"),
    ],
)
def test_ill_fitting_calibration_data(batches: Any, wanted: str) -> None:
    assert wanted in refusal(batches)


def test_tensor_that_turns_infinite_is_named() -> None:
    model = Apply(lambda m, x: m.b(m.a(x) * float("inf")), a=nn.Linear(4, 4), b=nn.Linear(4, 2))
    message = refusal([(torch.ones(1, 4),)], model, (torch.ones(1, 4),))
    assert "aten.mul.Tensor" in message
    assert "test_quantize.py:" in message
    assert "infinite during calibration" in message or "NaN during calibration" in message


def test_tensor_that_calibration_never_reached_is_named_by_hand_too() -> None:
    prepared = prepare_pt2e(capture(seeded(), images(1)[0]).module(check_guards=False), RushlightQuantizer())
    with pytest.raises(RushlightError, match=r"calibration never reached it"):
        convert_pt2e(prepared)


def test_different_scaling_than_the_examples_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"calibration data of input 0 lies in .*0\.\.255 or 0\.\.1"):
        quantize(seeded(), (torch.rand(1, 3, 6, 6),), [(torch.rand(1, 3, 6, 6) * 255,)])


def test_a_saved_programs_own_examples_show_how_it_expects_its_data() -> None:
    program = torch.export.export(seeded().eval(), (torch.rand(1, 3, 6, 6),))
    with pytest.warns(RushlightWarning, match=r"calibration data of input 0 lies in .*0\.\.255 or 0\.\.1"):
        quantize_program(program, [(torch.rand(1, 3, 6, 6) * 255,)])


def test_constant_input_is_warned_of() -> None:
    with pytest.warns(RushlightWarning, match=r"calibration data of input 0 is 0\.5 throughout") as caught:
        quantize(seeded(), images(1)[0], [(torch.full((1, 3, 6, 6), 0.5),)] * 2)
    assert [w.filename for w in caught] == [__file__], "it points at the line of the user's that calls quantize"


def test_a_single_number_from_a_single_batch_is_no_constant_output() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize(nn.Linear(4, 1), (torch.rand(1, 4),), [(torch.rand(1, 4),)])


def test_a_program_that_is_quantised_already_is_refused() -> None:
    program = quantize(seeded(), images(1)[0], images(2))
    with pytest.raises(RushlightError, match="quantised already"):
        quantize_program(program, images(2))


def test_constant_output_is_warned_of() -> None:
    model = seeded()
    nn.init.zeros_(model.fc.weight)
    nn.init.zeros_(model.fc.bias)
    with pytest.warns(UserWarning, match="output 0 is 0 for all calibration data"):
        quantize(model, images(1)[0], images(2))


def test_ordinary_calibration_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quantize(seeded(), images(1)[0], images(2))


# --- norms that prepare_pt2e folded itself


def test_fold_by_pt2e_that_may_be_wrong_is_recognised() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        y = m.conv(x)
        return m.bn(y) + y  # type: ignore[no-any-return]

    model = Apply(function, conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)).eval()
    x = images(1)[0]
    program = torch.export.export(model, x)
    with pytest.warns(UserWarning, match="folded batch norm 'bn'"):
        prepared = prepare_pt2e(program.module(check_guards=False), RushlightQuantizer())
    prepared(*x)
    converted = torch.export.export(convert_pt2e(prepared), x)
    (note,) = notes_of(converted.graph)
    assert note.kind == "warning"
    assert "'conv'" in note.where


def test_fold_by_pt2e_of_a_plain_net_is_not_warned_of() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()
    program = torch.export.export(model, images(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        prepare_pt2e(program.module(check_guards=False), RushlightQuantizer())
