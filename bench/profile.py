"""Where the instructions of one kernel call go: its disassembly with a count for each instruction."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bench.measure import CACHE, TIMEOUT_S, Work, build, case_bytes
from rushlight.errors import RushlightError
from rushlight.ops.base import Kernel
from rushlight.run import run_qemu
from rushlight.target import Target

_PLUGIN = Path(__file__).with_name("plugin.c")
_OBJDUMP = "arm-none-eabi-objdump"
#: "  1a2:	movs	r0, #1" and "/path/kernels/conv2d/dsp.c:41 (discriminator 3)".
_INSTRUCTION = re.compile(r"^\s+([0-9a-f]+):\t(.+)$")
_LINE = re.compile(r"^(/\S+/)?(?P<place>[^/\s]+/[^/\s]+:\d+)")


@dataclass(frozen=True)
class Profile:
    """Counts of one call. ``functions``: name → instructions in it; ``lines``: the listing of what runs often."""

    total: int
    functions: dict[str, int]
    lines: list[str]


def profile(work: Work, kernel: Kernel, target: Target, compiler: str, share: float = 0.004) -> Profile:
    """Runs one call under the plugin; instructions with at least ``share`` of the whole are listed.

    Raises:
        RushlightError: a tool is missing, or building or running failed.
    """
    elf = build([kernel], target, compiler)
    symbols = _functions(elf)
    by_name = {name: address for address, name in symbols}
    with tempfile.TemporaryDirectory(prefix="rushlight-") as name:
        out = Path(name) / "counts"
        window = f"start={by_name['call_1']},stop={by_name['rl_port_counter_read']}"
        options = ["-plugin", f"{_plugin()},out={out},{window}"]
        run_qemu(elf, target, [case_bytes(work, kernel, 1)], 4, timeout_s=TIMEOUT_S, options=options)
        if not out.is_file():
            raise RushlightError("the emulator's plugin counted nothing: this QEMU is built without plugins")
        entries = np.frombuffer(out.read_bytes(), "<u8").reshape(-1, 2).tolist()
    stop = by_name["rl_port_counter_read"]
    counts = {address: count for address, count in entries if address != stop}
    total = sum(counts.values())
    addresses = [address for address, _ in symbols]
    functions: Counter[str] = Counter()
    for address, count in counts.items():
        functions[symbols[bisect_right(addresses, address) - 1][1]] += count
    text = _disassembly(elf, target)
    return Profile(total, dict(functions.most_common()), _listing(text, counts, total, max(1, int(total * share))))


def _functions(elf: Path) -> list[tuple[int, str]]:
    """Addresses and names of all functions, in order."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = {s["st_value"] & ~1: s.name for s in table.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}
    return sorted(found.items())


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


def _disassembly(elf: Path, target: Target) -> str:
    """The program's instructions with the source lines that they come from."""
    objdump = shutil.which(_OBJDUMP)
    if objdump is None:
        raise RushlightError(f"{_OBJDUMP} is not installed: apt install binutils-arm-none-eabi")
    # objdump takes clang's programs for such without Helium unless it is told.
    machine = ["-m", target.core.arch] if target.core.mve else []
    command = [objdump, "-d", "-l", "--no-show-raw-insn", *machine, str(elf)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def _listing(text: str, counts: dict[int, int], total: int, least: int) -> list[str]:
    """The stretches of a disassembly in which instructions run at least ``least`` times."""
    lines: list[str] = []
    place = said = function = ""
    open_stretch = False
    for line in text.splitlines():
        if line.endswith(">:"):
            function, said = line.partition("<")[2].removesuffix(">:"), ""
        elif match := _LINE.match(line):
            place = match["place"]
        elif match := _INSTRUCTION.match(line):
            count = counts.get(int(match[1], 16), 0)
            if count < least:
                open_stretch = False
                continue
            if not open_stretch:
                lines += ["", f"{function}:"] if said == "" else ["  ..."]
                open_stretch = True
            note = "" if place == said else f"  ; {place}"
            said = place
            words = re.split(r" [;@] ", match[2])[0].replace("\t", " ").rstrip()
            lines.append(f"{count:>12,} {count / total:6.1%}  {match[1]:>8}  {words:<44}{note}".rstrip())
    return lines
