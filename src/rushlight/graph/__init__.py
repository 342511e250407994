"""The compiler's intermediate representation: frozen dataclasses over NumPy, no torch."""

from rushlight.graph.printer import format_graph
from rushlight.graph.types import DType, Graph, Note, Op, QParams, Source, Tensor, TensorSpec

__all__ = ["DType", "Graph", "Note", "Op", "QParams", "Source", "Tensor", "TensorSpec", "format_graph"]
