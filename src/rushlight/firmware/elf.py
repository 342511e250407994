"""What an ELF file says: sizes of its sections, and which function an address lies in."""

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


@dataclass(frozen=True)
class Sections:
    """Bytes of a program: ``text`` code, ``rodata`` constants, ``data`` initialised and ``bss`` zeroed variables.

    Flash holds ``text + rodata + data``; RAM holds ``data + bss`` and the stack, which is not counted here.
    """

    text: int
    rodata: int
    data: int
    bss: int

    @property
    def flash(self) -> int:
        """Bytes of flash."""
        return self.text + self.rodata + self.data

    @property
    def ram(self) -> int:
        """Bytes of RAM, without the stack."""
        return self.data + self.bss


def sections(elf: Path) -> Sections:
    """Sizes by kind; the stack's reserve is left out."""
    sizes = {"text": 0, "rodata": 0, "data": 0, "bss": 0}
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            flags = section["sh_flags"]
            if flags & SH_FLAGS.SHF_ALLOC and section.name != ".stack":
                sizes[_kind(flags, section["sh_type"])] += section["sh_size"]
    return Sections(**sizes)


def _kind(flags: int, section_type: str) -> str:
    if section_type == "SHT_NOBITS":
        return "bss"
    if flags & SH_FLAGS.SHF_EXECINSTR:
        return "text"
    return "data" if flags & SH_FLAGS.SHF_WRITE else "rodata"


def function_at(elf: Path, address: int) -> str:
    """Name of the function that holds ``address``, or an empty string."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
            start = symbol["st_value"] & ~1  # bit 0 says Thumb
            if symbol["st_info"]["type"] == "STT_FUNC" and start <= address < start + max(symbol["st_size"], 2):
                return str(symbol.name)
    return ""
