"""Runs a compiled folder on arrays."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.errors import RushlightError
from rushlight.firmware import build_firmware, build_host
from rushlight.run.host import run_host
from rushlight.run.qemu import run_qemu
from rushlight.run.result import RunResult
from rushlight.target import Target, cores, load_board

Array = NDArray[Any]

#: Element types of inputs and outputs.
_DTYPES = ("float32", "int8")


@dataclass(frozen=True)
class TensorSpec:
    """An input or output of a program: name, shape with its batch axis, and element type."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


@dataclass(frozen=True)
class FolderResult:
    """Outputs of a run as arrays.

    Attributes:
        outputs: an array an output; with a leading axis of samples if the inputs had one.
        instructions: instructions of each sample's inference; empty on the host.
        stack_bytes: the deepest stack of an inference; 0 on the host.
    """

    outputs: tuple[Array, ...]
    instructions: list[int]
    stack_bytes: int


def run_folder(
    folder: Path,
    inputs: Sequence[Array],
    on: str,
    *,
    toolchain: str | None = None,
    timeout_s: float = 120.0,
    icount: bool = True,
) -> FolderResult:
    """Builds a compiled folder, if it is not yet, and runs it.

    Args:
        folder: what ``write_c`` wrote; the program is built in its ``build``.
        inputs: an array an input, of its shape and dtype; or all with one more leading axis, that of samples.
        on: ``qemu`` or ``host``.
        toolchain: for ``qemu``: ``gcc``, ``clang``, ``zig``, or None for the first that is installed.
        timeout_s: seconds for all samples.
        icount: for ``qemu``: count instructions.

    Raises:
        RushlightError: the folder or an input is wrong, or building or running failed.
    """
    if on not in ("qemu", "host"):
        raise RushlightError(f"cannot run on '{on}': it is 'qemu' or 'host'")
    program = _read_program(folder)
    specs = _specs(folder, program, "inputs")
    results = _specs(folder, program, "outputs")
    arrays, batched = _check_inputs(specs, inputs)
    samples = [b"".join(parts) for parts in zip(*(_blobs(array) for array in arrays), strict=True)]
    size = sum(spec.nbytes for spec in results)
    if on == "host":
        run = run_host(build_host(folder), samples, size, timeout_s=timeout_s)
    else:
        target = folder_target(folder)
        firmware = build_firmware(folder, target, toolchain=toolchain)
        run = run_qemu(firmware.elf, target, samples, size, timeout_s=timeout_s, icount=icount)
    return FolderResult(_split(run, results, batched), run.instructions, run.stack_bytes)


def folder_target(folder: Path) -> Target:
    """The core and board that a folder was compiled for; the board is the folder's own copy.

    Raises:
        RushlightError: the folder is not a compiled one.
    """
    program = _read_program(folder)
    core = cores().get(_key(folder, program, "core"))
    if core is None:
        raise RushlightError(f"{folder / 'program.json'}: unknown core '{program['core']}'; compile the model again")
    board = load_board(folder / "board" / "board.toml", name=_key(folder, program, "board"))
    return Target(core, board, _key(folder, program, "target"), "")


def program_io(folder: Path) -> tuple[list[str], list[str]]:
    """Names of a compiled folder's inputs and outputs, in order.

    Raises:
        RushlightError: the folder is not a compiled one.
    """
    program = _read_program(folder)
    inputs, outputs = (_specs(folder, program, key) for key in ("inputs", "outputs"))
    return [spec.name for spec in inputs], [spec.name for spec in outputs]


def _read_program(folder: Path) -> dict[str, Any]:
    file = folder / "program.json"
    try:
        program = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RushlightError(f"{folder} is not a compiled folder: it has no program.json") from None
    except (OSError, ValueError) as error:
        raise RushlightError(f"{file}: cannot be read: {error}; compile the model again") from None
    if not isinstance(program, dict):
        raise RushlightError(f"{file}: is not a JSON object; compile the model again")
    return program


def _key(folder: Path, program: dict[str, Any], key: str) -> str:
    value = program.get(key)
    if not isinstance(value, str):
        raise RushlightError(f"{folder / 'program.json'}: key '{key}' is missing or no text; compile the model again")
    return value


def _specs(folder: Path, program: dict[str, Any], key: str) -> list[TensorSpec]:
    try:
        specs = [TensorSpec(str(t["name"]), tuple(map(int, t["shape"])), str(t["dtype"])) for t in program[key]]
    except (KeyError, TypeError, ValueError) as error:
        raise RushlightError(
            f"{folder / 'program.json'}: key '{key}' is missing or malformed ({error}); compile the model again"
        ) from None
    for spec in specs:
        if spec.dtype not in _DTYPES or min(spec.shape, default=1) < 1:
            raise RushlightError(f"{folder / 'program.json'}: '{spec.name}' cannot be {spec}; compile the model again")
    return specs


def _check_inputs(specs: Sequence[TensorSpec], inputs: Sequence[Array]) -> tuple[list[Array], bool]:
    """The inputs with a leading axis of samples each, and whether they came with it."""
    if len(inputs) != len(specs):
        wanted = ", ".join(f"'{spec.name}' ({spec})" for spec in specs)
        raise RushlightError(f"the model has {len(specs)} inputs, {len(inputs)} were given: {wanted}")
    arrays: list[Array] = []
    counts: dict[str, int | None] = {}
    for spec, array in zip(specs, map(np.asarray, inputs), strict=True):
        if array.dtype != np.dtype(spec.dtype):
            raise RushlightError(f"input '{spec.name}' is of dtype {array.dtype}, not {spec.dtype}; use .astype")
        if array.shape == spec.shape:
            counts[spec.name] = None
            arrays.append(array[None])
        elif array.shape[1:] == spec.shape and array.ndim > len(spec.shape):
            counts[spec.name] = array.shape[0]
            arrays.append(array)
        else:
            raise RushlightError(
                f"input '{spec.name}' has shape {list(array.shape)}, not {list(spec.shape)} "
                f"or [samples, {', '.join(map(str, spec.shape))}]"
            )
    if len(set(counts.values())) > 1:
        said = ", ".join(f"'{name}' {'one' if count is None else count}" for name, count in counts.items())
        raise RushlightError(f"the inputs differ in their number of samples: {said}")
    count = next(iter(counts.values()), None)
    if count == 0:
        raise RushlightError("the inputs hold no sample")
    return arrays, count is not None


def _blobs(array: Array) -> list[bytes]:
    """The bytes of each sample, little-endian as on the chip."""
    contiguous = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return [sample.tobytes() for sample in contiguous]


def _split(run: RunResult, specs: Sequence[TensorSpec], batched: bool) -> tuple[Array, ...]:
    data = np.frombuffer(b"".join(run.outputs), dtype=np.uint8).reshape(len(run.outputs), -1)
    outputs, start = [], 0
    for spec in specs:
        part = np.ascontiguousarray(data[:, start : start + spec.nbytes])
        array = part.view(np.dtype(spec.dtype).newbyteorder("<")).astype(spec.dtype)
        array = array.reshape(len(run.outputs), *spec.shape)
        outputs.append(array if batched else array[0])
        start += spec.nbytes
    return tuple(outputs)
