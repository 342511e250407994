"""What add and mul share: operands that are numbers or constants, broadcasting, and the block ``rl_broadcast``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, Graph, Op, QParams, Tensor
from rushlight.ops.base import AtenNode, Constant, ImportContext, IntegerBuilder, product
from rushlight.ops.common.strided import merged, odometer, row_major_strides
from rushlight.ops.unary import UnaryAttrs

OUTER = 5

BROADCAST_FIELDS = (
    ("walk.outer", "int32_t", OUTER),
    ("walk.a_step", "int32_t", OUTER),
    ("walk.b_step", "int32_t", OUTER),
    ("walk.inner", "int32_t", 1),
    ("walk.a_inner", "int16_t", 1),
    ("walk.b_inner", "int16_t", 1),
)


def number_of(ctx: ImportContext, argument: Any) -> float | None:
    """The one number that an argument stands for: a Python number, or a constant tensor of one element; else None."""
    return float(argument) if isinstance(argument, bool | int | float) else _number(ctx.tensor(argument))


def _number(t: Tensor) -> float | None:
    if t.data is None or t.elements != 1:
        return None
    value = float(t.data.reshape(()))
    return value if t.qparams is None else (value - t.q.z) * t.q.s


def single_number(build: IntegerBuilder) -> tuple[int, float] | None:
    """The index of the other input and the number, if one operand is a constant of one element that adds no dimension."""
    for x, other in ((0, 1), (1, 0)):
        a, b = (build.tensor(build.inputs[i]) for i in (x, other))
        number = _number(b)
        if number is not None and not a.constant and a.qparams is not None and len(b.shape) <= len(a.shape):
            return x, number
    return None


def emit_function(ctx: ImportContext, node: AtenNode, x: str, function: str, *parameters: float) -> str:
    """Appends a function of one tensor; a constant of one element and more dimensions still gives its rank to the output."""
    return ctx.reshape(ctx.emit("unary", [x], UnaryAttrs(function, parameters)), node.out_shapes[0])


def broadcast_shape(a: Tensor, b: Tensor) -> tuple[int, ...]:
    """The output's shape; ValueError if the operands do not fit each other."""
    try:
        return tuple(int(d) for d in np.broadcast_shapes(a.shape, b.shape))
    except ValueError:
        raise ValueError(f"{list(a.shape)} and {list(b.shape)} do not broadcast") from None


def _strides(shape: Sequence[int], rank: int) -> list[int]:
    padded = (1,) * (rank - len(shape)) + tuple(shape)
    return [0 if size == 1 else s for size, s in zip(padded, row_major_strides(padded), strict=True)]


def broadcast_params(a: Tensor, b: Tensor) -> dict[str, Any]:
    """The values of ``rl_broadcast``: dense runs of ``inner`` outputs, each operand moving on or standing still in a run."""
    shape = broadcast_shape(a, b)
    strides = zip(_strides(a.shape, len(shape)), _strides(b.shape, len(shape)), strict=True)
    axes = merged(list(zip(shape, strides, strict=True))) or [(1, (1, 1))]
    inner, (a_inner, b_inner) = axes[-1]
    outer, a_step = odometer(axes[:-1], OUTER, 0)
    _, b_step = odometer(axes[:-1], OUTER, 1)
    return {
        "walk.outer": outer,
        "walk.a_step": a_step,
        "walk.b_step": b_step,
        "walk.inner": inner,
        "walk.a_inner": a_inner,
        "walk.b_inner": b_inner,
    }


def check_operands(a: Tensor, b: Tensor) -> None:
    """ValueError if the kernels cannot walk these shapes."""
    if len(broadcast_shape(a, b)) > 6:
        raise ValueError(f"rank {len(broadcast_shape(a, b))} is above 6")
    if a.constant and b.constant:
        raise ValueError("both operands are constants")


@dataclass(frozen=True)
class Operands:
    """The operands in the order of the C function's pointers: activations first, then the constant if there is one."""

    order: tuple[int, int]
    reads: tuple[int, ...]
    constants: tuple[Constant, ...]
    in_place: tuple[int, ...]


def operands(op: Op, graph: Graph) -> Operands:
    """How the operator's two inputs are passed to its kernels."""
    ins, y = graph.ins(op), graph.outs(op)[0]
    order = (1, 0) if ins[0].constant else (0, 1)
    reads = tuple(i for i in order if not ins[i].constant)
    constants = tuple(
        Constant("operand", np.ascontiguousarray(t.data)) for i in order if (t := ins[i]).data is not None
    )
    return Operands(order, reads, constants, tuple(i for i in reads if ins[i].shape == y.shape))


def best_qparams(data: NDArray[Any]) -> QParams:
    """int8 quantisation of a constant by its smallest and greatest value (and 0)."""
    low, high = min(0.0, float(data.min())), max(0.0, float(data.max()))
    scale = (high - low) / 255 if high > low else 1.0
    return QParams((scale,), (int(np.clip(round(-128 - low / scale), -128, 127)),))


def quantized_inputs(build: IntegerBuilder) -> list[str] | str:
    """The operator's inputs with a float constant quantised to int8; the reason where that cannot be."""
    names: list[str] = []
    for name in build.inputs:
        t = build.tensor(name)
        if t.data is not None and t.dtype is not DType.INT8:
            real = t.data.astype(np.float64)
            if not np.isfinite(real).all():
                return "its constant operand has NaN or infinite values"
            q = best_qparams(real)
            data = np.clip(np.rint(real / q.s) + q.z, -128, 127).astype(np.int8)
            build.note("quantise", f"its constant operand {list(t.shape)} is quantised to int8, scale {q.s:.3g}")
            name = build.constant(data, "operand", q)
        elif t.qparams is None:
            return f"its input '{name}' is {t.dtype} and not quantised"
        elif not t.qparams.per_tensor:
            return f"its input '{name}' has a scale for each channel; quantise it per tensor"
        names.append(name)
    return names


def parameter_block(op: Op, graph: Graph, order: tuple[int, int], values: Mapping[str, Any]) -> dict[str, Any]:
    """``rl_broadcast`` for the operands in pointer order, and the operator's own values."""
    ins = graph.ins(op)
    return {**broadcast_params(ins[order[0]], ins[order[1]]), **values}


def broadcast_features(params: Mapping[str, Any], lanes: int) -> dict[str, float]:
    """How often the loops of add and mul run; ``lanes``: outputs that a kernel computes together."""
    runs, inner = product(params["walk.outer"]), params["walk.inner"]
    kind = "pair" if params["walk.a_inner"] and params["walk.b_inner"] else "scale"
    features = {"calls": 1.0, f"{kind} runs": float(runs), f"{kind} blocks": float(runs * (inner // lanes))}
    if lanes > 1:
        left = inner % lanes
        counts = {"loops": inner >= lanes, "left": left, "tails": left > 0}
        features |= {f"{kind} {name}": float(runs * count) for name, count in counts.items()}
    return features
