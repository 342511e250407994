"""quantize/dequantize nodes of PT2E and other tools → int8 tensors that carry their quantisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rushlight.frontend.context import GraphContext
from rushlight.graph import DType, QParams

_NAMESPACE = "quantized_decomposed."
_DTYPES = {torch.int8: DType.INT8, torch.int16: DType.INT16, torch.int32: DType.INT32}


def is_quantize(target: str) -> bool:
    """True for a node that goes from float to integers."""
    return target.startswith((f"{_NAMESPACE}quantize_per_tensor.", f"{_NAMESPACE}quantize_per_channel."))


def is_dequantize(target: str) -> bool:
    """True for a node that goes from integers to float."""
    return target.startswith((f"{_NAMESPACE}dequantize_per_tensor.", f"{_NAMESPACE}dequantize_per_channel."))


@dataclass(frozen=True)
class Scheme:
    """A q/dq node's quantisation: what the integers of this program mean, and by how much they differ from the node's."""

    qparams: QParams
    dtype: DType
    shift: int = 0  # to subtract from the node's integers: 128 for uint8

    def integers(self, values: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
        """The node's integers as this program has them."""
        return (values.to(torch.int64).numpy() - self.shift).astype(self.dtype.value)


def scheme_of(ctx: GraphContext, args: dict[str, Any]) -> Scheme:
    """Reads scale, zero point, range, type and axis from a node's arguments (tensors among them as torch tensors)."""
    dtype = args["dtype"]
    scales = args["scale"] if "scale" in args else args["scales"]
    zero_points = args["zero_point"] if "zero_point" in args else args["zero_points"]
    if isinstance(scales, str) or isinstance(zero_points, str):
        raise ctx.refuse(
            "its scale is computed at run time (dynamic quantisation)",
            "quantise with fixed scales, e.g. rushlight.quantize",
        )
    scale = np.atleast_1d(np.asarray(scales, np.float64))
    zero = (
        np.zeros(scale.shape, np.int64)
        if zero_points is None
        else np.atleast_1d(np.asarray(zero_points)).astype(np.int64)
    )
    shift = 128 if dtype == torch.uint8 else 0
    if dtype != torch.uint8 and dtype not in _DTYPES:
        raise ctx.refuse(
            f"it quantises to {str(dtype).removeprefix('torch.')}", "quantise activations and weights to int8"
        )
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise ctx.refuse(
            f"its scale is {scale[~(np.isfinite(scale) & (scale > 0))][0]}", "calibrate again, on finite data"
        )
    axis = args.get("axis")
    per_channel = axis is not None and scale.size > 1
    qparams = QParams(
        scale=tuple(float(np.float32(s)) for s in scale),
        zero_point=tuple(int(z) - shift for z in zero),
        axis=int(axis) if per_channel and axis is not None else None,
        qmin=int(args["quant_min"]) - shift,
        qmax=int(args["quant_max"]) - shift,
    )
    return Scheme(qparams, _DTYPES.get(dtype, DType.INT8), shift)


def quantized_constant(scheme: Scheme, values: Tensor) -> Tensor:
    """A float constant as the node's own integers (before any shift): what torch computes."""
    q = scheme.qparams
    shape = [1] * values.dim()
    if q.axis is not None:
        shape[q.axis] = -1
    scale = torch.tensor(q.scale, dtype=torch.float32).reshape(shape)
    zero = torch.tensor(q.zero_point, dtype=torch.float32).reshape(shape) + scheme.shift
    integers = torch.round(values * (1.0 / scale)) + zero
    return integers.clamp(q.qmin + scheme.shift, q.qmax + scheme.shift).to(torch.int64)
