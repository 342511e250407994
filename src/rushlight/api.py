"""The public functions: quantize, compile, and what a compiled model can do."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushlight.errors import RushlightError
from rushlight.graph import Graph
from rushlight.ops.interpreter import run_graph
from rushlight.report import Report
from rushlight.run.samples import InputSpec, join_outputs, split_inputs
from rushlight.schedule import Schedule
from rushlight.target import Target

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from rushlight.firmware import Firmware

Array = NDArray[Any]
IO = Literal["float", "int8"]
Layout = Literal["nchw", "nhwc"]


class CompiledModel:
    """A model compiled for one target: made by ``rushlight.compile``.

    ``graph`` is the integer graph, ``schedule`` the calls with their memory plan, ``target`` the core and board.
    """

    def __init__(self, graph: Graph, schedule: Schedule, target: Target) -> None:
        self.graph = graph
        self.schedule = schedule
        self.target = target
        self._firmware: Firmware | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        #: Instructions of each sample of the last ``run`` in the emulator; empty before and for the host.
        self.instructions: list[int] = []
        #: Deepest stack in bytes of the last ``run`` in the emulator.
        self.stack_bytes = 0

    def report(self) -> Report:
        """Layers, kernels, memory and everything the compiler did that you should know of; print it.

        After a ``build``, or a ``run`` in the emulator, also the exact sizes of the program and the compiler that built it.
        """
        report = Report.from_schedule(self.schedule)
        built = self._firmware
        return report if built is None else report.with_build(built.sections, built.toolchain.version)

    def reference(self, *inputs: ArrayLike) -> Array | tuple[Array, ...]:
        """Outputs of the NumPy integer reference, the specification of what every chip answers.

        Each input has its shape as compiled, or one more leading axis (samples), or, where the first dimension was
        compiled as 1, any number there. dtype float32, or int8 for an int8 program. One output is returned as it is,
        several as a tuple.
        """
        specs = [InputSpec(n, self.graph[n].shape, str(self.graph[n].dtype)) for n in self.graph.inputs]
        samples, shape = split_inputs(specs, [_array(x) for x in inputs])
        results = [tuple(run_graph(self.graph, sample)) for sample in samples]
        return _one_or_all(join_outputs(results, shape))

    def run(
        self,
        *inputs: ArrayLike,
        on: Literal["qemu", "host"] = "qemu",
        toolchain: str | None = None,
        timeout_s: float = 120.0,
        icount: bool = True,
    ) -> Array | tuple[Array, ...]:
        """Outputs of the compiled C: the firmware in the emulator, or the same C built natively.

        Inputs and outputs as for ``reference``. ``toolchain``: "gcc", "clang", "zig" or the first one found.
        ``timeout_s``: seconds for all samples. ``icount``: count instructions, which takes the emulator about twice the time.
        After a run in the emulator ``instructions`` and ``stack_bytes`` hold what was counted.
        """
        from rushlight.run import run_folder

        result = run_folder(
            self._written(), [_array(x) for x in inputs], on, toolchain=toolchain, timeout_s=timeout_s, icount=icount
        )
        self.instructions, self.stack_bytes = result.instructions, result.stack_bytes
        self._firmware = result.firmware or self._firmware
        return _one_or_all(result.outputs)

    def build(self, toolchain: str | None = None) -> None:
        """Builds the program for the chip, so that ``report`` has its exact sizes; ``run`` in the emulator does so too.

        ``toolchain``: "gcc", "clang", "zig" or the first one found. RushlightError if there is none, or if the program
        does not fit the board: which region, by how many bytes.
        """
        from rushlight.firmware import build_firmware

        self._firmware = build_firmware(self._written(), self.target, toolchain=toolchain)

    def _written(self) -> Path:
        """The program as a folder of C that lasts as long as this object."""
        if self._folder is None:
            folder = tempfile.TemporaryDirectory(prefix="rushlight-")
            self.write_c(Path(folder.name) / self.graph.name)
            self._folder = folder
        return Path(self._folder.name) / self.graph.name

    def as_torch(self) -> torch.nn.Module:
        """The integer reference as an ``nn.Module`` that takes and gives tensors."""
        from rushlight.integrations.torch_module import ReferenceModule

        return ReferenceModule(self)

    def write_c(self, folder: str | Path) -> None:
        """Writes a folder that builds without Python: sources, kernels used, board files, Makefile, example main.

        RushlightError if the folder exists and holds something that Rushlight did not write.
        """
        from rushlight.emit import write_c
        from rushlight.firmware import copy_board

        write_c(self.schedule, Path(folder), copy_board=copy_board)


def compile(
    program: ExportedProgram | str | Path,
    target: str | Path,
    *,
    name: str = "net",
    io: IO = "float",
    layout: Layout = "nchw",
    keep_dead_channels: bool = False,
) -> CompiledModel:
    """Compiles a quantised program for a target.

    ``program``: an ExportedProgram with q/dq operators (from ``rushlight.quantize`` or any PT2E flow), or the path of a
    ``.pt2`` file of one. ``target``: a core ("cortex-m4"), a board ("mps2-an386") or the path of a ``board.toml``.
    ``name``: prefix of the emitted C functions. ``io``: "float" takes and gives float32; "int8" takes and gives
    integers with the scale and zero point that the report states. ``layout``: order of rank-4 inputs and outputs.
    ``keep_dead_channels``: keep channels of layers that can only have one value; else they are folded into what reads
    them, which changes no output, and the report says how many.

    Raises RushlightError (one line: what, where, why, what next); UnsupportedError for operators without a kernel.
    """
    from rushlight.emit import check_model_name
    from rushlight.frontend import import_program, load_pt2
    from rushlight.passes import lower
    from rushlight.target import resolve

    where = resolve(target)
    if isinstance(program, str | Path):
        program = load_pt2(program)
    if not hasattr(program, "graph_signature"):
        raise RushlightError(
            f"compile takes a quantised ExportedProgram or the path of a .pt2 file, not a {type(program).__name__}; "
            "rl.quantize(model, example_inputs, calibration_batches) makes one"
        )
    if io not in ("float", "int8") or layout not in ("nchw", "nhwc"):
        raise RushlightError(f"io='{io}', layout='{layout}': io is 'float' or 'int8', layout is 'nchw' or 'nhwc'")
    imported = import_program(program, check_model_name(name))
    graph = lower(imported, io=io, layout=layout, keep_dead_channels=keep_dead_channels)
    return _schedule(graph, where)


#: Flash kept free for code when a bare core's board is chosen: kernels of a large net and start-up take less.
_CODE_RESERVE = 32 * 1024


def _schedule(graph: Graph, target: Target) -> CompiledModel:
    """Schedules an integer graph; a bare Armv6-M core whose emulated board is too small gets the next larger one."""
    from rushlight.schedule import DoesNotFit, make_schedule
    from rushlight.target import fallbacks

    *smaller, last = fallbacks(target)
    for candidate in smaller:
        try:
            schedule = make_schedule(graph, candidate)
        except DoesNotFit:
            continue
        if schedule.constant_bytes + schedule.parameter_bytes + _CODE_RESERVE <= candidate.board.rom.size:
            return CompiledModel(graph, schedule, candidate)
    return CompiledModel(graph, make_schedule(graph, last), last)


def _array(value: ArrayLike) -> Array:
    """An array from whatever the user gives; tensors lose their gradient."""
    detach = getattr(value, "detach", None)
    try:
        return np.asarray(detach().cpu() if detach is not None else value)
    except (TypeError, ValueError) as error:  # bfloat16 tensors, ragged lists
        kind = str(getattr(value, "dtype", type(value).__name__))
        raise RushlightError(f"an input ({kind}) is no NumPy array: {error}; give float32 arrays or tensors") from None


def _one_or_all(outputs: Sequence[Array]) -> Array | tuple[Array, ...]:
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
