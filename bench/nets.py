"""The yardstick nets: their layers with real weights, and the whole of each as a compiled program."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from bench.baselines import PRUNED, WEIGHTED, LayerShape
from bench.frozen import load_net
from bench.measure import OPT, TIMEOUT_S, Work, settled
from rushlight.emit import write_c
from rushlight.firmware import build_firmware, copy_board
from rushlight.graph import Graph, Op
from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.passes import lower
from rushlight.run import run_qemu
from rushlight.schedule import Schedule, make_schedule
from rushlight.target import resolve

FOLDER = Path(__file__).with_name("nets")
#: The operator that each of the baselines' is in a net.
KINDS = {
    "CONV": "conv2d",
    "DW": "depthwise_conv2d",
    "FC": "linear",
    "ADD": "add",
    "AVG": "avg_pool2d",
    "SM": "softmax",
}


def lowered_for_bench(graph: Graph, *, keep_dead_channels: bool = True) -> Graph:
    """int8 inputs and outputs in NHWC, as CMSIS-NN's functions have them: no quantize at the edges, no copies.

    Layers keep all their channels, so that they are the baselines' layers.
    """
    return lower(graph, io="int8", layout="nhwc", keep_dead_channels=keep_dead_channels)


def called_ops(graph: Graph) -> list[Op]:
    """The operators that take a call."""
    return [op for op in graph.ops if not operator(op.kind).view]


@dataclass(frozen=True)
class Net:
    """A lowered net, and the (kind, module) of the operators that are the baselines' layers."""

    name: str
    graph: Graph
    layers: tuple[tuple[str, str], ...]

    @cached_property
    def input(self) -> Array:
        """One seeded input."""
        (name,) = self.graph.inputs
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return rng.integers(-128, 128, self.graph[name].shape).astype(np.int8)

    @property
    def macs(self) -> int:
        """MACs of its convolutions and linear layers."""
        kinds = {KINDS[op] for op in WEIGHTED}
        return sum(operator(op.kind).macs(op, self.graph) for op in self.graph.ops if op.kind in kinds)

    @cached_property
    def values(self) -> dict[str, Array]:
        """Every tensor of one run of the reference, constants among them."""
        graph = self.graph
        values: dict[str, Array] = {name: t.data for name, t in graph.tensors.items() if t.data is not None}
        values[graph.inputs[0]] = self.input
        for op in graph.ops:
            results = operator(op.kind).reference(op, graph, [values[n] for n in op.inputs])
            values.update(zip(op.outputs, results, strict=True))
        return values

    def work(self, layer: LayerShape) -> Work | None:
        """A layer on what comes in from the layers before it; None if a pass has folded it into another."""
        for op in called_ops(self.graph):
            if (op.kind, op.source.module) == self.layers[layer.index]:
                return Work(str(layer), self.graph, op, [self.values[name] for name in op.inputs])
        return None


@cache
def net(name: str) -> Net:
    """The net, lowered by the passes of this checkout; a pruned one without its dead channels."""
    frozen = load_net(FOLDER / f"{PRUNED.get(name, name)}.npz")
    graph = lowered_for_bench(frozen.graph, keep_dead_channels=name not in PRUNED)
    return Net(name, graph, frozen.layers)


@cache
def schedule(name: str, target: str) -> Schedule:
    """The net's schedule for a target."""
    return make_schedule(net(name).graph, resolve(target))


def program(name: str, target: str, compiler: str, opt: str = OPT) -> Path:
    """The net's program for a target, built with the harness.

    Raises:
        RushlightError: building failed.
    """
    made = schedule(name, target)
    folder = settled(lambda path: write_c(made, path, copy_board=copy_board))
    return build_firmware(folder, made.target, toolchain=compiler, opt=opt).elf


def count_net(name: str, target: str, compiler: str, opt: str = OPT) -> int | None:
    """Instructions of the compiled program's run; None where its outputs are not the reference's.

    Raises:
        RushlightError: building or running failed.
    """
    elf, this = program(name, target, compiler, opt), net(name)
    expected = b"".join(this.values[output].tobytes() for output in this.graph.outputs)
    result = run_qemu(elf, resolve(target), [this.input.tobytes()], len(expected), timeout_s=TIMEOUT_S)
    return result.instructions[0] if result.outputs[0] == expected else None
