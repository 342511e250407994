"""Cortex-M cores and their features, read from ``cores.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType

_DATA = Path(__file__).with_name("cores.toml")


@dataclass(frozen=True)
class Core:
    """A Cortex-M core.

    Attributes:
        name: such as ``cortex-m4``.
        arch: Arm architecture, such as ``armv7e-m``.
        mainline: long multiplies, hardware division and unaligned word accesses.
        dsp: the DSP extension (SMLAD, SXTB16, ...).
        mve: the M-profile vector extension, Helium.
        fpu: name of the floating-point unit, empty where there is none.
        board: the emulated board that the bare core name means.
        built_as: the core that compilers are told, where they do not know this one; else empty.
        cflags: compiler flags for each toolchain family, ``gcc``, ``clang`` and ``zig``.
    """

    name: str
    arch: str
    mainline: bool
    dsp: bool
    mve: bool
    fpu: str
    board: str
    built_as: str
    cflags: Mapping[str, tuple[str, ...]] = field(hash=False)

    @property
    def unaligned(self) -> bool:
        """Whether word loads and stores may be unaligned."""
        return self.mainline

    @property
    def tiers(self) -> tuple[str, ...]:
        """Kernel tiers that run on this core, best first."""
        has = {"mve": self.mve, "dsp": self.dsp, "v7m": self.mainline, "v6m": True}
        return tuple(tier for tier, present in has.items() if present)


@cache
def cores() -> Mapping[str, Core]:
    """All cores by name, from the smallest to the largest."""
    data = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return MappingProxyType({name: _core(name, entry) for name, entry in data["cores"].items()})


def _core(name: str, entry: dict[str, object]) -> Core:
    families = ("gcc", "clang", "zig")
    flags = {family: tuple(map(str, _list(entry[family]))) for family in families}
    return Core(
        name=name,
        arch=str(entry["arch"]),
        mainline=bool(entry["mainline"]),
        dsp=bool(entry["dsp"]),
        mve=bool(entry["mve"]),
        fpu=str(entry["fpu"]),
        board=str(entry["board"]),
        built_as=str(entry.get("built_as", "")),
        cflags=flags,
    )


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value
