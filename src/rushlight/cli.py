"""The command line: one thin function a command."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rushlight.errors import RushlightError, RushlightWarning

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from rushlight.run.samples import InputSpec

_COMPILE = "rushlight compile net.pt2 --calibration data.npz --target cortex-m4 -o out/"
_RUN = "rushlight run out/ --inputs x.npz --on qemu -o y.npz"
_REPORT = "rushlight report out/"
_FILES = (
    'The files are written in Python by `torch.export.save(torch.export.export(model, (x,)), "net.pt2")` and '
    '`numpy.savez("data.npz", image=images)`, where `image` is the argument of the model\'s forward.'
)

app = typer.Typer(
    name="rushlight",
    epilog=f"Example: `{_COMPILE}`\n\nthen `{_RUN}` and `{_REPORT}`",
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    add_completion=False,
)

Toolchain = Annotated[
    str | None,
    typer.Option("--toolchain", help="Compiler for the chip: gcc, clang or zig; the first one found if not given."),
]
Build = Annotated[
    str | None,
    typer.Option("--toolchain", help="Also build the program with gcc, clang or zig, for its exact size."),
]
Folder = Annotated[Path, typer.Argument(help="A folder that `rushlight compile` wrote.")]


def _version(wanted: bool) -> None:
    if wanted:
        from rushlight.emit.program import rushlight_version

        typer.echo(f"rushlight {rushlight_version()}")
        raise typer.Exit


@app.callback()
def rushlight(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """PyTorch to Arm Cortex-M: compile a model, run it, see what it costs."""


@app.command(epilog=f"Example: `{_COMPILE}`\n\n{_FILES}")
def compile(
    program: Annotated[Path, typer.Argument(help="A .pt2 file: float (then --calibration is needed) or quantised.")],
    target: Annotated[str, typer.Option(help="A core, a board or a path to a board.toml; see `rushlight targets`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    calibration: Annotated[
        Path | None,
        typer.Option(help="An .npz with an array an input, named as the input, samples along the first dimension."),
    ] = None,
    name: Annotated[str, typer.Option(help="Prefix of the C functions.")] = "net",
    io: Annotated[Literal["float", "int8"], typer.Option(help="Element type of inputs and outputs.")] = "float",
    layout: Annotated[Literal["nchw", "nhwc"], typer.Option(help="Order of rank-4 inputs and outputs.")] = "nchw",
    keep_dead_channels: Annotated[
        bool, typer.Option("--keep-dead-channels", help="Keep channels of layers that can only have one value.")
    ] = False,
    toolchain: Build = None,
) -> None:
    """Quantise (if needed) and compile a .pt2 program to a folder of C."""
    from rushlight.api import compile as compile_program
    from rushlight.emit import check_free, check_model_name
    from rushlight.firmware import pick
    from rushlight.target import resolve

    # Whatever can be refused is, before minutes of calibration.
    resolve(target)
    check_model_name(name)
    check_free(output)
    if toolchain is not None:
        pick(toolchain)
    with _Progress(f"loading {program}") as progress:
        exported = _load(program, calibration, progress)
        progress.stage(f"compiling for {target}")
        compiled = compile_program(
            exported, target, name=name, io=io, layout=layout, keep_dead_channels=keep_dead_channels
        )
        if toolchain is not None:
            progress.stage(f"building with {toolchain}")
            compiled.build(toolchain)
        compiled.write_c(output)
    typer.echo(str(compiled.report()))
    typer.echo(f"written to {output}")


@app.command(epilog=f"Example: `{_RUN}`")
def run(
    folder: Folder,
    inputs: Annotated[Path, typer.Option(help="An .npz with an array an input, named as the input.")],
    on: Annotated[Literal["qemu", "host"], typer.Option(help="The emulator, or the same C built natively.")] = "qemu",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the outputs (.npz).")] = None,
    toolchain: Toolchain = None,
) -> None:
    """Run a compiled folder on inputs; torch is not needed."""
    from rushlight.run import input_specs, program_io, run_folder
    from rushlight.run.npz import check_writable, save_npz

    _, outputs = program_io(folder)
    arrays, _ = _samples(inputs, input_specs(folder))
    if output is not None:
        check_writable(output)
    with _Progress(f"building and running on {on}"):
        result = run_folder(folder, arrays, on, toolchain=toolchain)
    by_name = dict(zip(outputs, result.outputs, strict=True))
    for name, array in by_name.items():
        typer.echo(f"{name}: {array.dtype} {list(array.shape)}")
    if result.firmware is not None:
        typer.echo(f"built with {result.firmware.toolchain.version}")
    if result.instructions:
        typer.echo(
            f"{len(result.instructions)} runs, {max(result.instructions):,} instructions at most, "
            f"{result.stack_bytes:,} bytes of stack"
        )
    if output is not None:
        save_npz(output, by_name)
        typer.echo(f"written to {output}")


@app.command(epilog=f"Example: `{_REPORT}`\n\nor `{_REPORT} --json`")
def report(
    folder: Folder,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    toolchain: Build = None,
) -> None:
    """Show what a compiled folder holds: layers, kernels, memory, notes."""
    from rushlight.report import Report

    found = Report.from_folder(folder)
    if toolchain is not None:
        from rushlight.firmware import build_firmware
        from rushlight.run import folder_target

        with _Progress(f"building with {toolchain}"):
            built = build_firmware(folder, folder_target(folder), toolchain=toolchain)
        found = found.with_build(built.sections, built.toolchain.version)
    typer.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))


@app.command(epilog="Example: `rushlight targets`")
def targets() -> None:
    """List the cores and boards to compile for."""
    from rich.console import Console
    from rich.table import Table

    from rushlight.target import all_targets

    table = Table("target", "kernels, best first", "runs on", "RAM", "flash", "clock", box=None)
    for target in all_targets():
        board = target.board
        table.add_row(
            target.requested,
            " ".join(target.core.tiers),
            board.name,
            f"{board.ram.size // 1024} KiB",
            f"{board.rom.size // 1024} KiB",
            f"{board.clock_hz / 1e6:g} MHz",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


class _Progress:
    """What is being done, and a bar where its length is known: on a terminal, and nothing elsewhere."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(disable=not sys.stderr.isatty(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(title, total=None)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def stage(self, title: str) -> None:
        """Goes on to something else."""
        self._bar.reset(self._task, description=title, total=None)

    def step(self, done: int, total: int) -> None:
        """``done`` of ``total`` parts are done."""
        self._bar.update(self._task, completed=done, total=total)


