"""The command line: one thin function a command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from rushlight.errors import RushlightError

app = typer.Typer(
    name="rushlight",
    help="PyTorch to Arm Cortex-M: compile a model, run it, see what it costs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    add_completion=False,
)

Toolchain = Annotated[
    str | None, typer.Option("--toolchain", help="gcc, clang or zig; the first one found if not given.")
]


@app.command(
    epilog="Example: `rushlight compile net.pt2 --calibration data.npz --target cortex-m4 -o out/`",
)
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
) -> None:
    """Quantise (if needed) and compile a .pt2 program to a folder of C."""
    from rushlight.api import compile as compile_program
    from rushlight.frontend import load_pt2
    from rushlight.target import resolve

    resolve(target)  # a wrong target is said before minutes of calibration
    exported = load_pt2(program)
    if calibration is not None:
        exported = _quantize(exported, calibration)
    compiled = compile_program(exported, target, name=name, io=io, layout=layout)
    compiled.write_c(output)
    typer.echo(str(compiled.report()))
    typer.echo(f"written to {output}")


@app.command(epilog="Example: `rushlight run out/ --inputs x.npz --on qemu -o y.npz`")
def run(
    folder: Annotated[Path, typer.Argument(help="A folder that `rushlight compile` wrote.")],
    inputs: Annotated[Path, typer.Option(help="An .npz with an array an input, named as the input.")],
    on: Annotated[Literal["qemu", "host"], typer.Option(help="The emulator, or the same C built natively.")] = "qemu",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the outputs (.npz).")] = None,
    toolchain: Toolchain = None,
) -> None:
    """Run a compiled folder on inputs; torch is not needed."""
    from rushlight.run import program_io, run_folder

    names, outputs = program_io(folder)
    arrays = _load_npz(inputs, names)
    with _progress(f"running on {on}"):
        result = run_folder(folder, arrays, on, toolchain=toolchain)
    for name, array in zip(outputs, result.outputs, strict=True):
        typer.echo(f"{name}: {array.dtype} {list(array.shape)}")
    if result.instructions:
        typer.echo(
            f"{len(result.instructions)} runs, {max(result.instructions):,} instructions at most, "
            f"{result.stack_bytes:,} bytes of stack"
        )
    if output is not None:
        arrays_by_name: dict[str, Any] = dict(zip(outputs, result.outputs, strict=True))
        np.savez(output, **arrays_by_name)
        typer.echo(f"written to {output}")


@app.command(epilog="Example: `rushlight report out/ --json`")
def report(
    folder: Annotated[Path, typer.Argument(help="A folder that `rushlight compile` wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show what a compiled folder holds: layers, kernels, memory, notes."""
    from rushlight.report import Report

    found = Report.from_folder(folder)
    typer.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))


@app.command(epilog="Example: `rushlight targets`")
def targets() -> None:
    """List the cores and boards to compile for."""
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
    Console().print(table)


def _quantize(exported: Any, calibration: Path) -> Any:
    """Quantises a float program with the arrays of an .npz, one sample at a time, with progress."""
    import torch

    from rushlight.frontend import program_inputs
    from rushlight.quantization import quantize_program
    from rushlight.run.samples import InputSpec, split_inputs

    specs = [InputSpec(*facts) for facts in program_inputs(exported)]
    arrays = _load_npz(calibration, [s.name for s in specs])
    samples, _ = split_inputs(specs, arrays)
    batches = [tuple(torch.from_numpy(np.ascontiguousarray(x)) for x in sample) for sample in samples]
    with _progress("calibrating") as step:
        return quantize_program(exported, batches, progress=step)


def _load_npz(path: Path, names: list[str]) -> list[Any]:
    """The arrays of an .npz in the order of ``names``; one array alone may have any name."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files} if hasattr(file, "files") else {"array": file}
    except FileNotFoundError:
        raise RushlightError(f"{path} does not exist; give an .npz with arrays {', '.join(names)}") from None
    except Exception as error:  # NumPy raises what zip, pickle or the header parser raise
        raise RushlightError(f"{path} cannot be read as .npz ({error}); write it with numpy.savez") from None
    if len(names) == 1 and len(arrays) == 1:
        return list(arrays.values())
    missing = [name for name in names if name not in arrays]
    if missing:
        raise RushlightError(
            f"{path} has no array '{missing[0]}'; it holds {', '.join(arrays) or 'nothing'}, "
            f"the program takes {', '.join(names)}"
        )
    return [arrays[name] for name in names]


class _progress:
    """A progress bar on a terminal, nothing elsewhere. Calling it moves it: ``step(done, total)``."""

    def __init__(self, title: str) -> None:
        self._bar = Progress(disable=not sys.stderr.isatty(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(title, total=None)

    def __enter__(self) -> Callable[[int, int], None]:
        self._bar.start()
        return lambda done, total: self._bar.update(self._task, completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def main() -> None:
    """Entry of the ``rushlight`` command: bad input is one line on stderr and exit code 2."""
    try:
        app()
    except RushlightError as error:
        for line in str(error).splitlines():
            typer.echo(f"rushlight: {line}", err=True)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
