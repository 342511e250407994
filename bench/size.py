"""``python -m bench.size``: bytes of code that the kernels take, a file and a net at a time, beside CMSIS-NN's."""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from rich.console import Console
from rich.table import Table

from bench.baselines import COMPILERS, CORES, FOLDER, NETS
from bench.counting import JOBS
from bench.measure import build
from bench.nets import schedule
from rushlight.emit.kernels import INCLUDE, KERNELS
from rushlight.errors import RushlightError
from rushlight.firmware import C_FLAGS, pick, sections
from rushlight.firmware.toolchains import first_error
from rushlight.ops.base import Kernel
from rushlight.target import BOARDS_DIR, resolve

OPTS = ("-Os", "-O3")
#: All nets in one program.
ALL = "ALL4"
#: A core for the files of each tier.
TIER_CORES = {"v6m": "m0p", "v7m": "m3", "dsp": "m4", "mve": "m55"}


@cache
def baseline_text() -> dict[tuple[str, str, str, str], int]:
    """(net, core, compiler, flag) → bytes of CMSIS-NN's code, without libraries."""
    with (FOLDER / "cmsis_nn_text.csv").open(newline="", encoding="utf-8") as file:
        return {(r["model"], r["core"], r["compiler"], r["opt"]): int(r["text_bytes"]) for r in csv.DictReader(file)}


def net_kernels(name: str, core: str) -> list[Kernel]:
    """The kernels that a net calls on a core; those of all nets for ALL."""
    names = NETS if name == ALL else (name,)
    return [call.kernel for net in names for call in schedule(net, CORES[core]).calls]


def net_bytes(name: str, core: str, compiler: str, opt: str) -> int:
    """Bytes of the kernels' functions that are linked for a net."""
    return kernel_bytes(build(net_kernels(name, core), resolve(CORES[core]), compiler, opt))


def kernel_bytes(elf: Path) -> int:
    """Bytes of a program's functions whose source lies in ``kernels``, by its debug information."""
    with elf.open("rb") as file:
        program = ELFFile(file)
        starts: set[int] = set()
        for unit in program.get_dwarf_info().iter_CUs():
            top = unit.get_top_DIE()
            if "/kernels/" in top.get_full_path():
                dies = (die for die in top.iter_children() if die.tag == "DW_TAG_subprogram")
                starts |= {
                    die.attributes["DW_AT_low_pc"].value & ~1 for die in dies if "DW_AT_low_pc" in die.attributes
                }
        table = program.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        sizes = {s["st_value"] & ~1: s["st_size"] for s in table.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}
    return sum(size for address, size in sizes.items() if address in starts)


def file_bytes(source: str, core: str, compiler: str, opt: str) -> int:
    """Bytes of code of a kernel's file, compiled alone.

    Raises:
        RushlightError: it does not compile.
    """
    tool = pick(compiler)
    paths = [KERNELS, INCLUDE, BOARDS_DIR / "common" / "freestanding"]
    with tempfile.TemporaryDirectory(prefix="rushlight-") as name:
        made = Path(name) / "kernel.o"
        command = [*tool.command, *tool.core_flags(resolve(CORES[core]).core), *C_FLAGS, opt]
        command += [*(f"-I{path}" for path in paths), "-c", str(KERNELS / source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise RushlightError(
                f"{source} does not compile for {core} with {compiler} at {opt}: {first_error(done.stderr)}"
            )
        return sections(made).text


def tier_files() -> list[tuple[str, str]]:
    """(file below ``kernels``, core) of all files; one that belongs to no tier stands there for the core of each."""
    found = []
    for path in sorted(KERNELS.rglob("*.c")):
        tier = path.stem.rpartition("_")[2]
        cores = [TIER_CORES[tier]] if tier in TIER_CORES else list(TIER_CORES.values())
        found += [(path.relative_to(KERNELS).as_posix(), core) for core in cores]
    return found


def _bytes_or_none(call: Callable[[], int], failures: list[str]) -> int | None:
    """The bytes; None, and a line among the failures, where something does not build."""
    try:
        return call()
    except RushlightError as error:
        failures.append(str(error))
        return None


def net_table(cores: Sequence[str], compilers: Sequence[str], failures: list[str]) -> Table:
    """A line for each net, core and compiler."""
    keys = [(n, c, k) for n in (*NETS, ALL) for c in cores for k in compilers]
    with ThreadPoolExecutor(JOBS) as pool:
        calls = [[partial(net_bytes, n, c, k, opt) for opt in OPTS] for n, c, k in keys]
        ours = list(pool.map(lambda row: [_bytes_or_none(call, failures) for call in row], calls))
    table = Table(title="Bytes of kernels linked for a net", title_justify="left", title_style="bold")
    for name in ("net", "core", "compiler"):
        table.add_column(name)
    for opt in OPTS:
        for name in (opt, "CMSIS-NN", "÷"):
            table.add_column(name, justify="right")
    for key, found in zip(keys, ours, strict=True):
        bases = [baseline_text().get((*key, opt)) for opt in OPTS]
        cells = [
            text
            for size, base in zip(found, bases, strict=True)
            for text in (_text(size), f"{base:,}" if base else "", f"{size / base:.2f}" if base and size else "")
        ]
        more = any(base and size and size > base for size, base in zip(found, bases, strict=True))
        table.add_row(*key, *cells, style="red" if more else "")
    return table


def _text(size: int | None) -> str:
    return "fails" if size is None else f"{size:,}"


def file_table(compilers: Sequence[str], failures: list[str]) -> Table:
    """A line for each file of kernels."""
    keys = [(name, core) for name, core in tier_files()]
    columns = [(compiler, opt) for compiler in compilers for opt in OPTS]
    with ThreadPoolExecutor(JOBS) as pool:
        calls = [[partial(file_bytes, f, c, compiler, opt) for compiler, opt in columns] for f, c in keys]
        found = list(pool.map(lambda row: [_bytes_or_none(call, failures) for call in row], calls))
    table = Table(title="Bytes of code of each kernel file", title_justify="left", title_style="bold")
    table.add_column("file")
    table.add_column("core")
    for compiler, opt in columns:
        table.add_column(f"{compiler} {opt}", justify="right")
    for key, sizes in zip(keys, found, strict=True):
        table.add_row(*key, *map(_text, sizes))
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.size", description=__doc__)
    parser.add_argument("--core", action="append", choices=list(CORES), help="these cores alone")
    parser.add_argument("--compiler", action="append", choices=COMPILERS, help="these compilers alone")
    args = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    failures: list[str] = []
    console.print(file_table(args.compiler or COMPILERS, failures))
    console.print(net_table(args.core or list(CORES), args.compiler or COMPILERS, failures))
    for failure in dict.fromkeys(failures):
        print(f"bench: {failure}", file=sys.stderr)
    return 2 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
