"""From an ``ExportedProgram`` or a ``.pt2`` file to a ``Graph``."""

from rushlight.errors import torch_needed

with torch_needed():
    from rushlight.frontend.importer import import_program, program_inputs
    from rushlight.frontend.load import load_pt2

__all__ = ["import_program", "load_pt2", "program_inputs"]
