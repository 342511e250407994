"""Arrays as users give them: one run's, several samples stacked in front, or several along a batch dimension of 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.errors import RushlightError

Array = NDArray[Any]


@dataclass(frozen=True)
class InputSpec:
    """An input of a program: name, shape with its batch dimension, element type ("float32" or "int8")."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


class Batching(Enum):
    """How the samples of a call were given, so that its outputs come back likewise."""

    ONE = "exactly the program's shapes"
    STACKED = "one more dimension in front"
    BATCHED = "along a first dimension that the program has as 1"


def split_inputs(specs: Sequence[InputSpec], inputs: Sequence[Array]) -> tuple[list[tuple[Array, ...]], Batching]:
    """One tuple of arrays (of exactly the program's shapes) a sample. RushlightError names the input that does not fit."""
    if len(inputs) != len(specs):
        wanted = ", ".join(f"'{spec.name}' ({spec})" for spec in specs)
        takes = f"{len(specs)} input{'' if len(specs) == 1 else 's'}"
        raise RushlightError(f"the model has {takes}, {len(inputs)} were given; it takes {wanted}")
    ways: dict[str, tuple[Batching, int]] = {}
    stacks: list[Array] = []
    for spec, array in zip(specs, inputs, strict=True):
        if array.dtype != np.dtype(spec.dtype):
            raise RushlightError(f"input '{spec.name}' is of dtype {array.dtype}, not {spec.dtype}; use .astype")
        way = _way(spec, array)
        ways[spec.name] = (way, array.shape[0] if way is not Batching.ONE else 1)
        stacks.append(array if way is Batching.STACKED else array.reshape(-1, *spec.shape))
    if len(set(ways.values())) > 1:
        said = ", ".join(f"'{name}' {count}" for name, (_, count) in ways.items())
        raise RushlightError(f"the inputs differ in their number of samples or in how they are stacked: {said}")
    way, count = next(iter(ways.values()), (Batching.ONE, 1))
    if count == 0:
        raise RushlightError("the inputs hold no sample")
    return [tuple(stack[i] for stack in stacks) for i in range(count)], way


def _way(spec: InputSpec, array: Array) -> Batching:
    if array.shape == spec.shape:
        return Batching.ONE
    if array.shape[1:] == spec.shape and array.ndim == len(spec.shape) + 1:
        return Batching.STACKED
    if spec.shape[:1] == (1,) and array.shape[1:] == spec.shape[1:] and array.ndim == len(spec.shape):
        return Batching.BATCHED
    rest = ", ".join(str(d) for d in spec.shape)
    hint = ""
    if array.ndim == 4 == len(spec.shape) and tuple(array.shape[i] for i in (3, 1, 2)) == spec.shape[1:]:
        hint = "; it looks like NHWC data for an NCHW input: transpose it (to run on NHWC data, compile with layout='nhwc')"
    elif array.ndim == 4 == len(spec.shape) and tuple(array.shape[i] for i in (2, 3, 1)) == spec.shape[1:]:
        hint = "; it looks like NCHW data for an NHWC input: transpose it (to run on NCHW data, compile with layout='nchw')"
    raise RushlightError(
        f"input '{spec.name}' has shape {list(array.shape)}, not {list(spec.shape)} or [samples, {rest}]{hint}"
    )


def join_outputs(samples: Sequence[Sequence[Array]], way: Batching) -> tuple[Array, ...]:
    """The outputs of all samples, put together as the inputs were; an output without a batch dimension of 1 is stacked."""
    if way is Batching.ONE:
        return tuple(samples[0])
    columns = list(zip(*samples, strict=True))
    if way is Batching.STACKED:
        return tuple(np.stack(column) for column in columns)
    return tuple(np.concatenate(c) if c[0].shape[:1] == (1,) else np.stack(c) for c in columns)
