"""One operator, one file. Importing this package registers them all."""

import importlib
import pkgutil

from rushlight.ops.base import REGISTRY, operator

for _module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["REGISTRY", "operator"]
