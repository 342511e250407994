"""One operator, one file. Importing this package registers them all."""

from rushlight.ops.base import REGISTRY, operator

__all__ = ["REGISTRY", "operator"]
