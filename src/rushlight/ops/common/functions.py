"""The functions of one variable that become tables: name → float64 NumPy function of x and of numeric parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.float64]


def _erf(x: Real) -> Real:
    return np.array([math.erf(v) for v in x.ravel()], np.float64).reshape(x.shape)


def _sigmoid(x: Real) -> Real:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _softplus(x: Real, beta: float = 1.0, threshold: float = math.inf) -> Real:
    return np.where(x * beta > threshold, x, np.logaddexp(0.0, x * beta) / beta)


def _elu(x: Real, alpha: float, scale: float, input_scale: float) -> Real:
    y: Real = np.where(x > 0, scale * x, scale * alpha * np.expm1(np.minimum(x, 0.0) * input_scale))
    return y


def _gelu_tanh(x: Real) -> Real:
    y: Real = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * np.power(x, 3))))
    return y


def _softshrink(x: Real, lambd: float) -> Real:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0.0))


# selu's constants, as torch has them
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

FUNCTIONS: Mapping[str, Callable[..., Real]] = {
    "abs": np.abs,
    "atan": np.arctan,
    "ceil": np.ceil,
    "celu": lambda x, alpha: _elu(x, alpha, 1.0, 1.0 / alpha),
    "cos": np.cos,
    "elu": _elu,
    "erf": _erf,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": _gelu_tanh,
    "hardshrink": lambda x, lambd: np.where(np.abs(x) > lambd, x, 0.0),
    "hardsigmoid": lambda x: np.clip(x + 3, 0.0, 6.0) / 6,
    "hardswish": lambda x: x * np.clip(x + 3, 0.0, 6.0) / 6,
    "leaky_relu": lambda x, slope: np.where(x > 0, x, slope * x),
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "log_sigmoid": lambda x: -_softplus(-x),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "selu": lambda x: _elu(x, _SELU_ALPHA, _SELU_SCALE, 1.0),
    "sigmoid": _sigmoid,
    "sign": np.sign,
    "silu": lambda x: x * _sigmoid(x),
    "sin": np.sin,
    "softplus": _softplus,
    "softshrink": _softshrink,
    "sqrt": np.sqrt,
    "square": np.square,
    "tanh": np.tanh,
    # arithmetic with numbers
    "affine": lambda x, factor, offset: factor * x + offset,
    "pow": lambda x, c: np.power(x, c),
    "rdiv": lambda x, c: c / x,
    "rpow": lambda x, c: np.power(c, x),
}
