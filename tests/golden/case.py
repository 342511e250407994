"""A golden case: one operator with fixed integers in and out, as JSON that a person can read."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import REGISTRY
from rushlight.ops.base import Array, Operator
from tests.kernels.harness import single_op

FOLDER = Path(__file__).parent

#: Every operator that is computed in integers; the others (relu, sigmoid, …) become one of these.
KINDS = sorted(kind for kind, op in REGISTRY.items() if type(op).reference is not Operator.reference)


@dataclass(frozen=True)
class Case:
    """``graph`` holds the operator alone, ``inputs`` its activations, ``expected`` its output."""

    name: str
    graph: Graph
    inputs: list[Array]
    expected: Array
    function: str = ""  # what a table was made from

    @property
    def arrays(self) -> list[Array]:
        """All inputs in the operator's order, constants included."""
        given = dict(zip(self.graph.inputs, self.inputs, strict=True))
        return [given[t.name] if t.data is None else t.data for t in self.graph.ins(self.graph.ops[0])]


def path_of(kind: str) -> Path:
    return FOLDER / f"{kind}.json"


def load(kind: str) -> list[Case]:
    return [_case(kind, facts) for facts in json.loads(path_of(kind).read_text(encoding="utf-8"))]


def dump(cases: list[Case]) -> str:
    """The text of a file: a line for each row of a tensor's last dimension."""
    return "[\n" + ",\n".join(_text(case) for case in cases) + "\n]\n"


def _attrs_class(kind: str) -> type[Any]:
    module = sys.modules[type(REGISTRY[kind]).__module__]
    (found,) = (c for n, c in vars(module).items() if n.lower() == f"{kind.replace('_', '')}attrs")
    assert isinstance(found, type)
    return found


def _case(kind: str, facts: dict[str, Any]) -> Case:
    tensors = [_tensor(f"x{i}", t) for i, t in enumerate(facts["inputs"])]
    attrs = _attrs_class(kind)(**{name: _tuples(value) for name, value in facts["attrs"].items()})
    given = [
        t if c.get("constant") else dataclasses.replace(t, data=None)
        for t, c in zip(tensors, facts["inputs"], strict=True)
    ]
    output = _tensor("y", facts["output"])
    assert output.data is not None
    graph = single_op(kind, attrs, given, output.qparams)
    activations = [t.data for t, g in zip(tensors, given, strict=True) if g.data is None and t.data is not None]
    return Case(facts["name"], graph, activations, output.data, facts.get("function", ""))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _tensor(name: str, facts: dict[str, Any]) -> Tensor:
    dtype, shape = DType(facts["dtype"]), tuple(facts["shape"])
    values = [float(v) if dtype is DType.FLOAT32 else v for row in facts["rows"] for v in row]
    q = None
    if "scale" in facts:
        scales = facts["scale"] if isinstance(facts["scale"], list) else [facts["scale"]]
        axis = 0 if isinstance(facts["scale"], list) else None
        q = QParams(tuple(scales), (facts["zero_point"],) * len(scales), axis)
    return Tensor(name, shape, dtype, q, np.array(values, dtype.value).reshape(shape))


def _text(case: Case) -> str:
    op = case.graph.ops[0]
    attrs = dataclasses.asdict(op.attrs)
    lines = [f'"name": {json.dumps(case.name)}', f'"attrs": {json.dumps(attrs, allow_nan=False)}']
    lines += [f'"function": {json.dumps(case.function)}'] if case.function else []
    tensors = zip(case.graph.ins(op), case.arrays, strict=True)
    lines.append('"inputs": [' + ", ".join(_tensor_text(t, data) for t, data in tensors) + "]")
    lines.append('"output": ' + _tensor_text(case.graph.outs(op)[0], case.expected))
    return "{" + ",\n".join(lines) + "}"


def _tensor_text(tensor: Tensor, data: Array) -> str:
    facts: dict[str, Any] = {"dtype": tensor.dtype.value, "shape": list(tensor.shape)}
    if tensor.qparams is not None:
        q = tensor.qparams
        assert len(set(q.zero_point)) == 1 and (q.axis in (None, 0))
        facts |= {"scale": q.s if q.per_tensor else list(q.scale), "zero_point": q.zero_point[0]}
    facts |= {"constant": True} if tensor.constant else {}
    rows = data.reshape(-1, max(1, data.shape[-1] if data.ndim else 1)).tolist()
    text = ",\n  ".join(json.dumps([_number(v) for v in row], separators=(",", ":")) for row in rows)
    return json.dumps(facts)[:-1] + f', "rows": [\n  {text}]}}'


def _number(value: float) -> float | str:
    """JSON has no NaN and no infinities."""
    return value if math.isfinite(value) else str(value)
