"""The C compilers for Cortex-M that this machine has."""

import importlib.util
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.target import Core

#: Toolchains in order of preference, and what installs each.
INSTALL = {
    "gcc": "apt install gcc-arm-none-eabi",
    "clang": "apt install clang-19 lld-19 gcc-arm-none-eabi (clang links GCC's libgcc)",
    "zig": "pip install ziglang",
}
_GCC = "arm-none-eabi-gcc"
_CLANGS = ("clang-19", "clang")


@dataclass(frozen=True)
class Toolchain:
    """A compiler and linker for Cortex-M.

    Attributes:
        name: ``gcc``, ``clang`` or ``zig``.
        command: the words that start it.
        version: the first line of what it says about itself, such as ``arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1``.
    """

    name: str
    command: tuple[str, ...]
    version: str

    def core_flags(self, core: Core) -> list[str]:
        """Flags that select the core, and what this compiler needs to build for a chip without a C library."""
        flags = [*core.cflags[self.name], "-ffreestanding"]
        if self.name == "zig":
            # zig's defaults are those of a debug build; its own library for the compiler is linked by itself.
            return [*flags, "-fno-sanitize=undefined", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"]
        return [*flags, "-nostdlib"]

    def link_flags(self, core: Core) -> list[str]:
        """Flags that follow the sources: the compiler's own library.

        Raises:
            RushlightError: clang without GCC, whose library it links.
        """
        if self.name == "zig":
            return []
        if self.name == "gcc":
            return ["-lgcc"]
        gcc = shutil.which(_GCC)
        if gcc is None:
            raise RushlightError(
                f"clang links the libgcc of {_GCC}, which is not installed: apt install gcc-arm-none-eabi"
            )
        libgcc = _output([gcc, *core.cflags["gcc"], "-print-libgcc-file-name"]).strip()
        return ["-fuse-ld=lld", libgcc]


def available() -> list[Toolchain]:
    """The toolchains found on this machine, best first."""
    return [toolchain for name in INSTALL if (toolchain := _find(name)) is not None]


def pick(name: str | None = None) -> Toolchain:
    """The toolchain called ``name`` (``gcc``, ``clang``, ``zig``), or the first of these that is installed.

    Raises:
        RushlightError: it is unknown or not installed; the message says what installs it.
    """
    if name is not None and name not in INSTALL:
        raise RushlightError(f"unknown toolchain '{name}': it is one of {', '.join(INSTALL)}")
    for candidate in INSTALL if name is None else (name,):
        found = _find(candidate)
        if found is not None:
            return found
    if name is not None:
        raise RushlightError(f"toolchain '{name}' is not installed: {INSTALL[name]}")
    ways = "; or ".join((INSTALL["gcc"], INSTALL["zig"]))
    raise RushlightError(f"no C compiler for Cortex-M is installed: {ways}")


def _find(name: str) -> Toolchain | None:
    if name == "zig":
        if importlib.util.find_spec("ziglang") is None:
            return None
        zig = (sys.executable, "-m", "ziglang")
        return Toolchain(name, (*zig, "cc"), f"zig {_output([*zig, 'version']).strip()}")
    for program in (_GCC,) if name == "gcc" else _CLANGS:
        path = shutil.which(program)
        if path is not None:
            return Toolchain(name, (path,), _output([path, "--version"]).splitlines()[0])
    return None


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise RushlightError(f"{Path(command[0]).name} does not run: {error}") from None
    return done.stdout


def first_error(text: str) -> str:
    """The first error in a compiler's output, or its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if re.search(r"\berror:|undefined (reference|symbol)|multiple definition", line):
            return line
    return lines[0] if lines else "no message"
