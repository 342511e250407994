"""table, unary and clamp: every entry of every table against torch, kernels on all tiers, ATen forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from rushlight.graph import DType, Graph, QParams, Tensor
from rushlight.ops import operator
from rushlight.ops.base import Array, Fixed
from rushlight.ops.clamp import ClampAttrs
from rushlight.ops.common.functions import FUNCTIONS
from rushlight.ops.table import CODES, TableAttrs, function_table, requantize_table
from rushlight.ops.unary import UnaryAttrs
from tests.kernels.building import as_float, integer_graph, lowered, rule_of, run, try_integer
from tests.kernels.harness import TIERS, check_kernels, geometries, random_inputs, random_int8, random_q, single_op

ALL = CODES.astype(np.int8)
SIGNED = QParams((0.05,), (3,))
POSITIVE = QParams((0.02,), (-128,))

TORCH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "abs": torch.abs,
    "atan": torch.atan,
    "ceil": torch.ceil,
    "celu": lambda x: F.celu(x, 1.3),
    "cos": torch.cos,
    "elu": lambda x: torch.ops.aten.elu(x, 1.2, 0.9, 1.1),
    "erf": torch.erf,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "floor": torch.floor,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hardshrink": lambda x: F.hardshrink(x, 0.5),
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "log": torch.log,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log2": torch.log2,
    "log_sigmoid": F.logsigmoid,
    "mish": F.mish,
    "neg": torch.neg,
    "reciprocal": torch.reciprocal,
    "round": torch.round,
    "rsqrt": torch.rsqrt,
    "selu": F.selu,
    "sigmoid": torch.sigmoid,
    "sign": torch.sign,
    "silu": F.silu,
    "sin": torch.sin,
    "softplus": lambda x: F.softplus(x, 2.0, 5.0),
    "softshrink": lambda x: F.softshrink(x, 0.5),
    "sqrt": torch.sqrt,
    "square": torch.square,
    "tanh": torch.tanh,
    "affine": lambda x: x * -1.5 + 0.7,
    "pow": lambda x: x**3.0,
    "rdiv": lambda x: 2.0 / x,
    "rpow": lambda x: 1.7**x,
}
PARAMETERS: dict[str, tuple[float, ...]] = {
    "celu": (1.3,),
    "elu": (1.2, 0.9, 1.1),
    "hardshrink": (0.5,),
    "leaky_relu": (0.1,),
    "softplus": (2.0, 5.0),
    "softshrink": (0.5,),
    "affine": (-1.5, 0.7),
    "pow": (3.0,),
    "rdiv": (2.0,),
    "rpow": (1.7,),
}


def correctly_rounded(function: str, src: QParams, dst: QParams) -> tuple[Array, Array]:
    """Where torch has a value in float64, and the int8 that is nearest to it."""
    x = torch.tensor((CODES - src.z) * src.s, dtype=torch.float64)
    real = TORCH[function](x).numpy()
    known = ~np.isnan(real)
    with np.errstate(invalid="ignore"):
        return known, np.clip(np.rint(real / dst.s) + dst.z, -128, 127)


@pytest.mark.parametrize("src", [SIGNED, POSITIVE, QParams((0.5,), (-17,))])
@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_every_entry_is_correctly_rounded(function: str, src: QParams) -> None:
    dst = QParams((0.031,), (-11,))
    attrs = UnaryAttrs(function, PARAMETERS.get(function, ()))
    x = Tensor("x", (256,), DType.INT8, src)
    y = run(integer_graph("unary", attrs, [x], dst), ALL)
    known, expected = correctly_rounded(function, src, dst)
    # torch and NumPy may differ in the last bit of a float64, which shows only where a value lies on a rounding boundary
    different = known & (y != expected)
    assert known.sum() >= 100
    assert different.sum() <= 1
    assert np.abs(y.astype(int) - expected)[known].max() <= 1


def test_sigmoid_and_tanh_use_all_of_their_range() -> None:
    for target, low in (("sigmoid.default", -128), ("hardsigmoid.default", -128), ("tanh.default", -128)):
        rule = rule_of(target)
        assert rule.annotation is not None
        assert isinstance(rule.annotation.output, Fixed)
        dst = QParams((rule.annotation.output.scale,), (rule.annotation.output.zero_point,))
        x = Tensor("x", (256,), DType.INT8, QParams((0.2,), (0,)))
        y = run(integer_graph("unary", UnaryAttrs(target.split(".")[0]), [x], dst), ALL)
        assert (y.min(), y.max()) == (low, 127)
        assert (np.diff(y.astype(int)) >= 0).all()


def test_codes_without_a_value_take_their_nearest_neighbours() -> None:
    x = Tensor("x", (256,), DType.INT8, SIGNED)
    builder, reason = try_integer("unary", UnaryAttrs("sqrt"), [x], QParams((0.02,), (-128,)))
    assert reason is None
    table = builder.tensors[builder.emitted[0][1][1]].data
    assert table is not None
    assert (table[: 128 + 3] == -128).all()  # below the zero point: sqrt(0)
    assert builder.notes == [
        "warning: has no value for 131 of the input's integers; each takes its nearest neighbour's"
    ]
    _, reason = try_integer(
        "unary", UnaryAttrs("log"), [Tensor("x", (2,), DType.INT8, QParams((0.1,), (127,), None, -128, 126))], SIGNED
    )
    assert reason is None  # log(0) = -inf is a value: the lowest
    _, reason = try_integer("unary", UnaryAttrs("affine", (math.nan, 0.0)), [x], SIGNED)
    assert reason == "it has no value anywhere in the input's range"


def test_infinities_take_the_bound_beyond_which_they_lie() -> None:
    table, missing = function_table(lambda x: 1 / x, SIGNED, SIGNED, -100, 100)
    assert missing == 0
    assert table[128 + 3] == 100  # 1/0
    table, _ = function_table(np.log, POSITIVE, SIGNED, -100, 100)
    assert table[0] == -100


def test_requantising_to_the_same_mapping_changes_nothing() -> None:
    assert (requantize_table(SIGNED, SIGNED) == ALL).all()
    doubled = QParams((0.1,), (-5,))
    expected = np.clip(np.rint((CODES - 3) * 0.05 / 0.1) - 5, -128, 127)
    assert (requantize_table(SIGNED, doubled) == expected).all()


@pytest.mark.parametrize(
    ("target", "arguments", "low", "high"),
    [
        ("relu.default", {}, 0.0, math.inf),
        ("relu6.default", {}, 0.0, 6.0),
        ("hardtanh.default", {"min_val": -2, "max_val": 3}, -2.0, 3.0),
        ("clamp.default", {"min": None, "max": 1.5}, -math.inf, 1.5),
        ("clamp.default", {"min": 2, "max": 1}, 1.0, 1.0),
        ("clip.default", {"min": -1, "max": None}, -1.0, math.inf),
        ("clamp_min.default", {"min": 0.5}, 0.5, math.inf),
        ("clamp_max.default", {"max": 0.5}, -math.inf, 0.5),
    ],
)
def test_every_form_of_clamp(target: str, arguments: dict[str, float | None], low: float, high: float) -> None:
    x = Tensor("x", (256,), DType.INT8, SIGNED)
    context, _ = lowered(target, [as_float(x)], (256,), self="x", **arguments)
    (op,) = context.ops
    assert op.attrs == ClampAttrs(low, high)
    assert operator("clamp").clamp_bounds(op.attrs) == (low, high)
    dst = QParams((0.03,), (10,))
    y = run(integer_graph("clamp", op.attrs, [x], dst), ALL)
    real = np.clip((CODES - 3) * 0.05, low, high)
    assert (y == np.clip(np.rint(real / 0.03) + 10, -128, 127)).all()


def test_a_clamp_with_a_nan_bound_is_refused() -> None:
    with pytest.raises(Exception, match="bound is NaN"):
        lowered("clamp_min.default", [Tensor("x", (2,), DType.FLOAT32)], (2,), self="x", min=math.nan)


def test_parameters_are_taken_from_the_aten_operator() -> None:
    x = [Tensor("x", (4,), DType.FLOAT32)]
    for target, arguments, expected in (
        ("gelu.default", {"self": "x", "approximate": "none"}, UnaryAttrs("gelu")),
        ("gelu.default", {"self": "x", "approximate": "tanh"}, UnaryAttrs("gelu_tanh")),
        ("leaky_relu.default", {"self": "x", "negative_slope": 0.2}, UnaryAttrs("leaky_relu", (0.2,))),
        ("softplus.default", {"self": "x", "beta": 1, "threshold": 20}, UnaryAttrs("softplus", (1.0, 20.0))),
        ("pow.Tensor_Scalar", {"self": "x", "exponent": 2}, UnaryAttrs("pow", (2.0,))),
        ("pow.Scalar", {"self": 2, "exponent": "x"}, UnaryAttrs("rpow", (2.0,))),
        ("silu.default", {"self": "x"}, UnaryAttrs("silu")),
    ):
        context, _ = lowered(target, x, (4,), **arguments)
        assert context.ops[0].attrs == expected


def test_a_fused_clamp_narrows_the_table() -> None:
    x = Tensor("x", (256,), DType.INT8, SIGNED)
    y = run(integer_graph("unary", UnaryAttrs("affine", (1.0, 3.0)), [x], SIGNED, clamp=(0.0, 6.0)), ALL)
    assert (y.min(), y.max()) == (3, 123)


def random_case(rng: np.random.Generator) -> tuple[Graph, list[Array]]:
    shape = tuple(int(d) for d in rng.integers(1, 8, int(rng.integers(1, 5))))
    x = Tensor("x", shape, DType.INT8, random_q(rng))
    table = Tensor("table", (256,), DType.INT8, None, random_int8(rng, (256,)))
    graph = single_op("table", TableAttrs(), [x, table], random_q(rng))
    return graph, random_inputs(rng, graph)


def test_random_geometry_on_all_tiers() -> None:
    rng = np.random.default_rng(2)
    cases = [random_case(rng) for _ in range(geometries(200))]
    x = Tensor("x", (256,), DType.INT8, SIGNED)
    for low in (-128, -127):
        table = Tensor("table", (256,), DType.INT8, None, np.maximum(np.roll(ALL, 77), np.int8(low)))
        cases.append((single_op("table", TableAttrs(), [x, table], SIGNED), [ALL]))
    checked = check_kernels(cases)
    assert all(checked.by_tier[tier] == len(cases) for tier in TIERS)
    assert checked.in_place >= len(cases)


def test_tables_of_another_size_are_refused() -> None:
    x = Tensor("x", (3,), DType.INT8, SIGNED)
    with pytest.raises(ValueError, match="256"):
        operator("table").infer(TableAttrs(), [x, Tensor("t", (255,), DType.INT8, None, np.zeros(255, np.int8))])
