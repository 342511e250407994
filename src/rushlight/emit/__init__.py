"""From a schedule to a folder of C that builds without Python."""

from rushlight.emit.folder import is_compiled, write_c
from rushlight.emit.names import check_model_name
from rushlight.emit.program import program_facts

__all__ = ["check_model_name", "is_compiled", "program_facts", "write_c"]
