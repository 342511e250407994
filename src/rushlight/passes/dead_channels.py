"""Removes channels that can only have one value, or that nothing reads: exactly, so that every output stays the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, Graph, Note, Op, QParams, Tensor
from rushlight.ops.base import Array, operator
from rushlight.ops.common.channels import Bounds, ChannelUse, Mix, channels_of
from rushlight.ops.verify import check_exact
from rushlight.passes.edit import Editor

Flags = NDArray[np.bool_]

#: Of the notes that tell what was removed.
KIND = "dead channels"
#: So many channels of a tensor stay at least: below, depthwise and pooling kernels have to take channel by channel. Beyond
#: that the count does not matter: rounding up to 2, 4, 8 or 16 gains nothing on VWW (at best 0.1 %, with Helium).
FEWEST = 4
#: The input of a layer that mixes channels which takes up what removed ones add.
BIAS = 2


def remove_dead_channels(graph: Graph) -> Graph:
    """Before: ``conv2d(conv2d(x))``, a channel between the two that a fused relu holds at 0 for every x. After: the first
    convolution without it, the second with what it adds in its bias.

    A channel goes only if it can go from all tensors that are tied by what works on each channel alone (depthwise, add,
    pools, tables…), and if each convolution and linear layer that reads it can do without: its value is the same for every
    input and adds the same everywhere, borders included, or its weights are 0. At least four channels of a tensor stay, and
    all of the program's inputs and outputs.

    Sums keep to 32 bits: the bound |b'| + 128·Σ|w| (ARITHMETIC.md) does not grow, as what a channel adds to b', its value times
    its weight, is at most what its weights took in the sum. So does the bias, as |b| ≤ |b'| + 128·Σ|w|.
    """
    graph = check_exact(graph).pruned()
    bounds = channel_bounds(graph)
    plan = _plan(graph, bounds)
    return graph if all(flags.all() for flags in plan.kept.values()) else _noted(graph, _without(graph, plan))


def channel_bounds(graph: Graph) -> dict[str, Bounds]:
    """The integers between which each channel of each int8 tensor lies, whatever the program's inputs are."""
    bounds: dict[str, Bounds] = {}
    for name, t in graph.tensors.items():
        if t.data is not None or name in graph.inputs:
            bounds[name] = Bounds.int8(channels_of(t)) if t.data is None else Bounds.around(t.data)
    for op in graph.ops:
        int8 = all(t.constant or t.dtype is DType.INT8 for t in graph.ins(op))
        for t in graph.outs(op):
            known = int8 and t.dtype is DType.INT8
            inputs = [bounds[n] for n in op.inputs]
            bounds[t.name] = operator(op.kind).bounds(op, graph, inputs) if known else Bounds.int8(channels_of(t))
    return bounds


@dataclass(frozen=True)
class _Reader:
    """An operator that mixes channels. ``needs[o, i]``: output channel o cannot do without input channel i.

    ``adds[o, i]``: what input channel i adds to the sum of output channel o, where that can do without it.
    """

    op: Op
    needs: Flags
    adds: NDArray[np.int64]


@dataclass(frozen=True)
class _Plan:
    """How each operator uses channels, and which channels stay of each activation and of each constant tied to one."""

    uses: Mapping[str, ChannelUse | None]
    readers: Mapping[str, _Reader]
    kept: Mapping[str, Flags]


def _reader(op: Op, graph: Graph, mix: Mix, x: Bounds) -> _Reader:
    adds = (x.low - graph.ins(op)[0].q.z) * mix.sums()  # of a constant channel, at each kind of border
    even = x.constant & (adds == adds[0]).all(axis=0)
    unused = ~mix.weights.any(axis=1)
    return _Reader(op, ~(unused | even), np.where(unused, 0, adds[0]))


def _plan(graph: Graph, bounds: Mapping[str, Bounds]) -> _Plan:
    """The fewest channels that have to stay."""
    places: dict[str, slice] = {}
    total = 0
    for name, t in graph.tensors.items():
        places[name] = slice(total, total + channels_of(t))
        total = places[name].stop
    kept = np.zeros(total, np.bool_)
    ties: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    readers: dict[str, _Reader] = {}
    whole = {*graph.inputs, *graph.outputs}
    uses = {op.name: operator(op.kind).channel_use(op, graph) for op in graph.ops}
    for op in graph.ops:
        use = uses[op.name]
        if use is None:
            whole.update(op.inputs, op.outputs)
            continue
        if use.mix is not None:
            readers[op.name] = _reader(op, graph, use.mix, bounds[op.inputs[0]])
        freed = {0, *use.per_output} if use.mix is not None else {*use.per_output}
        for tie in use.ties:
            freed.add(tie.index)
            starts = places[op.inputs[tie.index]].start, places[op.outputs[0]].start
            ties.append((starts[0] + tie.inputs, starts[1] + tie.outputs))
        whole.update(name for i, name in enumerate(op.inputs) if i not in freed)
    for name in whole:
        kept[places[name]] = True
    _spread(graph, kept, places, _joined(total, ties), readers)
    tied = {op.inputs[tie.index] for op in graph.ops if (use := uses[op.name]) for tie in use.ties}
    return _Plan(uses, readers, {n: kept[places[n]] for n, t in graph.tensors.items() if t.data is None or n in tied})


