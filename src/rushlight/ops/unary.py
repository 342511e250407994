"""unary: any function of one tensor, element by element; its integer form is a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.graph import Op, Tensor, TensorSpec
from rushlight.ops.base import (
    Annotation,
    AtenNode,
    AtenRule,
    Fixed,
    ImportContext,
    IntegerBuilder,
    Operator,
    register,
    spec,
)
from rushlight.ops.common.functions import FUNCTIONS
from rushlight.ops.table import emit_table


@dataclass(frozen=True)
class UnaryAttrs:
    """A name in ``functions.FUNCTIONS`` and the numbers that function takes after x."""

    function: str
    parameters: tuple[float, ...] = ()


_OWN = Annotation(("self",), absorbs_clamp=True)
#: Outputs in 0..1 and in -1..1 are quantised so that all of the range is used.
_UNIT = Annotation(("self",), output=Fixed(1 / 256, -128))
_SYMMETRIC = Annotation(("self",), output=Fixed(1 / 128, 0))


def _rule(targets: str, function: str, *arguments: str, annotation: Annotation = _OWN) -> AtenRule:
    def lower(ctx: ImportContext, node: AtenNode) -> str:
        return ctx.emit("unary", [node["self"]], UnaryAttrs(function, tuple(float(node[a]) for a in arguments)))

    return AtenRule(tuple(targets.split()), lower, annotation)


def _lower_gelu(ctx: ImportContext, node: AtenNode) -> str:
    function = "gelu" if node["approximate"] == "none" else "gelu_tanh"
    return ctx.emit("unary", [node["self"]], UnaryAttrs(function))


def _lower_rpow(ctx: ImportContext, node: AtenNode) -> str:
    return ctx.emit("unary", [node["exponent"]], UnaryAttrs("rpow", (float(node["self"]),)))


_WITHOUT_PARAMETERS = (
    "abs atan ceil cos erf exp exp2 expm1 floor hardswish log log10 log1p log2 log_sigmoid mish neg reciprocal round "
    "rsqrt selu sign silu sin sqrt square"
).split()


@register
class Unary(Operator):
    """Float form only: any shape, float32."""

    kind = "unary"
    elementwise = True
    absorbs_clamp = True
    aten = (
        *(_rule(f"{name}.default", name) for name in _WITHOUT_PARAMETERS),
        _rule("absolute.default", "abs"),
        _rule("negative.default", "neg"),
        _rule("sigmoid.default", "sigmoid", annotation=_UNIT),
        _rule("hardsigmoid.default", "hardsigmoid", annotation=_UNIT),
        _rule("tanh.default", "tanh", annotation=_SYMMETRIC),
        _rule("leaky_relu.default", "leaky_relu", "negative_slope"),
        _rule("elu.default", "elu", "alpha", "scale", "input_scale"),
        _rule("celu.default", "celu", "alpha"),
        _rule("softplus.default", "softplus", "beta", "threshold"),
        _rule("hardshrink.default", "hardshrink", "lambd"),
        _rule("softshrink.default", "softshrink", "lambd"),
        _rule("pow.Tensor_Scalar", "pow", "exponent"),
        AtenRule(("gelu.default",), _lower_gelu, _OWN),
        AtenRule(("pow.Scalar",), _lower_rpow, Annotation(("exponent",), absorbs_clamp=True)),
    )

    def infer(self, attrs: Any, inputs: Sequence[Tensor]) -> list[TensorSpec]:
        if attrs.function not in FUNCTIONS:
            raise ValueError(f"there is no function {attrs.function}")
        return spec(inputs[0].shape, inputs[0].dtype)

    def integer(self, build: IntegerBuilder, op: Op) -> str | None:
        function = FUNCTIONS[op.attrs.function]
        return emit_table(build, lambda x: function(x, *op.attrs.parameters))
