"""Import of exported programs: names, sources, constants, quantisation, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401  declares torch.ops.quantized_decomposed

from rushlight.capturing import capture
from rushlight.errors import RushlightError, UnsupportedError
from rushlight.frontend import import_program, load_pt2
from rushlight.frontend.names import Names, identifier
from rushlight.graph import DType, Graph
from rushlight.quantization import quantize

Q = torch.ops.quantized_decomposed


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(inplace=True))
        self.fc = nn.Linear(8, 3)

    def forward(self, features: Tensor) -> Tensor:
        y: Tensor = self.fc(self.block(features))
        return y


class Apply(nn.Module):
    def __init__(self, function: Callable[..., Any], **modules: nn.Module) -> None:
        super().__init__()
        for name, module in modules.items():
            setattr(self, name, module)
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


X = torch.randn(2, 6, generator=torch.Generator().manual_seed(0))


def seeded() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def exported(function: Callable[..., Any], x: Tensor = X, **modules: nn.Module) -> torch.export.ExportedProgram:
    return torch.export.export(Apply(function, **modules).eval(), (x,))


def refusal(program: torch.export.ExportedProgram) -> str:
    with pytest.raises(RushlightError) as caught:
        import_program(program)
    message = str(caught.value)
    assert len(message.splitlines()) == len(getattr(caught.value, "reasons", [""])), "one line for each thing refused"
    return message


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.ops]


# --- a whole net


def test_quantised_net_is_imported_with_its_scales_and_sources() -> None:
    program = quantize(seeded(), (X,), [(X,)])
    graph = import_program(program, "my net")
    assert graph.name == "my_net"
    assert graph.inputs == ("features",)
    assert graph.outputs == ("output",)
    (first, second) = [op for op in graph.ops if op.kind == "linear"]
    assert (first.source.module, second.source.module) == ("block.0", "fc")
    assert first.source.file == "test_frontend.py"
    assert first.source.line > 0
    assert first.source.target == "aten.linear.default"
    producers = graph.producers()
    for op in (first, second):
        for name in op.inputs:
            assert producers[name].kind == "dequantize"
    weight = graph[producers[first.inputs[1]].inputs[0]]
    assert (weight.dtype, weight.shape, weight.q.axis) == (DType.INT8, (8, 6), 0)
    assert weight.name == "linear_weight"
    assert weight.data is not None
    kept = program.state_dict
    stored = [v for v in kept.values() if v.dtype == torch.int8 and v.shape == (8, 6)]
    assert np.array_equal(weight.data, stored[0].numpy())
    bias = graph[producers[first.inputs[2]].inputs[0]]
    assert bias.dtype is DType.INT32
    x_scale = graph[producers[first.inputs[0]].inputs[0]].q.s
    assert bias.q.scale == pytest.approx(np.float32(x_scale) * np.array(weight.q.scale, np.float32), rel=1e-6)


def test_import_of_a_file_gives_the_same_graph(tmp_path: Path) -> None:
    program = quantize(seeded(), (X,), [(X,)])
    torch.export.save(program, tmp_path / "net.pt2")
    here, there = import_program(program), import_program(load_pt2(tmp_path / "net.pt2"))
    assert here.ops == there.ops
    assert list(here.tensors) == list(there.tensors)


def test_file_of_a_quantised_net_is_read_in_a_fresh_process(tmp_path: Path) -> None:
    torch.export.save(quantize(seeded(), (X,), [(X,)]), tmp_path / "net.pt2")
    code = "import sys; from rushlight.frontend import *; print(len(import_program(load_pt2(sys.argv[1])).ops))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "net.pt2")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3


def test_all_names_are_distinct_c_identifiers() -> None:
    graph = import_program(quantize(seeded(), (X,), [(X,)]))
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in graph.tensors)
    assert all(op.name == op.outputs[0] for op in graph.ops)


def test_notes_of_capture_reach_the_graph() -> None:
    image = X.reshape(1, 3, 2, 2)
    graph = import_program(quantize(nn.Sequential(nn.ReLU(), nn.BatchNorm2d(3)), (image,), [(image,)]))
    (note,) = graph.notes
    assert note.kind == "fold"
    assert "a depthwise 1x1 convolution" in note.text


@given(st.text(max_size=12))
def test_any_text_becomes_an_identifier(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", identifier(text))
    names = Names()
    assert names.new(text) != names.new(text)


# --- constants and no-ops


def test_operators_that_pass_on_their_input_leave_nothing() -> None:
    program = exported(lambda m, x: F.relu(x.contiguous().clone().detach().to(torch.float32)))
    assert kinds(import_program(program)) == ["clamp"]


def test_arithmetic_on_constants_is_done_at_import() -> None:
    program = exported(lambda m, x: F.linear(x, (m.fc.weight * 2).t()), fc=nn.Linear(4, 6))
    graph = import_program(program)
    assert kinds(graph) == ["linear"]
    data = graph[graph.ops[0].inputs[1]].data
    assert data is not None
    wanted = next(v for n, v in program.state_dict.items() if n.endswith("weight")) * 2
    assert np.array_equal(data, wanted.t().detach().numpy())


def test_nan_in_a_weight_is_refused_at_its_layer() -> None:
    layer = nn.Linear(6, 2)
    layer.weight.data[0, 0] = float("nan")
    message = refusal(exported(lambda m, x: m.fc(x), fc=layer))
    assert "aten.linear.default 'fc'" in message
    assert "holds NaN" in message


def test_complex_constant_is_refused() -> None:
    assert "complex64" in refusal(exported(lambda m, x: F.relu((x * torch.tensor([1j])).real)))


def test_constant_that_no_one_reads_is_not_kept() -> None:
    graph = import_program(exported(lambda m, x: m.a(x), a=nn.Linear(6, 2), b=nn.Linear(6, 99)))
    assert not any(99 in t.shape for t in graph.tensors.values())


def test_dead_operators_without_kernel_do_not_matter() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        torch.linalg.det(x[:, :2])
        return F.relu(x)

    assert kinds(import_program(exported(function))) == ["clamp"]


# --- programs that did not come from rushlight.capturing


def test_norms_and_in_place_forms_of_others_programs_are_rewritten() -> None:
    program = torch.export.export(seeded(), (X,))
    assert kinds(import_program(program)) == ["linear", "clamp", "linear"]


def test_a_write_into_a_buffer_is_refused() -> None:
    class Kept(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("h", torch.zeros(2, 6))

        def forward(self, x: Tensor) -> Tensor:
            self.get_buffer("h").add_(x)
            return x + self.get_buffer("h")

    assert "aten.add_.Tensor" in refusal(capture(Kept(), (X,)))
    assert "the program changes 'h'" in refusal(torch.export.export(Kept(), (X,)).run_decompositions({}))


# --- inputs and outputs


class Structured(nn.Module):
    def forward(self, float_: Tensor, pair: tuple[Tensor, Tensor], named: dict[str, Tensor]) -> Any:
        a, b = pair
        return {"sum": F.relu(float_ + a), "other": F.relu(b + named["c"])}


def test_nested_inputs_and_outputs_are_flattened_in_order() -> None:
    program = torch.export.export(Structured(), (X, (X, X), {"c": X}))
    graph = import_program(program)
    assert len(graph.inputs) == 4
    assert graph.inputs[0] == "float_"
    assert graph.outputs == ("sum", "other")


def test_keyword_as_argument_name_becomes_an_identifier() -> None:
    class Keyword(nn.Module):
        def forward(self, register: Tensor, default: Tensor) -> Tensor:
            return register + default

    assert import_program(torch.export.export(Keyword(), (X, X))).inputs == ("register_", "default_")


def test_several_outputs_one_of_them_used_inside_and_one_an_input() -> None:
    def function(m: Any, x: Tensor) -> Any:
        y = F.relu(x)
        return y, m.fc(y), x, y

    graph = import_program(exported(function, fc=nn.Linear(6, 2)))
    assert graph.outputs == ("output_0", "output_1", "x", "output_0")
    assert graph.ops[1].inputs[0] == "output_0"


@pytest.mark.parametrize("value", [3, None])
def test_output_that_is_no_tensor_is_refused(value: Any) -> None:
    assert f"output_1 is {value}, not a tensor" in refusal(exported(lambda m, x: (F.relu(x), value)))


def test_float64_input_is_refused() -> None:
    assert "input 'x' is float64" in refusal(exported(lambda m, x: x + 1, X.double()))


def test_dynamic_shape_is_refused() -> None:
    program = torch.export.export(seeded(), (X,), dynamic_shapes=({0: torch.export.Dim("batch", min=2)},))
    assert "input 'features' has a dynamic shape" in refusal(program)


# --- what has no kernel


def test_every_operator_without_kernel_is_listed_with_its_place() -> None:
    class Part(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cumsum(x, 1)

    program = exported(lambda m, x: torch.linalg.det(F.relu(m.part(x))[:, :2]), part=Part())
    with pytest.raises(UnsupportedError) as caught:
        import_program(program)
    reasons = caught.value.reasons
    assert len(reasons) >= 2
    assert re.match(r"aten\.cumsum\.default 'part' \(test_frontend\.py:\d+\): no kernel; ", reasons[0])
    assert any("det" in reason for reason in reasons)


def test_dropout_that_is_on_is_refused() -> None:
    assert "dropout" in refusal(torch.export.export(nn.Sequential(nn.Dropout(0.5)).train(), (X,)))


# --- other tools' quantisation


def _relu_u8(m: Any, x: Tensor) -> Tensor:
    q = Q.quantize_per_tensor(x, 0.02, 100, 0, 255, torch.uint8)
    y = F.relu(Q.dequantize_per_tensor(q, 0.02, 100, 0, 255, torch.uint8))
    q = Q.quantize_per_tensor(y, 0.01, 0, 0, 255, torch.uint8)
    return Q.dequantize_per_tensor(q, 0.01, 0, 0, 255, torch.uint8)  # type: ignore[no-any-return]


def test_uint8_activations_become_int8_exactly() -> None:
    graph = import_program(exported(_relu_u8))
    quantised = [t for t in graph.tensors.values() if t.dtype is DType.INT8]
    assert [(t.q.z, t.q.qmin, t.q.qmax) for t in quantised] == [(-28, -128, 127), (-128, -128, 127)]
    assert [t.q.s for t in quantised] == pytest.approx([0.02, 0.01])


def _weighted(weight: Tensor, zero_point: int, dtype: torch.dtype) -> torch.export.ExportedProgram:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", weight)

        def forward(self, x: Tensor) -> Tensor:
            info = torch.iinfo(dtype)
            w = Q.dequantize_per_tensor(self.get_buffer("w"), 0.1, zero_point, info.min, info.max, dtype)
            return F.linear(x, w)

    return torch.export.export(Layer(), (X,))


@pytest.mark.parametrize(
    ("values", "zero_point", "dtype"),
    [([0, 128, 255], 128, torch.uint8), ([-20, 5, 90], 5, torch.int8), ([10, 20, 30], 0, torch.uint8)],
)
def test_weights_with_a_zero_point_that_fit_are_converted_exactly(
    values: list[int], zero_point: int, dtype: torch.dtype
) -> None:
    graph = import_program(_weighted(torch.tensor([values * 2], dtype=dtype), zero_point, dtype))
    linear = next(op for op in graph.ops if op.kind == "linear")
    weight = graph[graph.producers()[linear.inputs[1]].inputs[0]]
    assert weight.data is not None
    assert weight.q.z == 0
    assert weight.dtype is DType.INT8
    assert weight.data.tolist() == [[v - zero_point for v in values * 2]]


def test_weights_with_a_zero_point_that_do_not_fit_are_refused() -> None:
    message = refusal(_weighted(torch.tensor([[-128, 127, 0, 0, 0, 0]], dtype=torch.int8), 60, torch.int8))
    assert "zero point 60" in message
    assert "symmetrically" in message


def test_float_constant_that_is_quantised_is_evaluated() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        q = Q.quantize_per_tensor(m.fc.weight, 0.01, 0, -127, 127, torch.int8)
        return F.linear(x, Q.dequantize_per_tensor(q, 0.01, 0, -127, 127, torch.int8))

    program = exported(function, fc=nn.Linear(6, 3))
    graph = import_program(program)
    assert kinds(graph) == ["dequantize", "linear"]
    data = graph[graph.ops[0].inputs[0]].data
    weight = next(v for n, v in program.state_dict.items() if n.endswith("weight"))
    wanted = Q.quantize_per_tensor(weight, 0.01, 0, -127, 127, torch.int8)
    assert np.array_equal(np.asarray(data), wanted.numpy())


def test_activation_quantised_per_channel_is_refused() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        s, z = torch.full((6,), 0.1), torch.zeros(6, dtype=torch.int64)
        q = Q.quantize_per_channel(x, s, z, 1, -128, 127, torch.int8)
        return F.relu(Q.dequantize_per_channel(q, s, z, 1, -128, 127, torch.int8))

    assert "quantised per channel" in refusal(exported(function))


def test_dynamic_quantisation_is_refused() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        s, z = Q.choose_qparams(x, -128, 127, 1e-5, torch.int8)
        q = Q.quantize_per_tensor(x, s, z, -128, 127, torch.int8)
        return F.relu(Q.dequantize_per_tensor(q, s, z, -128, 127, torch.int8))

    assert "run time" in refusal(exported(function))


def test_dequantising_with_another_scale_is_refused() -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        q = Q.quantize_per_tensor(x, 0.1, 0, -128, 127, torch.int8)
        return F.relu(Q.dequantize_per_tensor(q, 0.2, 0, -128, 127, torch.int8))

    assert "another scale" in refusal(exported(function))


@pytest.mark.parametrize("scale", [0.0, float("inf"), float("nan")])
def test_senseless_scale_is_refused(scale: float) -> None:
    def function(m: Any, x: Tensor) -> Tensor:
        q = Q.quantize_per_tensor(x, scale, 0, -128, 127, torch.int8)
        return F.relu(Q.dequantize_per_tensor(q, scale, 0, -128, 127, torch.int8))

    assert "its scale is" in refusal(exported(function))


@pytest.mark.filterwarnings("ignore:output 0")
def test_bias_that_was_clamped_to_32_bits_is_refused() -> None:
    model = nn.Sequential(nn.Linear(6, 3))
    nn.init.constant_(model.get_parameter("0.bias"), 1e6)
    nn.init.constant_(model.get_parameter("0.weight"), 1e-6)
    message = refusal(quantize(model, (X,), [(X,)]))
    assert "bias does not fit 32 bits" in message
    assert "'0'" in message


# --- files


def test_missing_file_folder_and_other_files(tmp_path: Path) -> None:
    other = tmp_path / "notes.pt2"
    other.write_text("hello")
    for path, wanted in [
        (tmp_path / "none.pt2", "does not exist"),
        (tmp_path, "is a folder"),
        (other, "is not a .pt2 file"),
    ]:
        with pytest.raises(RushlightError, match=wanted):
            load_pt2(path)


def test_damaged_file(tmp_path: Path) -> None:
    file = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(seeded(), (X,)), file)
    whole = file.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-30], whole[:1], b""):
        file.write_bytes(damaged)
        with pytest.raises(RushlightError) as caught:
            load_pt2(file)
        assert "\n" not in str(caught.value)
        assert "net.pt2" in str(caught.value)
    at = whole.index(b"linear")
    file.write_bytes(whole[:at] + b"LINEAR" + whole[at + 6 :])
    with pytest.raises(RushlightError, match="damaged"):
        load_pt2(file)


def test_zip_that_is_no_program(tmp_path: Path) -> None:
    torch.save({"a": X}, tmp_path / "weights.pt2")
    with pytest.raises(RushlightError, match=r"written by torch\.save"):
        load_pt2(tmp_path / "weights.pt2")
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("net/readme.txt", "hello")
    with pytest.raises(RushlightError, match=r"cannot be loaded: Expected hasRecord"):  # torch logs this
        load_pt2(tmp_path / "other.pt2")
