"""Running built programs: in the emulator and on this PC."""

from rushlight.run.folder import FolderResult, folder_target, input_specs, program_io, run_folder
from rushlight.run.host import run_host
from rushlight.run.qemu import run_qemu
from rushlight.run.result import RunResult

__all__ = [
    "FolderResult",
    "RunResult",
    "folder_target",
    "input_specs",
    "program_io",
    "run_folder",
    "run_host",
    "run_qemu",
]
