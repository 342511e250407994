"""``import_program``: an ExportedProgram, node by node, through the operators' own ``lower`` functions."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from rushlight.capturing.aten import arguments, passed_on, random_dropout, target_name, writes
from rushlight.capturing.check import check_static, short
from rushlight.capturing.constants import attribute, evaluable
from rushlight.capturing.notes import notes_of, source_of
from rushlight.errors import RushlightError, UnsupportedError
from rushlight.frontend.context import GraphContext, View
from rushlight.frontend.hints import hint_for
from rushlight.frontend.names import identifier
from rushlight.frontend.qdq import Scheme, is_dequantize, is_quantize, quantized_constant, scheme_of
from rushlight.frontend.tidy import tidy
from rushlight.graph import DType, Graph
from rushlight.ops import REGISTRY
from rushlight.ops.base import AtenRule
from rushlight.ops.dequantize import DequantizeAttrs
from rushlight.ops.quantize import QuantizeAttrs

_INPUT_TYPES = {
    torch.float32: DType.FLOAT32,
    torch.int8: DType.INT8,
    torch.int16: DType.INT16,
    torch.int32: DType.INT32,
    torch.bool: DType.BOOL,
}
_IGNORED = frozenset({"_assert_tensor_metadata.default"})


def import_program(program: torch.export.ExportedProgram, name: str = "net") -> Graph:
    """The program as a graph with float operators and explicit quantize/dequantize; constants without arithmetic.

    Inputs are named as forward's arguments, outputs "output" ("output_0"… or a dict's keys). Raises UnsupportedError with one
    line for each operator that has no kernel, RushlightError for dynamic shapes and what else cannot be a fixed program.
    """
    check_static(program)
    return _Importer(tidy(program), identifier(name)).run()


def program_inputs(program: torch.export.ExportedProgram) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and dtype of each input, in the order of forward's arguments, without importing the program."""
    check_static(program)
    wanted = set(program.graph_signature.user_inputs)
    nodes = [n for n in program.graph.nodes if n.op == "placeholder" and n.name in wanted]
    return [(n.name, tuple(map(int, n.meta["val"].shape)), _input_type(n).value) for n in nodes]


