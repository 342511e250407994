"""From a schedule to a folder of C that builds without Python."""

from rushlight.emit.folder import check_free, is_compiled, write_c
from rushlight.emit.names import check_model_name
from rushlight.emit.program import program_facts, read_program

__all__ = ["check_free", "check_model_name", "is_compiled", "program_facts", "read_program", "write_c"]
