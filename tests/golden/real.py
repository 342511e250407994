"""What each operator computes, in float64 and written plainly: nothing here is shared with the compiler."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushlight.graph import Tensor

Real = NDArray[np.float64]


def real_values(tensor: Tensor, data: NDArray[Any]) -> Real:
    """scale · (integer - zero point); scales of a channel go with the first dimension."""
    if tensor.qparams is None:
        return data.astype(np.float64)
    shape = (-1, *[1] * (data.ndim - 1)) if len(tensor.qparams.scale) > 1 else (1,) * data.ndim
    scale, zero = (np.array(v).reshape(shape) for v in (tensor.qparams.scale, tensor.qparams.zero_point))
    return np.asarray((data.astype(np.float64) - zero) * scale)


def _windows(x: Real, a: Any, shape: tuple[int, ...]) -> dict[tuple[int, int], list[tuple[int, int, Real | None]]]:
    """Output place → (tap y, tap x, the input's channels there [N, C], None in the padding)."""
    found: dict[tuple[int, int], list[tuple[int, int, Real | None]]] = {}
    for i, j in product(range(shape[1]), range(shape[2])):
        found[i, j] = []
        for ky, kx in product(range(a.kernel[0]), range(a.kernel[1])):
            row = i * a.stride[0] + ky * a.dilation[0] - a.padding[0]
            col = j * a.stride[1] + kx * a.dilation[1] - a.padding[2]
            inside = 0 <= row < x.shape[1] and 0 <= col < x.shape[2]
            found[i, j].append((ky, kx, x[:, row, col] if inside else None))
    return found


def _conv2d(a: Any, shape: tuple[int, ...], x: Real, w: Real, b: Real) -> Real:
    y = np.zeros(shape) + b
    each_in, each_out = w.shape[3], shape[3] // a.groups
    for (i, j), taps in _windows(x, a, shape).items():
        for ky, kx, seen in taps:
            for o in range(shape[3]) if seen is not None else ():
                assert seen is not None
                first = o // each_out * each_in
                y[:, i, j, o] += seen[:, first : first + each_in] @ w[o, ky, kx]
    return y


def _depthwise_conv2d(a: Any, shape: tuple[int, ...], x: Real, w: Real, b: Real) -> Real:
    y = np.zeros(shape) + b
    for (i, j), taps in _windows(x, a, shape).items():
        for ky, kx, seen in taps:
            for o in range(shape[3]) if seen is not None else ():
                assert seen is not None
                y[:, i, j, o] += seen[:, o // a.multiplier] * w[o, ky, kx]
    return y


def _max_pool2d(a: Any, shape: tuple[int, ...], x: Real) -> Real:
    y = np.full(shape, -np.inf)
    for (i, j), taps in _windows(x, a, shape).items():
        y[:, i, j] = np.max([seen for _, _, seen in taps if seen is not None], axis=0)
    return y


def _avg_pool2d(a: Any, shape: tuple[int, ...], x: Real) -> Real:
    y = np.zeros(shape)
    for (i, j), taps in _windows(x, a, shape).items():
        count = 0
        for ky, kx, seen in taps:
            row, col = i * a.stride[0] + ky - a.padding[0], j * a.stride[1] + kx - a.padding[2]
            top, bottom, left, right = a.counted
            count += -top <= row < x.shape[1] + bottom and -left <= col < x.shape[2] + right
            y[:, i, j] += 0.0 if seen is None else seen
        y[:, i, j] /= a.divisor or count
    return y


def _pad(a: Any, shape: tuple[int, ...], x: Real) -> Real:
    y = np.full(shape, a.value)
    for place in np.ndindex(*shape):
        source = tuple(p - before for p, (before, _) in zip(place, a.pads, strict=True))
        if all(0 <= s < size for s, size in zip(source, x.shape, strict=True)):
            y[place] = x[source]
    return y


def _permute(a: Any, shape: tuple[int, ...], x: Real) -> Real:
    y = np.empty(shape)
    for place in np.ndindex(*x.shape):
        y[tuple(place[d] for d in a.permutation)] = x[place]
    return y


def _softmax(a: Any, shape: tuple[int, ...], x: Real) -> Real:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _add(a: Any, shape: tuple[int, ...], x: Real, other: Real) -> Real:
    return np.asarray(x - a.alpha * other if a.subtract else x + a.alpha * other)


#: kind → function of attributes, output shape and real inputs.
REAL: dict[str, Callable[..., Real]] = {
    "add": _add,
    "avg_pool2d": _avg_pool2d,
    "concat": lambda a, shape, *parts: np.concatenate(parts, axis=a.axis),
    "conv2d": _conv2d,
    "copy": lambda a, shape, x: x,
    "depthwise_conv2d": _depthwise_conv2d,
    "dequantize": lambda a, shape, x: x,
    "linear": lambda a, shape, x, w, b: x @ w.T + b,
    "max_pool2d": _max_pool2d,
    "mul": lambda a, shape, x, other: x * other,
    "pad": _pad,
    "permute": _permute,
    "quantize": lambda a, shape, x: x,
    "reshape": lambda a, shape, x: x.reshape(shape),
    "softmax": _softmax,
}

#: Functions that the golden tables stand for.
TABLES: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
}
