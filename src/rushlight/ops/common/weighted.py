"""What convolution, depthwise convolution and linear share: weights per channel, bias, requantisation, overflow proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import DType, QParams, Tensor
from rushlight.ops.base import Array, Constant, IntegerBuilder
from rushlight.ops.common.arith import INT32_MAX, Multiplier, check_accumulator, quantize_multiplier, requantize
from rushlight.ops.common.channels import Bounds, Mix, sum_bounds


@dataclass(frozen=True)
class ChannelTerms:
    """One entry an output channel, int64: ``acc = bias + Σ w·x`` is requantised by the rest.

    The input's zero point is in ``bias`` already (``bias - zero_point·Σw``), so padding must read as the zero point.
    ``bound`` is the largest magnitude any int8 input can give the sum.
    """

    bias: NDArray[np.int64]
    multiplier: NDArray[np.int64]
    shift: NDArray[np.int64]
    pre: NDArray[np.int64]
    bound: NDArray[np.int64]

    def requantize(self, acc: Array, y: Tensor, low: int, high: int) -> NDArray[np.int8]:
        """int8 outputs from sums without bias; channels are the last axis of ``acc``."""
        return requantize(acc + self.bias, self.multiplier, self.shift, self.pre, y.q.z, low, high)

    def bounds(self, mix: Mix, low: Array, high: Array, x: Tensor, y: Tensor, attrs: Any) -> Bounds:
        """Of the outputs, where inputs lie within ``low`` and ``high`` (see ``sum_bounds``)."""
        ends = sum_bounds(mix, low, high, x.q.z)
        least, most = (self.requantize(acc, y, attrs.out_min, attrs.out_max).astype(np.int64) for acc in ends)
        return Bounds(least, most)

    def constant(self) -> Constant:
        """The C array of ``rl_channel`` (8 bytes each: int32 bias, int16 multiplier, uint8 shift, uint8 pre)."""
        packed = np.zeros(len(self.bias), np.dtype([("b", "<i4"), ("m", "<i2"), ("s", "u1"), ("p", "u1")]))
        packed["b"], packed["m"], packed["s"], packed["p"] = self.bias, self.multiplier, self.shift, self.pre
        return Constant("channels", np.frombuffer(packed.tobytes(), "<i4"), "int32_t")


def channel_terms(x: Tensor, w: Tensor, bias: Tensor, y: Tensor, rows: Array) -> ChannelTerms:
    """``rows``: weights as [output channels, taps]. Raises ValueError where exactness cannot be proved."""
    weights = rows.astype(np.int64)
    total = weights.sum(axis=1)
    assert bias.data is not None
    folded = bias.data.astype(np.int64) - x.q.z * total
    low, high = x.q.qmin, x.q.qmax
    peak = np.maximum(weights * low, weights * high).sum(axis=1) + folded
    trough = np.minimum(weights * low, weights * high).sum(axis=1) + folded
    # The partial sums on the way are bounded too, whatever their order: each tap alone adds at most |w|·128.
    bound = np.maximum(np.abs(weights).sum(axis=1) * 128 + np.abs(folded), np.maximum(np.abs(peak), np.abs(trough)))
    scales = w.q.scale if not w.q.per_tensor else w.q.scale * len(folded)
    terms: list[Multiplier] = []
    for channel, scale in enumerate(scales):
        m = quantize_multiplier(x.q.s * scale / y.q.s)
        try:
            check_accumulator(int(bound[channel]), m)
        except ValueError as error:
            raise ValueError(f"output channel {channel}: {error}") from None
        terms.append(m)
    return ChannelTerms(
        folded,
        np.array([t.multiplier for t in terms], np.int64),
        np.array([t.shift for t in terms], np.int64),
        np.array([t.pre for t in terms], np.int64),
        bound,
    )


def integer_weighted(build: IntegerBuilder, kind: str, attrs: Any, channels: int) -> str | None:
    """The integer form of a weighted operator with inputs x, weight[, bias]: bias as int32 at scale_x·scale_w.

    ``attrs`` must have ``out_min`` and ``out_max`` set by the caller. Returns the reason if there is no integer form.
    """
    x, w = build.tensor(build.inputs[0]), build.tensor(build.inputs[1])
    if w.dtype is not DType.INT8 or w.qparams is None or not w.constant:
        return "its weight is not a constant quantised to int8"
    if any(w.qparams.zero_point):
        return "its weight has a zero point other than 0; quantise weights symmetrically"
    if not w.qparams.per_tensor and w.qparams.axis != 0:
        return f"its weight has scales along axis {w.qparams.axis}; they must go with the output channels"
    scale = np.array(w.qparams.scale, np.float64) * x.q.s
    scale = np.broadcast_to(scale, (channels,))
    integers = np.zeros(channels, np.float64)
    if len(build.inputs) > 2:
        bias = build.tensor(build.inputs[2])
        if bias.data is None:
            return "its bias is computed when running"
        real = bias.data.astype(np.float64)
        if bias.qparams is not None:
            real = (real - np.array(bias.qparams.zero_point)) * np.array(bias.qparams.scale)
        integers = np.rint(np.broadcast_to(real, (channels,)) / scale)
        if np.abs(integers).max(initial=0.0) > INT32_MAX:
            return "a bias is beyond 32 bits at the scale of input times weight: the calibration is broken"
    qparams = QParams(tuple(float(s) for s in scale), (0,) * channels, 0, -(2**31), INT32_MAX)
    name = build.constant(integers.astype(np.int32), "bias", qparams)
    build.emit(kind, [build.inputs[0], build.inputs[1], name], attrs)
    return None