def _load(path: Path, calibration: Path | None, progress: _Progress) -> ExportedProgram:
    """The program of a .pt2 file, quantised with the arrays of an .npz if there is one, a sample at a time."""
    from rushlight.frontend import load_pt2, program_inputs

    program = load_pt2(path)
    if calibration is None:
        return program
    import numpy as np
    import torch

    from rushlight.quantization import quantize_program
    from rushlight.run.samples import InputSpec

    _, samples = _samples(calibration, [InputSpec(*facts) for facts in program_inputs(program)])
    batches = [tuple(torch.from_numpy(np.ascontiguousarray(x)) for x in sample) for sample in samples]
    progress.stage(f"calibrating with {calibration}")
    return quantize_program(program, batches, progress=progress.step)


def _samples(path: Path, specs: Sequence[InputSpec]) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The arrays of an .npz that fit these inputs, as they are and a sample at a time."""
    from rushlight.run.npz import load_npz
    from rushlight.run.samples import split_inputs

    arrays = load_npz(path, [spec.name for spec in specs])
    try:
        return arrays, split_inputs(specs, arrays)[0]
    except RushlightError as error:
        raise RushlightError(f"{path}: {error}") from None


def main(arguments: Sequence[str] | None = None) -> None:
    """The ``rushlight`` command; ``arguments`` are the process's if not given.

    Exits with 2 on bad input, 130 when interrupted and 1 on an error of its own, each said on stderr in one line, or in a
    line an operator that is not supported. With RUSHLIGHT_DEBUG=1 set, an error of its own shows its traceback too.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names in the report may be of any alphabet
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RushlightWarning)
        code = _run(sys.argv[1:] if arguments is None else arguments)
    for warning in caught:
        _say(f"warning: {warning.message}")
    raise SystemExit(code)


def _run(arguments: Sequence[str]) -> int:
    """Runs a command, says what went wrong, and gives the exit code."""
    try:
        code = app(arguments or ["--help"], prog_name="rushlight", standalone_mode=False)
    except RushlightError as error:
        for line in str(error).splitlines():
            _say(line)
        return 2
    except typer.TyperException as error:  # wrong options
        context: Any = getattr(error, "ctx", None)
        what = error.format_message().replace("Value error, ", "").strip().rstrip(".")
        _say(f"{what}; `{context.command_path if context else 'rushlight'} --help` says more")
        return 2
    except KeyboardInterrupt:
        code = 130
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EMFILE, errno.ENOMEM):
            return _internal(error)
        _say(f"{error.strerror}{f': {error.filename}' if error.filename else ''}")
        return 2
    except Exception as error:
        return _internal(error)
    if code == 130:
        _say("interrupted")
    return code or 0


def _internal(error: Exception) -> int:
    if os.environ.get("RUSHLIGHT_DEBUG") == "1":
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    _say(f"internal error: {type(error).__name__}: {error}{where}; please report it (RUSHLIGHT_DEBUG=1 shows more)")
    return 1


def _say(line: str) -> None:
    typer.echo(f"rushlight: {' '.join(line.split())}", err=True)


if __name__ == "__main__":
    main()
