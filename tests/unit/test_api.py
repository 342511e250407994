"""The public functions: what they take, how samples are stacked, and one line for whatever does not fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram

import rushlight as rl
from rushlight.ops.base import Array


class Net(nn.Module):
    """An image [1, 3, 6, 5] and a vector [1, 4] → class scores [1, 7] and a map [1, 2, 6, 5]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3, padding=1)
        self.fc = nn.Linear(4, 7)

    def forward(self, image: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
        mapped = torch.relu(self.conv(image))
        return self.fc(vector) + mapped.mean((1, 2, 3)).reshape(-1, 1), mapped


class One(nn.Module):
    """[1, 3, 6, 5] → [1, 2, 6, 5]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv(x)
        return y


def inputs(samples: int = 1, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn((samples, 3, 6, 5), generator=generator), torch.randn((samples, 4), generator=generator)


@cache
def quantized() -> ExportedProgram:
    torch.manual_seed(0)
    return rl.quantize(Net().eval(), inputs(), [inputs(8, seed) for seed in range(4)])


@cache
def quantized_one() -> ExportedProgram:
    torch.manual_seed(0)
    return rl.quantize(One().eval(), inputs()[:1], [inputs(8)[:1]])


@cache
def compiled() -> rl.CompiledModel:
    return rl.compile(quantized(), target="cortex-m4")


@cache
def compiled_one() -> rl.CompiledModel:
    return rl.compile(quantized_one(), target="cortex-m4")


def reference(*arrays: Any) -> tuple[Array, ...]:
    found = compiled().reference(*arrays)
    assert isinstance(found, tuple)
    return found


# --- what is returned


def test_several_inputs_are_positional_and_several_outputs_a_tuple() -> None:
    scores, mapped = reference(*inputs())
    assert (scores.shape, mapped.shape) == ((1, 7), (1, 2, 6, 5))
    assert scores.dtype == mapped.dtype == np.float32
    assert compiled().graph.inputs == ("image", "vector")
    assert compiled().graph.outputs == ("output_0", "output_1")


def test_one_output_is_no_tuple() -> None:
    found = compiled_one().reference(inputs()[0])
    assert isinstance(found, np.ndarray) and found.shape == (1, 2, 6, 5)


def test_samples_stacked_in_front_or_along_the_batch_give_the_same_answers() -> None:
    image, vector = inputs(5)
    one_by_one = [reference(image[i : i + 1], vector[i : i + 1]) for i in range(5)]
    batched = reference(image, vector)
    stacked = reference(image[:, None], vector[:, None])
    for output in range(2):
        expected = np.concatenate([answers[output] for answers in one_by_one])
        np.testing.assert_array_equal(batched[output], expected)
        np.testing.assert_array_equal(stacked[output], expected[:, None])
    assert len({y.tobytes() for y in batched[0]}) == 5


def test_host_and_emulator_take_and_give_arrays_as_the_reference_does() -> None:
    for arrays in (inputs(), inputs(3), tuple(x[:, None] for x in inputs(2))):
        expected = reference(*arrays)
        for found in (compiled().run(*arrays, on="host"), compiled().run(*arrays, on="qemu")):
            assert isinstance(found, tuple)
            for y, e in zip(found, expected, strict=True):
                np.testing.assert_array_equal(y, e)
                assert y.dtype == e.dtype
    assert len(compiled().instructions) == 2 and compiled().stack_bytes > 0


def test_no_instructions_are_left_from_an_earlier_run_after_one_on_the_host() -> None:
    compiled().run(*inputs(), on="qemu")
    compiled().run(*inputs(), on="host")
    assert compiled().instructions == [] and compiled().stack_bytes == 0


def test_an_output_without_a_batch_dimension_is_stacked() -> None:
    class Pooled(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(x).mean((2, 3)).flatten()  # [3]

    x = inputs()[:1]
    flat = rl.compile(rl.quantize(Pooled().eval(), x, [x]), target="cortex-m4")
    one, many = flat.reference(*x), flat.reference(*inputs(4)[:1])
    assert isinstance(one, np.ndarray) and isinstance(many, np.ndarray)
    assert (one.shape, many.shape) == ((3,), (4, 3))


class Sharing(nn.Module):
    """Returns an input, one result twice, a view of it, something computed from it, and a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3, padding=1)
        self.register_buffer("constant", torch.tensor([1.0, -2.5]))

    def forward(self, x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
        y = torch.relu(self.conv(x))
        return z, y, y, y.flatten(1), torch.sigmoid(y), z.reshape(2, 2), self.get_buffer("constant") * 1.0


@pytest.mark.parametrize("io", ["float", "int8"])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.filterwarnings("ignore:output 6")
def test_outputs_that_share_bytes_or_are_inputs_have_buffers_of_their_own(io: Any, layout: Any) -> None:
    model = rl.compile(rl.quantize(Sharing().eval(), inputs(), [inputs(8)]), target="cortex-m4", io=io, layout=layout)
    rng = np.random.default_rng(0)
    arrays = [(rng.standard_normal(model.graph[n].shape) * 50).astype(model.graph[n].dtype) for n in model.graph.inputs]
    expected = model.reference(*arrays)
    assert isinstance(expected, tuple) and len(expected) == 7
    np.testing.assert_array_equal(expected[1], expected[2])
    if io == "int8":  # as floats, the view alone is quantised
        np.testing.assert_array_equal(expected[5].ravel(), expected[0].ravel())
    for on in ("host", "qemu"):
        for y, e in zip(model.run(*arrays, on=on), expected, strict=True):
            np.testing.assert_array_equal(y, e)
    assert len(set(model.graph.outputs)) == 7


def test_tensors_with_gradients_and_arrays_in_any_order_are_taken() -> None:
    image, vector = inputs()
    expected = reference(image, vector)
    turned = np.asfortranarray(image.numpy())
    for y, e in zip(reference(nn.Parameter(image), vector.clone().requires_grad_()), expected, strict=True):
        np.testing.assert_array_equal(y, e)
    for y, e in zip(reference(turned, vector.numpy()[:, ::-1][:, ::-1]), expected, strict=True):
        np.testing.assert_array_equal(y, e)


def test_as_torch_is_the_reference_as_a_module() -> None:
    module = compiled().as_torch()
    found = module(*inputs(3))
    assert isinstance(module, nn.Module) and isinstance(found, tuple)
    for y, e in zip(found, reference(*inputs(3)), strict=True):
        assert isinstance(y, Tensor) and not y.requires_grad
        np.testing.assert_array_equal(y.numpy(), e)
    assert isinstance(compiled_one().as_torch()(inputs()[0]), Tensor)


def test_int8_program_takes_and_gives_integers() -> None:
    model = rl.compile(quantized_one(), target="cortex-m4", io="int8")
    name, output = model.graph.inputs[0], model.graph.outputs[0]
    q, qy = model.graph[name].q, model.graph[output].q
    x = inputs()[0].numpy()
    x8 = np.clip(np.rint(x / np.float32(q.s)) + q.z, -128, 127).astype(np.int8)
    y8, y = model.reference(x8), compiled_one().reference(x)
    assert isinstance(y8, np.ndarray) and y8.dtype == np.int8
    np.testing.assert_array_equal((y8.astype(np.int32) - qy.z).astype(np.float32) * np.float32(qy.s), y)


def test_a_program_may_come_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "net.pt2"
    torch.export.save(quantized_one(), file)
    x = inputs()[0]
    for program in (file, str(file)):
        np.testing.assert_array_equal(rl.compile(program, target="cortex-m4").reference(x), compiled_one().reference(x))


def test_the_same_program_compiles_to_the_same_bytes(tmp_path: Any) -> None:
    for name in ("a", "b"):
        rl.compile(quantized(), target="cortex-m55").write_c(tmp_path / name)
    files = sorted(f.relative_to(tmp_path / "a") for f in (tmp_path / "a").rglob("*") if f.is_file())
    assert len(files) > 10
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


# --- what is refused


def line_of(call: Callable[[], object]) -> str:
    with pytest.raises(rl.RushlightError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("target", ["cortex-m9", "", "mps2", 5])
def test_a_target_that_does_not_exist(target: Any) -> None:
    assert "`rushlight targets` lists the known ones" in line_of(lambda: rl.compile(quantized(), target=target))


@pytest.mark.parametrize("options", [{"io": "int16"}, {"layout": "NHWC"}, {"io": None}])
def test_an_option_that_does_not_exist(options: Any) -> None:
    said = line_of(lambda: rl.compile(quantized(), target="cortex-m4", **options))
    assert "io is 'float' or 'int8', layout is 'nchw' or 'nhwc'" in said


@pytest.mark.parametrize("name", ["int", "2net", "my net", "", "rl_net"])
def test_a_name_that_is_none_in_c(name: str) -> None:
    assert "cannot be used in C" in line_of(lambda: rl.compile(quantized(), target="cortex-m4", name=name))


def test_a_float_program() -> None:
    program = torch.export.export(One().eval(), inputs()[:1])
    assert "the program is not quantised" in line_of(lambda: rl.compile(program, target="cortex-m4"))


@pytest.mark.parametrize("thing", [One(), None, 3.0, np.zeros(3)], ids=lambda t: type(t).__name__)
def test_what_is_no_program(thing: Any) -> None:
    said = line_of(lambda: rl.compile(thing, target="cortex-m4"))
    assert f"not a {type(thing).__name__}; rl.quantize" in said


def test_a_file_that_does_not_exist_or_is_damaged(tmp_path: Any) -> None:
    assert "nope.pt2 does not exist" in line_of(lambda: rl.compile(tmp_path / "nope.pt2", target="cortex-m4"))
    bad = tmp_path / "bad.pt2"
    bad.write_bytes(b"PK\x03\x04 and then nothing")
    assert "bad.pt2" in line_of(lambda: rl.compile(bad, target="cortex-m4"))


X = inputs()[0].numpy()


@pytest.mark.parametrize("where", ["reference", "host", "qemu"])
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((), "the model has 1 input, 0 were given; it takes 'x' (float32 [1, 3, 6, 5])"),
        ((X, X), "the model has 1 input, 2 were given"),
        ((X.astype(np.float64),), "input 'x' is of dtype float64, not float32; use .astype"),
        ((X.astype(np.int8),), "input 'x' is of dtype int8, not float32"),
        ((X[0],), "input 'x' has shape [3, 6, 5], not [1, 3, 6, 5] or [samples, 1, 3, 6, 5]"),
        ((X[..., :4],), "input 'x' has shape [1, 3, 6, 4]"),
        ((X.transpose(0, 2, 3, 1),), "it looks like NHWC data for an NCHW input: transpose it (to run on"),
        ((X[:0],), "the inputs hold no sample"),
        (([[1.0], [2.0, 3.0]],), "an input (list) is no NumPy array"),
        ((inputs()[0].to(torch.bfloat16),), "an input (torch.bfloat16) is no NumPy array"),
    ],
    ids=["none", "two", "float64", "int8", "rank", "width", "NHWC", "empty", "ragged", "bfloat16"],
)  # fmt: skip
def test_inputs_that_do_not_fit(where: str, arrays: tuple[Any, ...], message: str) -> None:
    model = compiled_one()
    run: dict[str, Callable[[], object]] = {
        "reference": lambda: model.reference(*arrays),
        "host": lambda: model.run(*arrays, on="host"),
        "qemu": lambda: model.run(*arrays, on="qemu"),
    }
    assert message in line_of(run[where])


