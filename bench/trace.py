"""How often each instruction of a program runs between two of its functions, from the emulator's plugin."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench.measure import CACHE, TIMEOUT_S
from rushlight.errors import RushlightError
from rushlight.run import run_qemu
from rushlight.target import Target

_PLUGIN = Path(__file__).with_name("plugin.c")
_OBJDUMP = "arm-none-eabi-objdump"


@dataclass(frozen=True)
class Runs:
    """How often an instruction ran, and how often it was a branch that was taken."""

    count: int
    taken: int


#: Address → how often; the instructions between a start and the stop.
Window = Mapping[int, Runs]


def trace(
    elf: Path, target: Target, inputs: Sequence[bytes], output_bytes: int, starts: Iterable[str], stop: str
) -> list[Window]:
    """Runs a program; a window for each time it came from one of the functions ``starts`` to the function ``stop``.

    Raises:
        RushlightError: a tool is missing, the run failed, or the emulator has no plugins.
    """
    by_name = {name: address for address, name in functions(elf)}
    with tempfile.TemporaryDirectory(prefix="rushlight-") as name:
        out = Path(name) / "counts"
        places = [*(f"start={by_name[start]}" for start in starts), f"stop={by_name[stop]}"]
        options = ["-plugin", ",".join([str(_plugin()), f"out={out}", *places])]
        run_qemu(elf, target, inputs, output_bytes, timeout_s=TIMEOUT_S, options=options)
        data = np.fromfile(out, "<u8") if out.is_file() else np.zeros(0, "<u8")
    if data.size == 0:
        raise RushlightError("the emulator's plugin counted nothing: this QEMU is built without plugins")
    windows: list[Window] = []
    at = 0
    while at < data.size:
        end = at + 1 + 3 * int(data[at])
        entries = data[at + 1 : end].reshape(-1, 3).tolist()
        windows.append({a: Runs(count, taken) for a, count, taken in entries if a != by_name[stop]})
        at = end
    return windows


def functions(elf: Path) -> list[tuple[int, str]]:
    """Addresses and names of all functions, in order."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = {s["st_value"] & ~1: s.name for s in table.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}
    return sorted(found.items())


def disassembly(elf: Path, target: Target) -> str:
    """The program's instructions with the source lines that they come from.

    Raises:
        RushlightError: objdump is not installed.
    """
    objdump = shutil.which(_OBJDUMP)
    if objdump is None:
        raise RushlightError(f"{_OBJDUMP} is not installed: apt install binutils-arm-none-eabi")
    # objdump takes clang's programs for such without Helium unless it is told.
    machine = ["-m", target.core.arch] if target.core.mve else []
    command = [objdump, "-d", "-l", "--no-show-raw-insn", *machine, str(elf)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def _plugin() -> Path:
    """The plugin, built for this PC once for each version of its source."""
    source = _PLUGIN.read_bytes()
    made = CACHE / f"plugin-{hashlib.sha256(source).hexdigest()[:16]}.so"
    if not made.is_file():
        compiler = shutil.which("cc")
        if compiler is None:
            raise RushlightError("C compiler 'cc' is not installed: apt install gcc")
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [compiler, "-std=gnu11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", str(_PLUGIN), "-o"]
        with tempfile.TemporaryDirectory(dir=CACHE) as name:
            partial = Path(name) / "plugin.so"
            done = subprocess.run([*command, str(partial)], capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 0:
                raise RushlightError(f"building the emulator's plugin failed: {done.stderr.splitlines()[0]}")
            partial.replace(made)
    return made
