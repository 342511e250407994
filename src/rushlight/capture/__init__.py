"""From an ``nn.Module`` to an ``ExportedProgram`` with batch norms folded where that is safe."""

from rushlight.capture.export import capture
from rushlight.capture.notes import notes_of, source_of

__all__ = ["capture", "notes_of", "source_of"]