def test_nchw_data_for_an_nhwc_program() -> None:
    model = rl.compile(quantized_one(), target="cortex-m4", layout="nhwc")
    assert "it looks like NCHW data for an NHWC input" in line_of(lambda: model.reference(X))
    found, expected = model.reference(np.ascontiguousarray(X.transpose(0, 2, 3, 1))), compiled_one().reference(X)
    assert isinstance(found, np.ndarray) and isinstance(expected, np.ndarray)
    np.testing.assert_array_equal(found, expected.transpose(0, 2, 3, 1))


def test_inputs_that_are_not_as_many() -> None:
    image, vector = inputs(3)
    for arrays in ((image, vector[:2]), (image[:, None], vector)):
        said = line_of(lambda arrays=arrays: compiled().reference(*arrays))  # type: ignore[misc]
        assert "the inputs differ in their number of samples or in how they are stacked: 'image' 3, 'vector'" in said


def test_a_place_or_toolchain_that_does_not_exist() -> None:
    model = compiled_one()
    assert "it is 'qemu' or 'host'" in line_of(lambda: model.run(X, on="board"))  # type: ignore[arg-type]
    assert "it is one of gcc, clang, zig" in line_of(lambda: model.run(X, toolchain="icc"))
    assert "is for on='qemu'" in line_of(lambda: model.run(X, on="host", toolchain="gcc"))


