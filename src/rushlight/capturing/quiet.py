"""Keeps libraries' remarks away from the user, who gets an error in one line instead."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch  # sets up its loggers, whose levels are changed below  # noqa: F401


@contextmanager
def errors_only(*names: str) -> Iterator[None]:
    """Within, these loggers say errors alone."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
