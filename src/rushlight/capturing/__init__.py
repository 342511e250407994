"""From an ``nn.Module`` to an ``ExportedProgram`` with batch norms folded where that is safe."""

from rushlight.errors import torch_needed

with torch_needed():
    from rushlight.capturing.export import capture, recapture
    from rushlight.capturing.notes import notes_of, source_of

__all__ = ["capture", "notes_of", "recapture", "source_of"]
