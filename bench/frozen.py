"""Graphs in files: the yardstick nets as they are after import, so that everyone measures the same numbers without torch.

A file is an npz archive: ``graph``, a JSON text, and an array for each constant.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.errors import RushlightError
from rushlight.graph import DType, Graph, Op, QParams, Source, Tensor
from rushlight.ops import operator


@dataclass(frozen=True)
class FrozenNet:
    """An imported graph, and for each layer of the baselines the operator's kind and module in the lowered one."""

    graph: Graph
    layers: tuple[tuple[str, str], ...]


def save_net(net: FrozenNet, path: Path) -> None:
    """Writes the net; the same net gives the same bytes."""
    graph = net.graph
    tensors = [
        {
            "name": t.name,
            "shape": t.shape,
            "dtype": t.dtype.value,
            "qparams": None if t.qparams is None else asdict(t.qparams),
        }
        for t in graph.tensors.values()
    ]
    ops = [asdict(op) | {"attrs": asdict(op.attrs)} for op in graph.ops]
    described = {
        "name": graph.name,
        "inputs": graph.inputs,
        "outputs": graph.outputs,
        "layers": net.layers,
        "tensors": tensors,
        "ops": ops,
    }
    constants = {f"c{i}": t.data for i, t in enumerate(graph.tensors.values()) if t.data is not None}
    text = np.frombuffer(json.dumps(described, ensure_ascii=True).encode(), np.uint8)
    np.savez_compressed(path, allow_pickle=False, graph=text, **constants)


def load_net(path: Path) -> FrozenNet:
    """Reads a net.

    Raises:
        RushlightError: the file does not fit the operators' present attributes, or is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            described = json.loads(file["graph"].tobytes())
            constants = {int(name[1:]): file[name] for name in file.files if name != "graph"}
        graph = _graph(described, constants)
        return FrozenNet(graph, tuple((str(kind), str(module)) for kind, module in described["layers"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RushlightError(f"{path}: cannot be read: {error}; make it anew with `python -m bench.freeze`") from None


def _graph(described: dict[str, Any], constants: dict[int, Any]) -> Graph:
    tensors: dict[str, Tensor] = {}
    for i, entry in enumerate(described["tensors"]):
        q = entry["qparams"]
        qparams = None if q is None else QParams(**{key: _tuples(value) for key, value in q.items()})
        name = entry["name"]
        tensors[name] = Tensor(name, tuple(entry["shape"]), DType(entry["dtype"]), qparams, constants.get(i))
    ops = tuple(
        Op(
            kind=entry["kind"],
            name=entry["name"],
            inputs=tuple(entry["inputs"]),
            outputs=tuple(entry["outputs"]),
            attrs=_attrs_class(entry["kind"])(**{k: _tuples(v) for k, v in entry["attrs"].items()}),
            source=Source(**entry["source"]),
        )
        for entry in described["ops"]
    )
    return Graph(described["name"], tensors, ops, tuple(described["inputs"]), tuple(described["outputs"]))


def _attrs_class(kind: str) -> Any:
    """The dataclass of an operator's attributes: the one in its file whose name ends in Attrs."""
    module = sys.modules[type(operator(kind)).__module__]
    own = [
        value
        for name, value in vars(module).items()
        if name.endswith("Attrs") and is_dataclass(value) and value.__module__ == module.__name__
    ]
    (found,) = own
    return found


def _tuples(value: Any) -> Any:
    """JSON's lists as the tuples they were."""
    return tuple(map(_tuples, value)) if isinstance(value, Sequence) and not isinstance(value, str) else value
