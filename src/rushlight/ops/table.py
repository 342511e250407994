"""table: y = table[x + 128], the integer form of every function of one int8 tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, Graph, Op, QParams, Tensor, TensorSpec
from rushlight.ops.base import Array, Constant, IntegerBuilder, Kernel, Operator, ParamsType, register, spec
from rushlight.ops.common.channels import Bounds

PARAMS = ParamsType("rl_table_params", (("count", "int32_t", 1),))

#: All int8 values in the order of a table.
CODES = np.arange(-128, 128)


@dataclass(frozen=True)
class TableAttrs:
    """Nothing: the table is the second input."""


def function_table(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    src: QParams,
    dst: QParams,
    low: int,
    high: int,
) -> tuple[NDArray[np.int8], int]:
    """``table[x + 128]`` = clamp(round(f(scale·(x - zero_point)) / dst.scale) + dst.zero_point, low, high) for all int8 x.

    Evaluated in float64, rounded once, halves to the even neighbour. Infinities take the bound that they lie beyond. Where
    f has no value (log and sqrt below 0), an x takes the entry of the nearest x for which it has one. Returns the table
    and how many integers in use had no value; ValueError if none has one.
    """
    with np.errstate(all="ignore"):
        real = np.asarray(function(src.s * (CODES - src.z).astype(np.float64)), np.float64)
        rounded = np.rint(real / dst.s) + dst.z
    known = np.flatnonzero(~np.isnan(real))
    if not len(known):
        raise ValueError("it has no value anywhere in the input's range")
    nearest = known[np.abs(np.arange(256)[:, None] - known[None, :]).argmin(axis=1)]
    used = np.isin(CODES, range(src.qmin, src.qmax + 1))
    table: NDArray[np.int8] = np.clip(rounded[nearest], low, high).astype(np.int8)
    return table, int((np.isnan(real) & used).sum())


def requantize_table(src: QParams, dst: QParams) -> NDArray[np.int8]:
    """The table that takes int8 values of one quantisation to the nearest ones of another."""
    return function_table(lambda x: x, src, dst, dst.qmin, dst.qmax)[0]


def emit_table(
    build: IntegerBuilder, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], which: int = 0
) -> str | None:
    """The integer form of a function of one of the operator's inputs; returns the reason if there is none."""
    x = build.tensor(build.inputs[which])
    low, high = build.clamp_range()
    try:
        table, missing = function_table(function, x.q, build.output, low, high)
    except ValueError as error:
        return str(error)
    if missing:
        build.note("warning", f"has no value for {missing} of the input's integers; each takes its nearest neighbour's")
    build.emit("table", [x.name, build.constant(table, "table")], TableAttrs())
    return None


def indexed_by_byte(table: Array) -> Array:
    """The entries in the order in which kernels index them: by the byte of x as an unsigned number, 0..127 first."""
    return np.ascontiguousarray(np.roll(table, 128, axis=-1))


@register
class Table(Operator):
    """Inputs: x int8 of any shape, table int8 [256], a constant. Output int8, shape of x."""

    kind = "table"
    elementwise = True

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x, table = inputs
        if x.dtype is not DType.INT8 or table.dtype is not DType.INT8 or table.shape != (256,) or not table.constant:
            raise ValueError("it looks up int8 values in a constant table of 256 int8 values")
        return spec(x.shape, DType.INT8)

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        x, table = inputs
        return [table[x.astype(np.int64) + 128]]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        count, lanes = kernel.params["count"], 16 if kernel.tier == "mve" else 4
        left = count % lanes
        tail = float(left > 0) if kernel.tier == "mve" else float(left)
        return {"calls": 1.0, "loops": float(count >= lanes), "blocks": float(count // lanes), "left": tail}

    def bounds(self, op: Op, graph: Graph, inputs: Sequence[Bounds]) -> Bounds:
        table = graph.ins(op)[1].data
        assert table is not None
        ranges = [table[low + 128 : high + 129] for low, high in zip(inputs[0].low, inputs[0].high, strict=True)]
        return Bounds(np.array([r.min() for r in ranges], np.int64), np.array([r.max() for r in ranges], np.int64))

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x, table = graph.ins(op)
        assert table.data is not None
        constants = (Constant("table", indexed_by_byte(table.data)),)
        return [
            Kernel(
                symbol=f"rl_table_s8_{tier}",
                tier=tier,
                header="table/table.h",
                sources=(f"table/{tier}.c",),
                params_type=PARAMS,
                params={"count": x.elements},
                constants=constants,
                in_place=(0,),
            )
            for tier in tiers
            if tier in ("mve", "v6m")
        ]