def test_nan_and_infinite_inputs_answer_alike_everywhere() -> None:
    model = compiled_one()
    x = np.stack([X * np.float32(v) for v in (np.nan, np.inf, -np.inf, 1e30)])
    expected = model.reference(x)
    np.testing.assert_array_equal(model.run(x, on="host"), expected)
    np.testing.assert_array_equal(model.run(x, on="qemu"), expected)


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x))
        return torch.cumsum(x, 1)


def test_every_operator_without_a_kernel_is_named_with_its_module_and_line() -> None:
    x = inputs()[:1]
    with pytest.raises(rl.UnsupportedError) as caught:
        rl.compile(rl.quantize(Mixed().eval(), x, [x]), target="cortex-m4")
    norm, cumsum = caught.value.reasons
    first = Mixed.forward.__code__.co_firstlineno
    assert norm.startswith(f"aten.group_norm.default 'norm' (test_api.py:{first + 1}): no kernel; ")
    assert cumsum.startswith(f"aten.cumsum.default the model's forward (test_api.py:{first + 2}): no kernel; ")


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        y: Tensor = self.second(x)
        return y


class Partly(rl.RushlightQuantizer):
    """Leaves the second convolution alone."""

    def annotate(self, model: torch.fx.GraphModule) -> torch.fx.GraphModule:
        model = super().annotate(model)
        convolutions = [node for node in model.graph.nodes if "conv2d" in str(node.target)]
        convolutions[1].meta.pop("quantization_annotation")
        return model


def test_an_operator_that_was_left_out_of_quantisation_is_named_with_its_module_and_line() -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    x = inputs()[:1]
    prepared = prepare_pt2e(rl.capture(Two().eval(), x).module(check_guards=False), Partly())
    prepared(*x)
    program = torch.export.export(convert_pt2e(prepared), x)
    with pytest.raises(rl.UnsupportedError) as caught:
        rl.compile(program, target="cortex-m4")
    (reason,) = caught.value.reasons
    line = Two.forward.__code__.co_firstlineno + 2
    assert reason.startswith(f"aten.conv2d.default 'second' (test_api.py:{line}): no integer form, ")
    assert reason.endswith("quantise it with rl.quantize or RushlightQuantizer")
