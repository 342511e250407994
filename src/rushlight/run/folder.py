"""Runs a compiled folder on arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.emit import read_program
from rushlight.errors import RushlightError
from rushlight.firmware import Firmware, build_firmware, build_host
from rushlight.run.host import run_host
from rushlight.run.qemu import emulator, run_qemu
from rushlight.run.samples import InputSpec, join_outputs, split_inputs
from rushlight.target import Target, cores, load_board

Array = NDArray[Any]

#: Element types of inputs and outputs.
_DTYPES = ("float32", "int8")


@dataclass(frozen=True)
class FolderResult:
    """Outputs of a run as arrays.

    Attributes:
        outputs: an array an output; samples are stacked as in the inputs.
        instructions: instructions of each sample's inference; empty on the host.
        stack_bytes: the deepest stack of an inference; 0 on the host.
        firmware: the program that ran in the emulator; None on the host.
    """

    outputs: tuple[Array, ...]
    instructions: list[int]
    stack_bytes: int
    firmware: Firmware | None


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
        inputs: an array an input, of its shape and dtype; or all with one more leading axis, that of samples; or with
            several samples along a batch axis that the model has as 1.
        on: ``qemu`` or ``host``.
        toolchain: for ``qemu`` alone: ``gcc``, ``clang``, ``zig``, or None for the first that is installed.
        timeout_s: seconds for all samples.
        icount: for ``qemu``: count instructions.

    Raises:
        RushlightError: the folder or an input is wrong, or building or running failed.
    """
    if on not in ("qemu", "host"):
        raise RushlightError(f"cannot run on '{on}': it is 'qemu' or 'host'")
    if on == "host" and toolchain is not None:
        raise RushlightError(
            f"toolchain '{toolchain}' is for on='qemu': the host's own C compiler builds what runs on it"
        )
    program = read_program(folder)
    specs = _specs(folder, program, "inputs")
    results = _specs(folder, program, "outputs")
    given, batching = split_inputs(specs, [np.asarray(array) for array in inputs])
    samples = [_blob(arrays) for arrays in given]
    size = sum(map(_nbytes, results))
    firmware = None
    if on == "host":
        run = run_host(build_host(folder), samples, size, timeout_s=timeout_s)
    else:
        target = folder_target(folder)
        emulator(target.board)  # before a minute of building
        firmware = build_firmware(folder, target, toolchain=toolchain)
        run = run_qemu(firmware.elf, target, samples, size, timeout_s=timeout_s, icount=icount)
    outputs = join_outputs([_arrays(blob, results) for blob in run.outputs], batching)
    return FolderResult(outputs, run.instructions, run.stack_bytes, firmware)


def folder_target(folder: Path) -> Target:
    """The core and board that a folder was compiled for; the board is the folder's own copy.

    Raises:
        RushlightError: the folder is not a compiled one.
    """
    program = read_program(folder)
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
    program = read_program(folder)
    inputs, outputs = (_specs(folder, program, key) for key in ("inputs", "outputs"))
    return [spec.name for spec in inputs], [spec.name for spec in outputs]


def input_specs(folder: Path) -> list[InputSpec]:
    """A compiled folder's inputs, in order.

    Raises:
        RushlightError: the folder is not a compiled one.
    """
    return _specs(folder, read_program(folder), "inputs")


def _key(folder: Path, program: dict[str, Any], key: str) -> str:
    value = program.get(key)
    if not isinstance(value, str):
        raise RushlightError(f"{folder / 'program.json'}: key '{key}' is missing or no text; compile the model again")
    return value


def _specs(folder: Path, program: dict[str, Any], key: str) -> list[InputSpec]:
    try:
        specs = [InputSpec(str(t["name"]), tuple(map(int, t["shape"])), str(t["dtype"])) for t in program[key]]
    except (KeyError, TypeError, ValueError) as error:
        raise RushlightError(
            f"{folder / 'program.json'}: key '{key}' is missing or malformed ({error}); compile the model again"
        ) from None
    for spec in specs:
        if spec.dtype not in _DTYPES or min(spec.shape, default=1) < 1:
            raise RushlightError(f"{folder / 'program.json'}: '{spec.name}' cannot be {spec}; compile the model again")
    return specs


def _nbytes(spec: InputSpec) -> int:
    return math.prod(spec.shape) * np.dtype(spec.dtype).itemsize


def _blob(arrays: Sequence[Array]) -> bytes:
    """The bytes of one sample's inputs, little-endian as on the chip."""
    return b"".join(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays)


def _arrays(blob: bytes, specs: Sequence[InputSpec]) -> list[Array]:
    """One sample's outputs out of its bytes."""
    arrays, start = [], 0
    for spec in specs:
        little = np.dtype(spec.dtype).newbyteorder("<")
        array = np.frombuffer(blob, little, math.prod(spec.shape), start).astype(spec.dtype)
        arrays.append(array.reshape(spec.shape))
        start += _nbytes(spec)
    return arrays
