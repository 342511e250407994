"""permute: dimension i of the output is dimension permutation[i] of the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.graph import DType, Graph, Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    Array,
    AtenNode,
    AtenRule,
    ImportContext,
    Kernel,
    Lower,
    Operator,
    ParamsType,
    product,
    register,
    spec,
)
from rushlight.ops.common.strided import Axis, merged, odometer, row_major_strides, walked
from rushlight.ops.common.walks import aligned, memcpy

OUTER = 4

PARAMS = ParamsType(
    "rl_permute_params",
    (
        ("outer", "int32_t", OUTER),
        ("step", "int32_t", OUTER),
        ("rows", "int32_t", 1),
        ("columns", "int32_t", 1),
        ("row_stride", "int32_t", 1),
        ("column_stride", "int32_t", 1),
    ),
)


@dataclass(frozen=True)
class PermuteAttrs:
    """As torch.permute takes it, without negative numbers."""

    permutation: tuple[int, ...]


def _swap(rank: int, a: int, b: int) -> list[int]:
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    return order


def _move(rank: int, source: int | Sequence[int], destination: int | Sequence[int]) -> list[int]:
    sources = [s % rank for s in ([source] if isinstance(source, int) else source)]
    destinations = [d % rank for d in ([destination] if isinstance(destination, int) else destination)]
    order = [i for i in range(rank) if i not in sources]
    for at, dim in sorted(zip(destinations, sources, strict=True)):
        order.insert(at, dim)
    return order


#: From the rank and the node, the permutation; entries may be negative.
Order = Callable[[int, AtenNode], Sequence[int]]


def _lower(order: Order) -> Lower:
    def lower(ctx: ImportContext, node: AtenNode) -> str:
        rank = len(ctx.tensor(node["self"]).shape)
        if rank == 0:
            return str(node["self"])
        return ctx.permute(node["self"], [d % rank for d in order(rank, node)])

    return lower


def _rule(targets: str, order: Order) -> AtenRule:
    return AtenRule(tuple(targets.split()), _lower(order), Annotation(("self",), output="same"))


@register
class Permute(Operator):
    """Any rank up to 6; int8 or float32."""

    kind = "permute"
    moves_values = True
    aten = (
        _rule("permute.default", lambda rank, n: n["dims"]),
        _rule("transpose.int", lambda rank, n: _swap(rank, n["dim0"], n["dim1"])),
        _rule("swapaxes.default", lambda rank, n: _swap(rank, n["axis0"], n["axis1"])),
        _rule("swapdims.default", lambda rank, n: _swap(rank, n["dim0"], n["dim1"])),
        _rule("t.default numpy_T.default", lambda rank, n: list(reversed(range(rank)))),
        _rule("mT.default", lambda rank, n: _swap(rank, -1, -2)),
        _rule(
            "movedim.int movedim.intlist moveaxis.int moveaxis.intlist",
            lambda rank, n: _move(rank, n["source"], n["destination"]),
        ),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        x = inputs[0]
        if sorted(attrs.permutation) != list(range(len(x.shape))):
            raise ValueError(f"{list(attrs.permutation)} does not permute the dimensions of {list(x.shape)}")
        return spec([x.shape[d] for d in attrs.permutation], x.dtype)

    def check(self, op: Op, graph: Graph) -> None:
        x = graph.ins(op)[0]
        if x.dtype not in (DType.INT8, DType.FLOAT32):
            raise ValueError(f"{x.dtype} values have no permute kernel")
        if len(x.shape) > 6:
            raise ValueError(f"rank {len(x.shape)} is above 6")

    def reference(self, op: Op, graph: Graph, inputs: Sequence[Array]) -> list[Array]:
        return [np.ascontiguousarray(inputs[0].transpose(op.attrs.permutation))]

    def features(self, kernel: Kernel) -> Mapping[str, float]:
        p = kernel.params
        turns, rows, columns = product(p["outer"]), p["rows"], p["columns"]
        size = 1 if kernel.symbol.startswith("rl_permute_s8") else 4
        features = {"calls": 1.0, "turns": float(turns)}
        if p["column_stride"] == 1:
            length = columns * size
            x = size * (walked(p["outer"], p["step"])[:, None] + p["row_stride"] * np.arange(rows))
            y = length * np.arange(turns * rows).reshape(turns, rows)
            return features | memcpy(length, aligned(x, y), turns * rows)
        if p["row_stride"] == 1 and size == 1:
            fours, left = divmod(columns, 4)
            threes, ones = (1, 0) if left == 3 else (0, left)
            features["strips"] = float(turns * (fours + threes + ones))
            counts = {"rows of 4": fours, "rows of 3": threes, "rows of 1": ones}
            return features | {name: float(turns * rows * count) for name, count in counts.items()}
        return features | {"gathered rows": float(turns * rows), "gathered": float(turns * rows * columns)}

    def kernels(self, op: Op, graph: Graph, tiers: Sequence[str]) -> list[Kernel]:
        x = graph.ins(op)[0]
        strides = row_major_strides(x.shape)
        axes = merged([(x.shape[d], (strides[d],)) for d in op.attrs.permutation])
        inner: list[Axis] = [(1, (0,))] * max(0, 2 - len(axes)) + axes[-2:]
        outer, step = odometer(axes[:-2], OUTER, 0)
        (rows, (row_stride,)), (columns, (column_stride,)) = inner
        params = {
            "outer": outer,
            "step": step,
            "rows": rows,
            "columns": columns,
            "row_stride": row_stride,
            "column_stride": column_stride,
        }
        suffix = "s8" if x.dtype is DType.INT8 else "f32"
        return [
            Kernel(
                symbol=f"rl_permute_{suffix}_{tier}",
                tier=tier,
                header="permute/permute.h",
                sources=(f"permute/{tier}.c",),
                params_type=PARAMS,
                params=params,
            )
            for tier in tiers
            if tier in ("v6m",)
        ]
