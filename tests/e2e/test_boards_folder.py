"""Running a compiled folder on arrays: shapes in and out, a user's own board, and what is said of wrong input."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.run import folder_target, program_io, run_folder
from rushlight.target import BOARDS_DIR, resolve
from tests.e2e.toy_folder import make_toy, toy_answers, toy_inputs


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_toy(tmp_path_factory.mktemp("folder") / "toy", resolve("cortex-m4"))


def test_one_sample_has_the_shapes_of_the_model(toy: Path) -> None:
    x, gain = toy_inputs(1)
    for on in ("host", "qemu"):
        y, half = run_folder(toy, [x[0], gain[0]], on).outputs
        assert (y.shape, y.dtype.name, half.shape, half.dtype.name) == ((1, 5), "int8", (1,), "float32")
        np.testing.assert_array_equal(y, toy_answers([x, gain])[0][0])


def test_names_of_inputs_and_outputs_are_told(toy: Path) -> None:
    assert program_io(toy) == (["x", "gain"], ["y", "half"])


@pytest.mark.parametrize("samples", [1, 7])
def test_a_leading_axis_is_that_of_samples(toy: Path, samples: int) -> None:
    inputs = toy_inputs(samples)
    for on in ("host", "qemu"):
        result = run_folder(toy, inputs, on)
        for got, expected in zip(result.outputs, toy_answers(inputs), strict=True):
            np.testing.assert_array_equal(got, expected)
        assert len(result.instructions) == (samples if on == "qemu" else 0)


def test_samples_may_lie_along_a_batch_axis_of_one(toy: Path) -> None:
    inputs = toy_inputs(3)
    result = run_folder(toy, [inputs[0][:, 0], inputs[1][:, 0]], "host")
    np.testing.assert_array_equal(result.outputs[0], toy_answers(inputs)[0][:, 0])
    np.testing.assert_array_equal(result.outputs[1], toy_answers(inputs)[1][:, 0])


def test_strided_arrays_run_alike(toy: Path) -> None:
    x, gain = toy_inputs(4)
    strided = np.concatenate([x, x], axis=2)[:, :, :5]
    assert not strided.flags.c_contiguous
    for got, expected in zip(run_folder(toy, [strided, gain], "host").outputs, toy_answers([x, gain]), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_without_counting_the_answers_are_the_same(toy: Path) -> None:
    inputs = toy_inputs(2)
    result = run_folder(toy, inputs, "qemu", icount=False)
    np.testing.assert_array_equal(result.outputs[0], toy_answers(inputs)[0])
    assert result.instructions == []
    assert result.stack_bytes > 0


def test_a_users_own_board_runs(tmp_path: Path) -> None:
    board = tmp_path / "my_board"
    shutil.copytree(BOARDS_DIR / "mps2-an386", board)
    for name, old, new in (("board.toml", "size = 0x00400000", "size = 0x00100000"), ("link.ld", "4M", "1M")):
        text = (board / name).read_text()
        assert old in text
        (board / name).write_text(text.replace(old, new))
    target = resolve(board / "board.toml")
    folder = make_toy(tmp_path / "toy", target)
    shutil.rmtree(board)  # the folder has all it needs
    np.testing.assert_array_equal(run_folder(folder, toy_inputs(2), "qemu").outputs[0], toy_answers(toy_inputs(2))[0])
    assert folder_target(folder).board.regions == target.board.regions


def test_a_board_without_an_emulator_says_so(tmp_path: Path) -> None:
    board = tmp_path / "my_board"
    shutil.copytree(BOARDS_DIR / "mps2-an386", board)
    text = (board / "board.toml").read_text()
    (board / "board.toml").write_text("\n".join(line for line in text.splitlines() if "machine" not in line))
    folder = make_toy(tmp_path / "toy", resolve(board / "board.toml"))
    with pytest.raises(RushlightError, match=r"board 'my_board' has no emulator: its board.toml has no key 'machine'"):
        run_folder(folder, toy_inputs(1), "qemu")


X, GAIN = toy_inputs(2)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([X], r"the model has 2 inputs, 1 were given; it takes 'x' \(int8 \[1, 5\]\), 'gain' \(float32 \[1\]\)"),
        ([X.astype(np.float32), GAIN], r"input 'x' is of dtype float32, not int8"),
        ([X, GAIN.astype(np.float64)], r"input 'gain' is of dtype float64, not float32"),
        ([X[:, :, :4], GAIN], r"input 'x' has shape \[2, 1, 4\], not \[1, 5\] or \[samples, 1, 5\]"),
        ([X[0, 0], GAIN], r"input 'x' has shape \[5\], not \[1, 5\]"),
        ([X, GAIN[:1]], r"the inputs differ in their number of samples or in how they are stacked: 'x' 2, 'gain' 1"),
        ([X, GAIN[0]], r"the inputs differ in their number of samples or in how they are stacked: 'x' 2, 'gain' 1"),
        ([X[:0], GAIN[:0]], r"the inputs hold no sample"),
    ],
)
def test_wrong_inputs_are_named(toy: Path, inputs: list[Any], message: str) -> None:
    with pytest.raises(RushlightError, match=message) as caught:
        run_folder(toy, inputs, "host")
    assert "\n" not in str(caught.value)


def test_unknown_place_to_run_is_one_line(toy: Path) -> None:
    with pytest.raises(RushlightError, match="cannot run on 'moon': it is 'qemu' or 'host'"):
        run_folder(toy, toy_inputs(1), "moon")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, r"program.json: was written in format 99, this version reads 1; compile the model again"),
        ({"format": None, "rushlight": "9.9"}, r"was written by Rushlight 9.9 in format None, this version reads 1"),
        ({"core": None}, r"program.json: key 'core' is missing or no text"),
        ({"core": "z80"}, r"program.json: unknown core 'z80'"),
        ({"inputs": None}, r"program.json: key 'inputs' is missing or malformed"),
        ({"outputs": [{"name": "y"}]}, r"program.json: key 'outputs' is missing or malformed"),
        ({"inputs": [{"name": "x", "shape": [0], "dtype": "int8"}]}, r"program.json: 'x' cannot be int8 \[0\]"),
        ({"inputs": [{"name": "x", "shape": [2], "dtype": "object"}]}, r"program.json: 'x' cannot be object \[2\]"),
    ],
)
def test_damaged_program_json_is_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder = make_toy(tmp_path / "toy", resolve("cortex-m4"))
    file = folder / "program.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(RushlightError, match=message) as caught:
        run_folder(folder, toy_inputs(1), "qemu")
    assert str(caught.value).endswith("compile the model again")


@pytest.mark.parametrize(
    ("text", "message"), [(None, "is not a compiled folder"), ("{", "cannot be read"), ("[]", "is not a JSON object")]
)
def test_a_folder_that_is_none_is_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "program.json").write_text(text)
    with pytest.raises(RushlightError, match=message):
        run_folder(tmp_path, [], "host")


def test_outputs_of_another_size_are_noticed(tmp_path: Path) -> None:
    folder = make_toy(tmp_path / "toy", resolve("cortex-m4"))
    file = folder / "program.json"
    program = json.loads(file.read_text())
    program["outputs"].pop()
    file.write_text(json.dumps(program))
    with pytest.raises(RushlightError, match=r"wrote 9 bytes for 1 samples of 5 bytes.*compile the model again"):
        run_folder(folder, toy_inputs(1), "host")


def test_a_toolchain_for_the_host_is_refused(toy: Path) -> None:
    with pytest.raises(RushlightError, match=r"toolchain 'gcc' is for on='qemu'"):
        run_folder(toy, toy_inputs(1), "host", toolchain="gcc")


def test_a_folder_that_cannot_be_built_in_says_so(tmp_path: Path) -> None:
    folder = make_toy(tmp_path / "toy", resolve("mps2-an386"))
    (folder / "build").write_text("in the way")
    with pytest.raises(RushlightError, match=r"cannot build in .*toy/build: .*; copy .*toy to where it can be written"):
        run_folder(folder, toy_inputs(1), "host")
