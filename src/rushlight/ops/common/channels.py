"""What an operator does with channels, the indices of a tensor's last dimension: the values that one can take, and what it is
made of. ``passes/dead_channels.py`` works with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import Graph, Op, Tensor

Array = NDArray[Any]
Reference = Callable[[Op, Graph, Sequence[Array]], list[Array]]


def channels_of(tensor: Tensor) -> int:
    """Size of the last dimension; 1 of a single number."""
    return tensor.shape[-1] if tensor.shape else 1


@dataclass(frozen=True)
class Bounds:
    """The lowest and the greatest integer of each channel, int64 [channels]. Both may be beyond what really occurs."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """The channels that can only have one value."""
        single: NDArray[np.bool_] = self.low == self.high
        return single

    @classmethod
    def int8(cls, channels: int) -> Bounds:
        """Any int8 value."""
        return cls(np.full(channels, -128, np.int64), np.full(channels, 127, np.int64))

    @classmethod
    def around(cls, *arrays: Array) -> Bounds:
        """What holds all values of the arrays, whose channels are the last dimension."""
        rows = [np.atleast_1d(a).reshape(-1, np.atleast_1d(a).shape[-1]) for a in arrays]
        together = np.concatenate([np.stack([r.min(axis=0), r.max(axis=0)]) for r in rows]).astype(np.int64)
        return cls(together.min(axis=0), together.max(axis=0))


@dataclass(frozen=True)
class Tie:
    """Channels that stay or go together: ``inputs[i]`` of one of the operator's inputs with ``outputs[i]`` of its output."""

    index: int
    inputs: NDArray[np.intp]
    outputs: NDArray[np.intp]


@dataclass(frozen=True)
class Mix:
    """Output channels that are weighted sums of all input channels (of input 0; weight and bias are inputs 1 and 2).

    ``weights``: int64 [outputs, taps, inputs]. ``inside``: bool [borders, taps], for each kind of border which taps lie in
    the input; the others read the zero point.
    """

    weights: NDArray[np.int64]
    inside: NDArray[np.bool_]

    def sums(self) -> NDArray[np.int64]:
        """[borders, outputs, inputs]: the sum of the weights whose taps lie in the input."""
        sums: NDArray[np.int64] = np.einsum("bt,oti->boi", self.inside.astype(np.int64), self.weights)
        return sums


@dataclass(frozen=True)
class ChannelUse:
    """How channels go through an operator. An input that no tie names and that is not mixed keeps all of its own.

    ``per_output``: constant inputs (index → axis) with an entry for each output channel. ``per_input``: the same for the
    channels of input 0. ``attrs``: the attributes for another number of output channels, where they depend on it.
    """

    ties: tuple[Tie, ...] = ()
    mix: Mix | None = None
    per_output: Mapping[int, int] = field(default_factory=dict)
    per_input: Mapping[int, int] = field(default_factory=dict)
    attrs: Callable[[int], Any] | None = None


def carried(op: Op, graph: Graph, indices: Iterable[int]) -> ChannelUse:
    """Channel i of the output is made of channel i of each of these inputs; one that has fewer is broadcast."""
    channels = channels_of(graph.outs(op)[0])
    same = np.arange(channels)
    return ChannelUse(tuple(Tie(i, same, same) for i in indices if channels_of(graph.ins(op)[i]) == channels))


def monotone_bounds(reference: Reference, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
    """Bounds of an operator whose outputs never fall when an input rises: what its reference makes of the bounds."""
    sides = []
    for side in ("low", "high"):
        arrays = [
            np.broadcast_to(getattr(b, side).astype(np.int8), t.shape) if t.data is None else t.data
            for t, b in zip(graph.ins(op), inputs, strict=True)
        ]
        sides.append(reference(op, graph, arrays)[0])
    return Bounds(Bounds.around(sides[0]).low, Bounds.around(sides[1]).high)


def corner_bounds(reference: Reference, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
    """Bounds of an elementwise operator of two inputs that is monotone in each while the other stays as it is."""
    sides = [(b.low, b.high) if t.data is None else (t.data,) for t, b in zip(graph.ins(op), inputs, strict=True)]
    corners = [reference(op, graph, pair)[0] for pair in combinations(*sides)]
    channels = channels_of(graph.outs(op)[0])
    return Bounds.around(*(np.broadcast_to(c, (*c.shape[:-1], channels)) for c in corners))


def sum_bounds(
    mix: Mix, low: NDArray[np.int64], high: NDArray[np.int64], zero_point: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and greatest weighted sum of each output, at whatever border; ``low`` and ``high`` broadcast to the weights."""
    ends = mix.weights * low, mix.weights * high
    outside = mix.weights.sum(axis=2) * zero_point
    least, most = np.minimum(*ends).sum(axis=2), np.maximum(*ends).sum(axis=2)
    inside, base = mix.inside.astype(np.int64), outside.sum(axis=1)
    return (inside @ (least - outside).T + base).min(axis=0), (inside @ (most - outside).T + base).max(axis=0)
