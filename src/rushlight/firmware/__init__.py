"""From a folder of C to a program: toolchains, builds for a chip and for this PC."""

from rushlight.firmware.build import C_FLAGS, Firmware, build_firmware, build_host
from rushlight.firmware.elf import Sections, function_at, sections
from rushlight.firmware.folder import copy_board
from rushlight.firmware.toolchains import Toolchain, available, pick

__all__ = [
    "C_FLAGS",
    "Firmware",
    "Sections",
    "Toolchain",
    "available",
    "build_firmware",
    "build_host",
    "copy_board",
    "function_at",
    "pick",
    "sections",
]