def _joined(total: int, ties: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> NDArray[np.intp]:
    """A number for each channel, the same for all that are tied, directly or through others."""
    groups = np.arange(total)
    while True:
        before = groups.copy()
        for a, b in ties:
            np.minimum.at(groups, a, groups[b])
            np.minimum.at(groups, b, groups[a])
        if np.array_equal(groups, before):
            return groups


def _spread(
    graph: Graph,
    kept: Flags,
    places: Mapping[str, slice],
    groups: NDArray[np.intp],
    readers: Mapping[str, _Reader],
) -> None:
    """Adds to ``kept`` all that it needs: what is tied to it, what its sums are made of, and a few channels of each tensor."""
    while True:
        before = kept.copy()
        for reader in readers.values():
            rows = kept[places[reader.op.outputs[0]]]
            kept[places[reader.op.inputs[0]]] |= reader.needs[rows].any(axis=0)
        alive = np.zeros(len(groups), np.bool_)
        alive[groups[kept]] = True
        kept |= alive[groups]
        if not np.array_equal(kept, before):
            continue
        activations = [places[n] for n, t in graph.tensors.items() if t.data is None]
        short = [a for a in activations if kept[a].sum() < min(FEWEST, a.stop - a.start)]
        if not short:
            return
        kept[short[0].start + np.argmin(kept[short[0]])] = True


def _without(graph: Graph, plan: _Plan) -> Graph:
    """The graph with the channels that stay."""
    edit = Editor(graph)
    for name, flags in plan.kept.items():
        t = graph[name]
        if t.data is None and t.shape:
            edit.tensors[name] = replace(t, shape=(*t.shape[:-1], int(flags.sum())))
    made: dict[tuple[str, bytes], str] = {}
    for index, op in enumerate(graph.ops):
        use = plan.uses[op.name]
        if use is None:
            continue
        names = list(op.inputs)
        for i, t in enumerate(graph.ins(op)):
            if t.data is None:
                continue
            data, qparams = _constant(op, i, t, use, plan)
            if data.shape == t.shape and np.array_equal(data, t.data):
                continue
            # Layers that share a constant go on to do so where they keep the same of it.
            key = t.name, data.tobytes()
            if key not in made:
                made[key] = edit.constant(data, f"{t.name}_kept", qparams)
            names[i] = made[key]
        attrs = op.attrs if use.attrs is None else use.attrs(int(plan.kept[op.outputs[0]].sum()))
        edit.ops[index] = replace(op, inputs=tuple(names), attrs=attrs)
    return edit.finish()


def _constant(op: Op, index: int, t: Tensor, use: ChannelUse, plan: _Plan) -> tuple[Array, QParams | None]:
    """What stays of a constant input, the bias with what the removed channels add, and its quantisation."""
    data, qparams = np.asarray(t.data), t.qparams
    kept_in, kept_out = plan.kept.get(op.inputs[0]), plan.kept[op.outputs[0]]
    axes = [(plan.kept[t.name], data.ndim - 1) for tie in use.ties if tie.index == index]
    axes += [(kept_out, use.per_output[index])] if index in use.per_output else []
    axes += [(kept_in, use.per_input[index])] if index in use.per_input and kept_in is not None else []
    for kept, axis in axes:
        data = np.compress(kept, data, axis)
        if qparams is not None and not qparams.per_tensor and qparams.axis == axis:
            at = np.flatnonzero(kept)
            scale, zero = tuple(qparams.scale[i] for i in at), tuple(qparams.zero_point[i] for i in at)
            qparams = replace(qparams, scale=scale, zero_point=zero)
    if index == BIAS and kept_in is not None and op.name in plan.readers:
        data = data + plan.readers[op.name].adds[kept_out][:, ~kept_in].sum(axis=1)
    return np.ascontiguousarray(data, t.dtype.value), qparams


def _noted(before: Graph, after: Graph) -> Graph:
    """Says what is saved, all together and of each layer."""
    notes: list[Note] = []
    now = {op.name: op for op in after.ops}
    channels, nbytes, macs = 0, 0, 0
    for old in before.ops:
        new = now[old.name]
        saved_bytes = _constant_bytes(before, old) - _constant_bytes(after, new)
        saved_macs = operator(old.kind).macs(old, before) - operator(new.kind).macs(new, after)
        if not saved_bytes and not saved_macs:
            continue
        ins, outs = (
            [channels_of(graph[name]) for graph, name in ((before, a), (after, b))]
            for a, b in ((old.inputs[0], new.inputs[0]), (old.outputs[0], new.outputs[0]))
        )
        channels, nbytes, macs = channels + outs[0] - outs[1], nbytes + saved_bytes, macs + saved_macs
        text = f"{ins[0]} → {ins[1]} channels in, {outs[0]} → {outs[1]} out; {_saved(saved_bytes, saved_macs)}"
        notes.append(Note(KIND, str(old.source), text))
    text = f"{channels} channels of layers that have one value for every input or that nothing needs are removed"
    option = "keep_dead_channels=True or --keep-dead-channels leaves them"
    return after.with_notes([Note(KIND, "the model", f"{text}: {_saved(nbytes, macs)}; {option}"), *notes])


def _saved(nbytes: int, macs: int) -> str:
    return f"{nbytes:,} bytes of constants and {macs:,} MACs less"


def _constant_bytes(graph: Graph, op: Op) -> int:
    return sum(t.nbytes for t in graph.ins(op) if t.constant)
