"""concat: tensors one after another along an axis. Inputs of another quantisation than the output's pass through a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, Graph, Op, QParams, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    Array,
    AtenNode,
    AtenRule,
    Constant,
    ImportContext,
    IntegerBuilder,
    Kernel,
    Operator,
    ParamsType,
    product,
    register,
    spec,
)
from rushlight.ops.common.channels import ChannelUse, Tie, carried, channels_of
from rushlight.ops.common.walks import added, aligned, memcpy
from rushlight.ops.table import indexed_by_byte, requantize_table

#: Kernels exist for so many inputs; one with fewer leaves the last ones empty.
COUNTS = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class ConcatAttrs:
    """``axis``: 0 or more."""

    axis: int


def _lower_cat(ctx: ImportContext, node: AtenNode) -> str:
    rank = len(node.out_shapes[0])
    # torch lets empty tensors of rank 1 stand among others
    names = [n for n in node["tensors"] if ctx.tensor(n).elements > 0]
    if len(names) == 1:
        return str(names[0])
    return _emit(ctx, names, node["dim"] % rank)


def _lower_stack(ctx: ImportContext, node: AtenNode) -> str:
    shape = node.out_shapes[0]
    axis = node["dim"] % len(shape)
    single = (*shape[:axis], 1, *shape[axis + 1 :])
    names = [ctx.reshape(n, single) for n in node["tensors"]]
    return names[0] if len(names) == 1 else _emit(ctx, names, axis)


def _emit(ctx: ImportContext, names: Sequence[str], axis: int) -> str:
    if len(names) > COUNTS[-1]:
        raise ctx.refuse(f"it joins {len(names)} tensors, {COUNTS[-1]} at most", "join them in two steps")
    return ctx.emit("concat", names, ConcatAttrs(axis))


#: The parameter block for each number of pointers.
BLOCKS = {
    count: ParamsType(
        f"rl_concat{count}_params",
        (
            ("outer", "int32_t", 1),
            ("row", "int32_t", 1),
            ("run", "int32_t", count),
            ("offset", "int32_t", count),
            ("table", "int16_t", count),
        ),
    )
    for count in COUNTS
}


@register
class Concat(Operator):
    """2 to 32 inputs that differ along ``axis`` only, int8 (float32 where nothing is computed); some may be constants."""

    kind = "concat"
    monotone = True
    aten = (
        AtenRule(
            ("cat.default", "concat.default", "concatenate.default"),
            _lower_cat,
            Annotation(("tensors",), output="same"),
        ),
        AtenRule(("stack.default",), _lower_stack, Annotation(("tensors",), output="same")),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        first = next((t for t in inputs if not t.constant), inputs[0])
        shape = list(first.shape)
        if not 0 <= attrs.axis < len(shape):
            raise ValueError(f"there is no axis {attrs.axis} in {shape}")
        for t in inputs:
            others = list(t.shape)
            if len(others) != len(shape) or any(
                a != b for i, (a, b) in enumerate(zip(others, shape, strict=True)) if i != attrs.axis
            ):
                raise ValueError(f"{others} and {shape} differ elsewhere than along axis {attrs.axis}")
        shape[attrs.axis] = sum(t.shape[attrs.axis] for t in inputs)
        return spec(shape, first.dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        names: list[str] = []
        for name in build.inputs:
            t, q = build.tensor(name), build.output
            if t.data is not None and t.dtype is not DType.INT8:
                if not np.isfinite(t.data).all():
                    return "a constant among its inputs has NaN or infinite values"
                data = np.clip(np.rint(t.data.astype(np.float64) / q.s) + q.z, q.qmin, q.qmax).astype(np.int8)
                name = build.constant(data, "part", q)
            elif t.qparams is None:
                return f"its input '{name}' is {t.dtype} and not quantised"
            elif not t.q.same_mapping(q):
                build.note("requantise", f"its input '{name}' has another scale than its output: a table maps it")
            names.append(name)
        build.emit(self.kind, names, op.attrs)
        return None

    def check(self, op: Op, graph: Graph) -> None:
        if not 2 <= len(op.inputs) <= COUNTS[-1]:
            raise ValueError(f"it joins {len(op.inputs)} tensors, not 2 to {COUNTS[-1]}")
        for t in (*graph.ins(op), *graph.outs(op)):
            if t.dtype is not DType.INT8 or t.qparams is None or not t.qparams.per_tensor:
                raise ValueError(f"tensor '{t.name}' is not int8 with one scale")

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        y = graph.outs(op)[0]
        parts = []
        for t, data in zip(graph.ins(op), inputs, strict=True):
            table = _table(t, y.q)
            parts.append(data if table is None else table[data.astype(np.int64) + 128])
        return [np.concatenate(parts, axis=op.attrs.axis)]

    def channel_use(self, op: Op, graph: Graph) -> ChannelUse | None:
        if op.attrs.axis != len(graph.outs(op)[0].shape) - 1:
            return carried(op, graph, range(len(op.inputs)))
        ends = np.cumsum([channels_of(t) for t in graph.ins(op)])
        ties = [
            Tie(i, np.arange(channels_of(t)), np.arange(end - channels_of(t), end))
            for i, (t, end) in enumerate(zip(graph.ins(op), ends, strict=True))
        ]
        return ChannelUse(tuple(ties))

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        p = kernel.params
        outer, i, parts = p["outer"], np.arange(p["outer"]), [{"calls": 1.0}]
        for run, offset, table in zip(p["run"], p["offset"], p["table"], strict=True):
            if table >= 0:
                parts.append({"mapped rows": float(outer), "mapped": float(outer * run)})
            elif run > 0:
                parts.append(memcpy(run, aligned(i * run, offset + i * p["row"]), outer))
        return added(parts)

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        ins, y, axis = graph.ins(op), graph.outs(op)[0], op.attrs.axis
        tables = [_table(t, y.q) for t in ins]
        known = [t for t in tables if t is not None]
        count = next(c for c in COUNTS if c >= len(ins))
        below = product(y.shape[axis + 1 :])
        runs = [t.shape[axis] * below for t in ins]
        offsets = [sum(runs[:i]) for i in range(len(ins))]
        # pointers: activations, empty runs on the last of them, then the constants
        live = [i for i, t in enumerate(ins) if not t.constant]
        fixed = [i for i, t in enumerate(ins) if t.constant]
        fill = count - len(ins)
        order: list[int | None] = [*live, *[None] * fill, *fixed]
        params: dict[str, Any] = {
            "outer": product(y.shape[:axis]),
            "row": y.shape[axis] * below,
            "run": [0 if i is None else runs[i] for i in order],
            "offset": [0 if i is None else offsets[i] for i in order],
        }
        constants = [Constant(f"part{i}", np.ascontiguousarray(ins[i].data)) for i in fixed]
        numbers = iter(range(len(known)))
        which = [-1 if t is None else next(numbers) for t in tables]
        params["table"] = [-1 if i is None else which[i] for i in order]
        if known:
            constants.append(Constant("tables", indexed_by_byte(np.stack(known))))
        return [
            Kernel(
                symbol=f"rl_concat{count}{'_table' if known else ''}_s8_v6m",
                tier="v6m",
                header="concat/concat.h",
                sources=("concat/v6m.c",),
                params_type=BLOCKS[count],
                params=params,
                constants=tuple(constants),
                reads=(*live, *[live[-1]] * fill),
            )
        ]

    def permuted(self, op: Op, graph: Graph, permutation: tuple[int, ...]) -> Any | None:
        return ConcatAttrs(permutation[op.attrs.axis])


def _table(x: Tensor, y: QParams) -> NDArray[np.int8] | None:
    """The table that brings an input to the output's quantisation, None where it has it."""
    return None if x.q.same_mapping(y) else requantize_table(x.q, y)
