"""Graph → Graph, one pass a file; ``lower`` runs them all and verifies after each."""

from rushlight.passes.pipeline import lower

__all__ = ["lower"]