def _input_type(node: Node) -> DType:
    """The element type of an input; RushlightError if there is none for it."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor):
        raise RushlightError(
            f"input '{node.name}' is a {type(value).__name__}, not a tensor; make it a constant of the model"
        )
    if value.dtype not in _INPUT_TYPES:
        raise RushlightError(f"input '{node.name}' is {short(value.dtype)}; use float32, int8, int16, int32 or bool")
    return _INPUT_TYPES[value.dtype]


class _Importer:
    def __init__(self, program: torch.export.ExportedProgram, name: str) -> None:
        self.program = program
        self.ctx = GraphContext(name)
        self.rules: dict[str, AtenRule] = {t: r for op in REGISTRY.values() for r in op.aten for t in r.targets}
        self.names: dict[Node, str] = {}  # nodes that are tensors of the graph
        self.constants: dict[Node, Any] = {}  # nodes whose value is known now, as torch sees it
        self.schemes: dict[str, Scheme] = {}  # quantised tensors
        self.dequantized: dict[str, str] = {}
        self.problems: list[str] = []
        self.poisoned: set[Node] = set()

    def run(self) -> Graph:
        graph = self.program.graph
        self._read_signature()
        user_inputs = set(self.program.graph_signature.user_inputs)
        inputs = [self._input(node) for node in graph.nodes if node.op == "placeholder" and node.name in user_inputs]
        needed = _needed(graph)
        for node in graph.nodes:
            if node.op == "get_attr":
                self.constants[node] = attribute(self.program.graph_module, str(node.target))
            elif node.op == "call_function" and node in needed:
                self._node(node)
        if self.problems:
            raise UnsupportedError(self.problems)
        outputs = self._outputs(inputs)
        return self.ctx.finish(inputs, outputs, notes_of(graph))

    # --- the program's edges

    def _read_signature(self) -> None:
        program, by_name = self.program, {node.name: node for node in self.program.graph.nodes}
        for spec in program.graph_signature.input_specs:
            if spec.kind is InputKind.USER_INPUT:
                continue
            if spec.kind not in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
                raise RushlightError(
                    f"the program takes a {spec.kind.name.lower()} '{spec.target}'; only tensors are supported"
                )
            assert spec.target is not None
            value = program.constants.get(spec.target)
            self.constants[by_name[spec.arg.name]] = program.state_dict[spec.target] if value is None else value
        for out in program.graph_signature.output_specs:
            if out.kind is not OutputKind.USER_OUTPUT:
                raise RushlightError(
                    f"the program changes '{out.target}' as it runs ({out.kind.name.lower()}); "
                    "take state as an input of forward and return its new value"
                )

    def _input(self, node: Node) -> str:
        dtype = _input_type(node)
        self.names[node] = self.ctx.add_input(node.name, tuple(node.meta["val"].shape), dtype)
        return self.names[node]

    def _outputs(self, inputs: Sequence[str]) -> list[str]:
        output = next(node for node in self.program.graph.nodes if node.op == "output")
        found: list[str] = []
        hints = self._output_hints(len(output.args[0]))
        for node, hint in zip(output.args[0], hints, strict=True):
            if not isinstance(node, Node):
                raise RushlightError(f"{hint} is {node!r}, not a tensor; return tensors alone from forward")
            self.ctx.source, self.ctx.hint = source_of(node), node.name
            name = self._tensor(node)
            if name in self.schemes and self.schemes[name].shift:
                raise RushlightError(
                    f"{hint} is uint8; end the model with a dequantize, or quantise its output to int8"
                )
            if name not in inputs and name not in found:
                old, name = name, self.ctx.rename(name, hint)
                self.names = {n: name if t == old else t for n, t in self.names.items()}
                self.dequantized = {q: name if t == old else t for q, t in self.dequantized.items()}
            found.append(name)
        return found

    def _output_hints(self, count: int) -> list[str]:
        plain = ["output"] if count == 1 else [f"output_{i}" for i in range(count)]
        spec = self.program.call_spec.out_spec
        if spec is None or spec.num_leaves != count:
            return plain
        tree = pytree.tree_unflatten(list(range(count)), spec)
        return [str(key) for key in tree] if isinstance(tree, dict) and len(tree) == count else plain

    # --- one node

    def _node(self, node: Node) -> None:
        self.ctx.source, self.ctx.hint = source_of(node), node.name
        target = target_name(node)
        known = self._known(node, target)
        if any(source in self.poisoned for source in node.all_input_nodes):
            self.poisoned.add(node)
            if known:
                return
        try:
            if not known:
                raise self._no_kernel(node)
            self._lower(node, target)
        except UnsupportedError as error:
            self.problems += error.reasons
            self.poisoned.add(node)

    def _known(self, node: Node, target: str) -> bool:
        return (
            target in self.rules
            or target in _IGNORED
            or node.target is python_operator.getitem
            or is_quantize(target)
            or is_dequantize(target)
            or passed_on(node) is not None
            or self._is_constant(node)
        )

    def _is_constant(self, node: Node) -> bool:
        return evaluable(node.target) and all(source in self.constants for source in node.all_input_nodes)

    def _no_kernel(self, node: Node) -> Exception:
        if writes(node):
            return self.ctx.refuse(
                "writes into a tensor that is also read elsewhere, or into a parameter or buffer",
                "use the form that returns a new tensor; take state as an input and return its new value",
            )
        if str(node.target).startswith("quantized_decomposed.choose_qparams"):
            return self.ctx.refuse(
                "quantises with scales found at run time", "use fixed scales, e.g. rushlight.quantize"
            )
        if random_dropout(node):
            return self.ctx.refuse("dropout is on", "export the model in eval mode")
        return self.ctx.refuse("no kernel", hint_for(target_name(node)))

    def _lower(self, node: Node, target: str) -> None:
        if target in _IGNORED:
            return
        if (source := passed_on(node)) is not None:
            self._alias(node, source)
        elif node.target is python_operator.getitem and node.args[0] not in self.constants:
            self._getitem(node)
        elif self._is_constant(node):
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: self.constants[n])
            with torch.no_grad():
                self.constants[node] = node.target(*args, **kwargs)  # type: ignore[operator]
        elif is_quantize(target):
            self._quantize(node)
        elif is_dequantize(target):
            self._dequantize(node)
        else:
            self._operator(node, target)

    def _alias(self, node: Node, source: Node) -> None:
        if source in self.constants:
            self.constants[node] = self.constants[source]
        else:
            self.names[node] = self.names[source]

    def _getitem(self, node: Node) -> None:
        source, index = node.args
        if index != 0:
            raise self.ctx.refuse(
                f"result {index} of {source} is used", "only the first result of an operator has a kernel"
            )
        assert isinstance(source, Node)
        self.names[node] = self.names[source]

    def _operator(self, node: Node, target: str) -> None:
        args = {name: self._argument(value) for name, value in arguments(node).items()}
        value = node.meta.get("val")
        results = value if isinstance(value, (tuple, list)) else (value,)
        shapes = tuple(tuple(int(d) for d in r.shape) for r in results if isinstance(r, torch.Tensor))
        self._make_weight_symmetric(self.rules[target], args)
        name = self.rules[target].lower(self.ctx, View(target, self.ctx.source, shapes, args))
        shape = self.ctx.tensor(name).shape
        if shapes and shape != shapes[0]:
            raise self.ctx.refuse(
                f"imported with shape {list(shape)}, but torch gives {list(shapes[0])}", "please report this"
            )
        self.names[node] = name

    def _argument(self, value: Any) -> Any:
        """An argument without torch in it: tensors as names, element types by name."""
        if isinstance(value, Node):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(v) for v in value]
        if isinstance(value, torch.dtype):
            return short(value)
        return str(value) if isinstance(value, (torch.device, torch.layout, torch.memory_format)) else value

    def _tensor(self, node: Node) -> str:
        """The tensor of a node; a constant becomes one when it is first used."""
        if node not in self.names:
            value = self.constants[node]
            if not isinstance(value, torch.Tensor):
                raise self.ctx.refuse(f"its argument is a {type(value).__name__}", "use tensors")
            if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided:
                raise self.ctx.refuse(
                    f"its constant is a {type(value).__name__}, not a plain tensor", "use a plain tensor"
                )
            if value.is_quantized or value.is_complex():
                raise self.ctx.refuse(f"its constant is {short(value.dtype)}", "use float32 or integers")
            plain = value.detach().float() if value.is_floating_point() else value
            self.names[node] = self.ctx.add_constant(plain.numpy(), str(node.name))
        return self.names[node]

    # --- quantisation

    def _scheme(self, node: Node) -> tuple[Node, Scheme]:
        args = arguments(node)
        args = {
            k: self.constants.get(v, str(v)) if isinstance(v, Node) and k != "input" else v for k, v in args.items()
        }
        args = {k: v.detach().numpy() if isinstance(v, torch.Tensor) else v for k, v in args.items()}
        return args["input"], scheme_of(self.ctx, args)

    def _quantize(self, node: Node) -> None:
        source, scheme = self._scheme(node)
        if source in self.constants:
            self.constants[node] = quantized_constant(scheme, self.constants[source])
            return
        if not scheme.qparams.per_tensor:
            raise self.ctx.refuse("an activation is quantised per channel", "use one scale for each activation")
        name = self.ctx.emit("quantize", [self.names[source]], QuantizeAttrs())
        self.ctx.set_qparams(name, scheme.qparams, scheme.dtype)
        self.schemes[name] = scheme
        self.names[node] = name

    def _dequantize(self, node: Node) -> None:
        source, scheme = self._scheme(node)
        if source in self.constants:
            integers = scheme.integers(self.constants[source])
            self._check_saturation(node, integers, scheme)
            name = self.ctx.add_constant(integers, _role(node), scheme.qparams)
        else:
            name = self.names[source]
            have = self.ctx.tensor(name).qparams
            if have is None:
                self.ctx.set_qparams(name, scheme.qparams, scheme.dtype)
            elif not have.same_mapping(scheme.qparams):
                raise self.ctx.refuse(
                    "dequantises with another scale or zero point than was quantised with", "use the same"
                )
        if name not in self.dequantized:
            self.dequantized[name] = self.ctx.emit("dequantize", [name], DequantizeAttrs())
        self.names[node] = self.dequantized[name]

    def _make_weight_symmetric(self, rule: AtenRule, args: dict[str, Any]) -> None:
        """A weight of another tool with a zero point becomes one without, exactly, or is refused."""
        argument = rule.annotation.weight if rule.annotation else None
        weight = args.get(argument) if argument else None
        behind = {f: q for q, f in self.dequantized.items()}.get(weight) if isinstance(weight, str) else None
        if argument is None or behind is None:
            return
        tensor = self.ctx.tensor(behind)
        if tensor.data is None or tensor.qparams is None or not any(tensor.qparams.zero_point):
            return
        q = tensor.qparams
        shape = [-1 if d == q.axis else 1 for d in range(len(tensor.shape))]
        moved = tensor.data.astype(np.int64) - np.asarray(q.zero_point).reshape(shape if q.axis is not None else [])
        if moved.size and (moved.min() < -128 or moved.max() > 127):
            raise self.ctx.refuse(
                f"its weights have zero point {next(z for z in q.zero_point if z)} and do not fit int8 without one",
                "quantise weights symmetrically, e.g. with rushlight.RushlightQuantizer",
            )
        symmetric = replace(q, zero_point=(0,) * len(q.zero_point), qmin=-128, qmax=127)
        name = self.ctx.add_constant(moved.astype(np.int8), f"{behind}_symmetric", symmetric)
        self.dequantized[name] = self.ctx.emit("dequantize", [name], DequantizeAttrs())
        args[argument] = self.dequantized[name]

    def _check_saturation(self, node: Node, integers: Any, scheme: Scheme) -> None:
        if (
            scheme.dtype is DType.INT32
            and integers.size
            and (integers.max() == 2**31 - 1 or integers.min() == -(2**31))
        ):
            user = next(iter(node.users))
            self.ctx.source = source_of(user)
            raise self.ctx.refuse(
                "its bias does not fit 32 bits at these scales",
                "calibrate again: an input or weight range is far too small",
            )


def _role(node: Node) -> str:
    """What a dequantised constant is to its first user: ``conv2d_weight``."""
    user = next(iter(node.users))
    if isinstance(user.target, torch._ops.OpOverload):
        for name, value in arguments(user).items():
            if value is node:
                return f"{user.name}_{name}"
    return f"{user.name}_constant"


def _needed(graph: torch.fx.Graph) -> set[Node]:
    """Nodes that an output depends on, and those that write into memory."""
    todo = [node for node in graph.nodes if node.op == "output" or writes(node)]
    needed = set(todo)
    while todo:
        new = [n for n in todo.pop().all_input_nodes if n not in needed]
        needed.update(new)
        todo += new
    return needed
