"""Dead channels: bounds that hold, channels that go and channels that must stay, and outputs that do not change by a bit."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from rushlight.errors import UnsupportedError
from rushlight.graph import Graph, QParams
from rushlight.ops.add import AddAttrs
from rushlight.ops.avg_pool2d import AvgPool2dAttrs
from rushlight.ops.base import Array, operator
from rushlight.ops.concat import ConcatAttrs
from rushlight.ops.conv2d import Conv2dAttrs
from rushlight.ops.depthwise_conv2d import DepthwiseConv2dAttrs
from rushlight.ops.interpreter import run_graph
from rushlight.ops.linear import LinearAttrs
from rushlight.ops.max_pool2d import MaxPool2dAttrs
from rushlight.ops.mul import MulAttrs
from rushlight.ops.pad import PadAttrs
from rushlight.ops.verify import check_exact, verify
from rushlight.passes.dead_channels import FEWEST, KIND, channel_bounds, remove_dead_channels
from rushlight.passes.pipeline import lower
from tests.unit.sketch import Q, Sketch

RELU = QParams((0.05,), (-128,))
#: A bias that holds a channel at its lower clamp, and one that holds it at its upper, whatever the weights and inputs here.
LOW, HIGH = -(10**8), 10**8


Choice = TypeVar("Choice")


class Net(Sketch):
    """Layers with planted dead channels: ``dead`` (channel → bias) have weights that no input can lift over that bias."""

    def weighted(
        self, kind: str, x: str, weight: tuple[int, ...], attrs: object, name: str, q: QParams, dead: dict[int, int]
    ) -> str:
        w = self.rng.integers(-127, 128, weight).astype(np.int8)
        b = self.rng.integers(-3000, 3000, weight[0]).astype(np.int32)
        for channel, bias in dead.items():
            b[channel] = bias
            if bias not in (LOW, HIGH):
                w[channel] = 0
        scale = (0.01,) * weight[0]
        names = [
            self.const(f"{name}_w", w, QParams(scale, (0,) * weight[0], 0)),
            self.const(f"{name}_b", b, QParams(tuple(0.01 * s for s in scale), (0,) * weight[0], 0)),
        ]
        return self.op(kind, [x, *names], attrs, name, q)

    def conv(
        self,
        x: str,
        channels: int,
        name: str,
        *,
        kernel: int = 1,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
        q: QParams = RELU,
        dead: dict[int, int] | None = None,
    ) -> str:
        attrs = Conv2dAttrs((kernel, kernel), (stride, stride), (1, 1), (padding,) * 4, groups)
        weight = (channels, kernel, kernel, self.tensors[x].shape[3] // groups)
        return self.weighted("conv2d", x, weight, attrs, name, q, dead or {})

    def depthwise(
        self,
        x: str,
        name: str,
        *,
        kernel: int = 3,
        stride: int = 1,
        padding: int = 0,
        multiplier: int = 1,
        q: QParams = RELU,
        dead: dict[int, int] | None = None,
    ) -> str:
        attrs = DepthwiseConv2dAttrs((kernel, kernel), (stride, stride), (1, 1), (padding,) * 4, multiplier)
        weight = (self.tensors[x].shape[3] * multiplier, kernel, kernel)
        return self.weighted("depthwise_conv2d", x, weight, attrs, name, q, dead or {})

    def dense(self, x: str, features: int, name: str, dead: dict[int, int] | None = None, q: QParams = RELU) -> str:
        weight = (features, self.tensors[x].shape[-1])
        return self.weighted("linear", x, weight, LinearAttrs(), name, q, dead or {})


def channels(graph: Graph, name: str) -> int:
    return graph[name].shape[-1]


def inputs_of(graph: Graph, seed: int) -> list[Array]:
    """Of every kind: all lowest, all highest, the two in any order, any."""
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    for name in graph.inputs:
        shape = graph[name].shape
        some = [
            np.full(shape, -128),
            np.full(shape, 127),
            rng.choice([-128, 127], shape),
            rng.integers(-128, 128, shape),
        ]
        found.append(some[seed % 4].astype(np.int8))
    return found


def values(graph: Graph, inputs: Sequence[Array]) -> dict[str, Array]:
    """Every tensor of one run."""
    found: dict[str, Array] = {n: t.data for n, t in graph.tensors.items() if t.data is not None}
    found |= dict(zip(graph.inputs, inputs, strict=True))
    for op in graph.ops:
        outputs = operator(op.kind).reference(op, graph, [found[n] for n in op.inputs])
        found |= dict(zip(op.outputs, outputs, strict=True))
    return found


def pruned(before: Graph, samples: int = 8) -> Graph:
    """The graph without its dead channels, which answers the same."""
    after = check_exact(verify(remove_dead_channels(verify(before, "the sketch")), "the pass"))
    for seed in range(samples):
        inputs = inputs_of(before, seed)
        for a, b in zip(run_graph(before, inputs), run_graph(after, inputs), strict=True):
            np.testing.assert_array_equal(a, b)
    assert {n: t.shape for n, t in after.tensors.items() if n in (*before.inputs, *before.outputs)} == {
        n: before[n].shape for n in (*before.inputs, *before.outputs)
    }
    return after


# --- what goes


def test_a_channel_that_a_relu_holds_at_zero_goes_from_both_layers() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", kernel=3, dead={1: LOW, 6: LOW})
    after = pruned(s.graph(s.conv(h, 5, "y", kernel=3, padding=1)))
    assert channels(after, "h") == 6
    first, second = after.ops
    assert [after[n].shape for n in first.inputs[1:]] == [(6, 3, 3, 6), (6,)]
    assert [after[n].shape for n in second.inputs[1:]] == [(5, 3, 3, 6), (5,)]
    assert len(after[first.inputs[1]].q.scale) == 6


def test_a_channel_of_any_one_value_goes_into_the_bias_of_what_reads_it_without_padding() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", dead={0: HIGH, 3: 1234})
    before = s.graph(s.conv(h, 5, "y", kernel=3))
    after = pruned(before)
    assert channels(after, "h") == 6
    old, new = before[before.ops[1].inputs[2]], after[after.ops[1].inputs[2]]
    assert not np.array_equal(old.data, new.data)  # type: ignore[arg-type]


def test_a_channel_of_another_value_than_the_padding_stays() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", dead={0: HIGH, 3: LOW})
    assert channels(pruned(s.graph(s.conv(h, 5, "y", kernel=3, padding=1))), "h") == 7


def test_padding_that_no_window_reaches_does_not_matter() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", dead={0: HIGH})
    w = s.rng.integers(-127, 128, (5, 1, 1, 8)).astype(np.int8)
    names = [s.const("w", w, QParams((0.01,), (0,))), s.const("b", np.zeros(5, np.int32))]
    # The bottom row of padding is beyond the last window.
    y = s.op("conv2d", [h, *names], Conv2dAttrs((1, 1), (2, 2), padding=(0, 1, 0, 0)), "y", RELU)
    assert channels(pruned(s.graph(y)), "h") == 7


def test_border_terms_that_are_equal_let_a_channel_go() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", dead={2: HIGH})
    y = s.conv(h, 5, "y", kernel=3, padding=1)
    weight = s.tensors["y_w"].data
    assert weight is not None
    weight[:, :, :, 2] = 0
    weight[:, 1, 1, 2] = 7  # the middle tap lies in the input everywhere
    assert channels(pruned(s.graph(y)), "h") == 7


def test_a_live_channel_that_only_zeros_read_goes() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", kernel=3)
    y = s.conv(h, 5, "y", kernel=3, padding=1)
    weight = s.tensors["y_w"].data
    assert weight is not None
    weight[:, :, :, 4] = 0
    assert channels(pruned(s.graph(y)), "h") == 7


def test_what_only_dead_channels_read_is_dead_too() -> None:
    s = Net()
    a = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "a")
    b = s.conv(a, 8, "b", dead={1: LOW})
    weight = s.tensors["b_w"].data
    assert weight is not None
    weight[[i for i in range(8) if i != 1], :, :, 5] = 0  # the dead channel alone reads channel 5
    after = pruned(s.graph(s.conv(b, 3, "y")))
    assert (channels(after, "a"), channels(after, "b")) == (7, 7)


@pytest.mark.parametrize("padding", [0, 1])
def test_depthwise_passes_a_dead_channel_on_and_its_own_takes_the_input_with_it(padding: int) -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 6, 6, 4, q=Q), 8, "h", dead={1: LOW})
    d = s.depthwise(h, "d", padding=padding, dead={5: LOW, 1: -5})
    after = pruned(s.graph(s.conv(d, 3, "y")))
    assert (channels(after, "h"), channels(after, "d")) == (6, 6)
    assert after[after.ops[1].inputs[1]].shape == (6, 3, 3)


def test_depthwise_of_a_constant_that_differs_from_its_padding_stays() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 6, 6, 4, q=Q), 8, "h", dead={1: HIGH})
    d = s.depthwise(h, "d", padding=1, dead={1: 0})
    weight = s.tensors["d_w"].data
    assert weight is not None
    weight[1] = 1
    after = pruned(s.graph(s.conv(d, 3, "y")))
    assert (channels(after, "h"), channels(after, "d")) == (8, 8)
    s = Net()
    h = s.conv(s.input("x", 1, 6, 6, 4, q=Q), 8, "h", dead={1: HIGH})
    after = pruned(s.graph(s.conv(s.depthwise(h, "d"), 3, "y")))
    assert (channels(after, "h"), channels(after, "d")) == (7, 7)


def test_a_multiplier_keeps_or_drops_the_outputs_of_an_input_together() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 6, 6, 4, q=Q), 6, "h")
    d = s.depthwise(h, "d", multiplier=2, dead={2: LOW, 3: LOW, 8: LOW})
    after = pruned(s.graph(s.conv(d, 3, "y")))
    assert (channels(after, "h"), channels(after, "d")) == (5, 10)


def test_an_add_lets_go_of_what_is_dead_on_both_sides_only() -> None:
    s = Net()
    x = s.input("x", 1, 6, 6, 4, q=Q)
    a, b = s.conv(x, 8, "a", dead={1: LOW, 2: LOW}), s.conv(x, 8, "b", dead={1: LOW, 3: LOW})
    after = pruned(s.graph(s.conv(s.op("add", [a, b], AddAttrs(), "s", RELU), 3, "y")))
    assert [channels(after, n) for n in "abs"] == [7, 7, 7]


def test_a_branch_that_another_reader_needs_keeps_the_whole_group() -> None:
    s = Net()
    x = s.input("x", 1, 6, 6, 4, q=Q)
    a, b = s.conv(x, 8, "a"), s.conv(x, 8, "b")
    total = s.op("add", [a, b], AddAttrs(out_min=127), "s", RELU)  # each channel has one value
    after = pruned(s.graph(s.conv(total, 3, "y")))
    assert [channels(after, n) for n in "abs"] == [FEWEST] * 3
    after = pruned(s.graph(s.conv(total, 3, "z"), s.conv(a, 3, "v")))
    assert [channels(after, n) for n in "abs"] == [8, 8, 8]


def test_constant_operands_and_gates_of_one_channel() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 6, 6, 4, q=Q), 8, "h", dead={1: LOW})
    c = s.const("c", s.rng.integers(-128, 128, (1, 1, 1, 8)).astype(np.int8), Q)
    one = s.conv("x", 1, "one")
    m = s.op("mul", [h, c], MulAttrs(), "m", QParams((1.0,), (0,)))
    m = s.op("mul", [m, one], MulAttrs(), "g", QParams((10.0,), (0,)))
    after = pruned(s.graph(s.conv(m, 3, "y")))
    assert [channels(after, n) for n in ("h", "m", "g", "one")] == [7, 7, 7, 1]
    assert after[after.ops[2].inputs[1]].shape == (1, 1, 1, 7)


def test_pools_tables_and_a_flatten_before_a_linear_layer() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 8, 8, 4, q=Q), 256, "h", dead=dict.fromkeys(range(0, 250, 5), LOW))
    t = s.table(h, "t", RELU)  # as many channels as a table has entries
    p = s.op("max_pool2d", [t], MaxPool2dAttrs((3, 3), (2, 2), (1, 1), (1, 1, 1, 1)), "p", RELU)
    a = s.op("avg_pool2d", [p], AvgPool2dAttrs((2, 2), (2, 2)), "a", RELU)
    after = pruned(s.graph(s.dense(s.reshape(a, (1, 4 * 256), "f"), 3, "y")))
    assert [channels(after, n) for n in "htpaf"] == [206] * 4 + [4 * 206]
    assert after[after.ops[1].inputs[1]].shape == (256,)


@pytest.mark.parametrize("axis", [1, 3])
def test_concat_lets_each_input_go_its_way_along_channels_and_all_together_elsewhere(axis: int) -> None:
    s = Net()
    x = s.input("x", 1, 4, 4, 4, q=Q)
    a, b = s.conv(x, 8, "a", dead={1: LOW, 2: LOW}), s.conv(x, 8, "b", dead={2: LOW})
    after = pruned(s.graph(s.conv(s.op("concat", [a, b], ConcatAttrs(axis), "c", RELU), 3, "y")))
    assert [channels(after, n) for n in "abc"] == ([6, 7, 13] if axis == 3 else [7, 7, 7])


# --- what stays


def test_inputs_outputs_and_what_groups_read_stay() -> None:
    s = Net()
    x = s.input("x", 1, 5, 5, 8, q=Q)
    h = s.conv(x, 8, "h", dead={1: LOW})
    g = s.conv(h, 8, "g", groups=2, dead={2: LOW})
    y = s.conv(g, 8, "y", dead={3: LOW})
    before = s.graph(y)
    assert remove_dead_channels(before).ops == before.ops
    weight = s.tensors["h_w"].data
    assert weight is not None
    weight[:] = 0  # nothing reads the input
    assert channels(pruned(s.graph(y)), "x") == 8


def test_what_works_across_channels_keeps_them() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 8, q=Q), 8, "h", dead={1: LOW})
    p = s.op("pad", [h], PadAttrs(((0, 0), (0, 0), (0, 0), (0, 1))), "p", RELU)
    assert channels(pruned(s.graph(s.conv(p, 3, "y"))), "h") == 8
    q = s.permute(h, (0, 3, 1, 2), "q")
    assert channels(pruned(s.graph(s.conv(q, 3, "z"))), "h") == 8


def test_some_channels_stay_where_all_are_dead() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 8, q=Q), 8, "h", dead=dict.fromkeys(range(8), LOW))
    two = s.conv(h, 2, "two", dead={0: LOW, 1: LOW})
    after = pruned(s.graph(s.conv(two, 3, "y")))
    assert (channels(after, "h"), channels(after, "two")) == (FEWEST, 2)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_bias_at_the_end_of_its_range_stays_in_it(sign: int) -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 1, 1, 8, q=Q), 8, "h", q=QParams((0.05,), (127,)), dead=dict.fromkeys(range(4), LOW))
    graph = s.graph(s.conv(h, 1, "y"))
    bias, weight = s.tensors["y_b"].data, s.tensors["y_w"].data
    assert bias is not None and weight is not None
    weight[..., :4], weight[..., 4:] = sign * 127, -sign * 127
    bias[0] = sign * -(
        2**31 - 1 - 128 * 127 * 8
    )  # the greatest for which the sum's bound is proved; the weights add up to 0
    check_exact(graph)
    after = pruned(graph)
    found = after[after.ops[1].inputs[2]].data
    assert channels(after, "h") == 4 and found is not None and found[0] == int(bias[0]) - sign * 255 * 127 * 4
    bias[0] -= sign
    with pytest.raises(UnsupportedError, match="beyond 32 bits"):
        remove_dead_channels(graph)


def test_a_layer_used_twice_shares_its_weights_where_it_keeps_the_same() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 4, q=Q), 8, "h", dead={1: LOW})
    first = s.conv(h, 8, "first", dead={2: LOW})
    again = s.op("conv2d", [h, "first_w", "first_b"], Conv2dAttrs((1, 1), out_min=-100), "again", RELU)
    after = pruned(s.graph(s.conv(first, 3, "y"), s.conv(again, 3, "z")))
    assert channels(after, "first") == channels(after, "again") == 7
    users = [op for op in after.ops if op.name in ("first", "again")]
    assert users[0].inputs == users[1].inputs


# --- bounds


def test_bounds_of_a_layer_on_inputs_are_reached() -> None:
    s = Net(3)
    graph = s.graph(s.conv(s.input("x", 1, 4, 4, 3, q=Q), 40, "y", kernel=3, padding=1, q=QParams((20.0,), (4,))))
    bounds = channel_bounds(graph)["y"]
    weight = graph["y_w"].data
    assert weight is not None
    # Of all int8 inputs these give each channel its extremes, at some border: the sign of each weight decides.
    low, high = np.full(40, 127), np.full(40, -128)
    for channel in range(40):
        for top in range(-1, 2):
            for left in range(-1, 2):
                for sign in (1, -1):
                    x = np.zeros((1, 4, 4, 3), np.int8)
                    for ky, kx in np.ndindex(3, 3):
                        if 0 <= ky + top < 4 and 0 <= kx + left < 4:
                            x[0, ky + top, kx + left] = np.where(sign * weight[channel, ky, kx] > 0, 127, -128)
                    got = run_graph(graph, [x])[0][..., channel]
                    low[channel], high[channel] = min(low[channel], got.min()), max(high[channel], got.max())
    np.testing.assert_array_equal(bounds.low, low)
    np.testing.assert_array_equal(bounds.high, high)


def test_bounds_of_a_table_and_of_sums_hold_for_each_pair_of_integers_and_are_reached() -> None:
    every = np.arange(-128, 128, dtype=np.int8)
    a, b = (v.reshape(1, -1, 1, 1) for v in np.meshgrid(every, every))
    for kind, attrs in (("add", AddAttrs(subtract=True)), ("mul", MulAttrs(out_min=-90))):
        s = Net()
        y = s.op(kind, [s.input(n, 1, 65536, 1, 1, q=Q) for n in "ab"], attrs, "y", QParams((0.2,), (7,)))
        graph = s.graph(s.table(y, "t"))
        got = values(graph, [a, b])
        bounds = channel_bounds(graph)
        for name in ("y", "t"):
            assert (bounds[name].low[0], bounds[name].high[0]) == (got[name].min(), got[name].max())


# --- random networks


def random_net(seed: int) -> Graph:
    """Layers of all kinds with dead channels in them: held low or high, or of weight 0."""
    s = Net(seed)
    rng = s.rng

    def pick(*options: Choice) -> Choice:
        return options[rng.integers(len(options))]

    def q() -> QParams:
        return QParams((float(rng.uniform(0.5, 8.0)),), (int(pick(-128, -128, -20, 127)),))

    def dead(count: int) -> dict[int, int]:
        kinds = (LOW, HIGH, int(rng.integers(-9000, 9000)))
        return {c: int(pick(*kinds)) for c in range(count) if rng.random() < 0.4}

    x = s.input("x", 1, int(rng.integers(5, 8)), int(rng.integers(5, 8)), int(pick(3, 4, 8)), q=q())
    for number in range(int(rng.integers(3, 9))):
        name = f"t{number}"
        t = s.tensors[x]
        height, width, c = t.shape[1:]
        small = min(height, width) < 4
        match pick("conv", "conv", "depthwise", "add", "mul", "table", "max", "avg", "concat", "groups", "pad"):
            case "conv" | "groups" as kind:
                groups = 2 if kind == "groups" and c % 2 == 0 else 1
                count = int(pick(4, 6, 9, 12))
                count += count % groups
                kernel = 1 if small else int(pick(1, 3))
                padding = int(pick(0, kernel // 2))
                x = s.conv(
                    x, count, name, kernel=kernel, stride=int(pick(1, 1, 2)), padding=padding, groups=groups, q=q(),
                    dead=dead(count),
                )  # fmt: skip
            case "depthwise":
                multiplier = int(pick(1, 1, 2))
                padding = 1 if small else int(pick(0, 1))
                x = s.depthwise(
                    x, name, stride=int(pick(1, 2)), padding=padding, multiplier=multiplier, q=q(),
                    dead=dead(c * multiplier),
                )  # fmt: skip
            case "add" | "mul" as kind:
                attrs: object = AddAttrs(bool(rng.integers(2))) if kind == "add" else MulAttrs()
                other = s.conv(x, c, f"{name}b", q=q(), dead=dead(c))
                side = s.conv(x, c, f"{name}a", q=q(), dead=dead(c)) if rng.integers(2) else x
                if rng.integers(3) == 0:
                    other = s.const(f"{name}c", rng.integers(-128, 128, (c,)).astype(np.int8), q())
                x = s.op(kind, [side, other], attrs, name, q())
            case "table":
                x = s.table(x, name, q())
            case "max":
                attrs = MaxPool2dAttrs((2, 2), (1, 2), (1, 1), (int(pick(0, 1)), 0, 0, 1))
                x = s.op("max_pool2d", [x], attrs, name, t.qparams)
            case "avg":
                attrs = AvgPool2dAttrs((2, 2), (1, 1), (0, int(pick(0, 1)), 0, 0))
                x = s.op("avg_pool2d", [x], attrs, name, replace(t.q, scale=(t.q.s * 0.7,)))
            case "concat":
                other = s.conv(x, c, f"{name}b", q=q(), dead=dead(c))
                x = s.op("concat", [x, other], ConcatAttrs(int(pick(3, 3, 1))), name, q())
            case "pad":
                x = s.op("pad", [x], PadAttrs(((0, 0), (1, 0), (0, 1), (0, 0)), 0.3), name, t.qparams)
        if s.tensors[x].shape[1] < 2 or s.tensors[x].shape[2] < 2:
            break
    shape = s.tensors[x].shape
    last = s.conv(x, 5, "last", q=q(), dead={0: LOW})
    flat = s.reshape(x, (1, shape[1] * shape[2] * shape[3]), "flat")
    return s.graph(s.dense(s.dense(flat, 9, "hidden", dead(9)), 3, "y"), last)


def test_random_networks_answer_the_same_without_their_dead_channels() -> None:
    removed = total = shrunk = 0
    for seed in range(300):
        before = random_net(seed)
        after = pruned(before, samples=4)
        old, new = (
            sum(channels(graph, op.outputs[0]) for op in graph.ops if op.kind != "reshape") for graph in (before, after)
        )
        removed, total, shrunk = removed + old - new, total + old, shrunk + (new < old)
    assert shrunk > 150 and removed > total / 20, (shrunk, removed, total)


def test_no_value_leaves_its_bounds_whatever_the_inputs() -> None:
    constants = 0
    for seed in range(300):
        graph = random_net(seed)
        bounds = channel_bounds(graph)
        for sample in range(4):
            for name, value in values(graph, inputs_of(graph, sample)).items():
                if graph[name].data is None:
                    assert (value >= bounds[name].low).all() and (value <= bounds[name].high).all(), (seed, name)
        constants += sum(int(bounds[op.outputs[0]].constant.sum()) for op in graph.ops)
    assert constants > 1000


# --- told, chosen, and a real net


def test_the_report_is_told_of_each_layer_what_is_saved() -> None:
    s = Net()
    h = s.conv(s.input("x", 1, 5, 5, 6, q=Q), 8, "h", dead={1: LOW, 6: LOW})
    after = pruned(s.graph(s.conv(h, 5, "y")))
    assert [str(n) for n in after.notes] == [
        f"{KIND}: the model: 2 channels of layers that have one value for every input or that nothing needs are removed: "
        "30 bytes of constants and 550 MACs less; keep_dead_channels=True or --keep-dead-channels leaves them",
        f"{KIND}: 'h' (model.py:1): 6 → 6 channels in, 8 → 6 out; 20 bytes of constants and 300 MACs less",
        f"{KIND}: 'y' (model.py:2): 8 → 6 channels in, 5 → 5 out; 10 bytes of constants and 250 MACs less",
    ]


def test_lowering_removes_them_unless_told_to_keep_them() -> None:
    s = Net()
    h = s.conv(s.quantize(s.input("x", 1, 5, 5, 6), "q"), 8, "h", dead={1: LOW})
    graph = s.graph(s.conv(h, 5, "y"))
    assert channels(lower(graph), "h") == 7
    kept = lower(graph, keep_dead_channels=True)
    assert channels(kept, "h") == 8 and not kept.notes


def test_a_compiled_model_has_none_unless_told_to_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    import rushlight as rl
    from rushlight.cli import app

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(2, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 8, 3, padding=1, groups=8),
        torch.nn.ReLU(), torch.nn.Conv2d(8, 3, 1),
    ).eval()  # fmt: skip
    with torch.no_grad():
        model[0].bias[1:4] = -100.0  # type: ignore[operator]
    batches = [(torch.randn(1, 2, 6, 6),) for _ in range(4)]
    program = rl.quantize(model, batches[0], batches)
    one = rl.compile(program, target="cortex-m4")
    whole = rl.compile(program, target="cortex-m4", keep_dead_channels=True)
    assert one.report().facts["macs"] < whole.report().facts["macs"]
    assert f"{KIND}: '0'" in str(one.report()) and KIND not in str(whole.report())
    for batch in batches:
        np.testing.assert_array_equal(one.reference(*batch), whole.reference(*batch))
        np.testing.assert_array_equal(one.run(*batch, on="host"), whole.reference(*batch))
    torch.export.save(program, tmp_path / "net.pt2")
    told = []
    for option in ([], ["--keep-dead-channels"]):
        arguments = [
            "compile",
            str(tmp_path / "net.pt2"),
            "--target",
            "cortex-m4",
            "-o",
            str(tmp_path / "out"),
            *option,
        ]
        app(arguments, standalone_mode=False)
        told.append(capsys.readouterr().out)
    assert KIND in told[0] and KIND not in told[1]


@functools.cache
def _vww(name: str) -> Graph:
    from bench.nets import net

    return net(name).graph


def test_vww_with_its_trained_weights_loses_half_of_its_macs() -> None:
    from bench.nets import net

    kept, without = net("VWW"), net("VWW-pruned")
    constants = [sum(t.nbytes for t in n.graph.tensors.values() if t.constant) for n in (kept, without)]
    assert (kept.macs, without.macs) == (7_489_664, 3_725_027)
    assert (constants[0], constants[1]) == (219_064, 32_934)


def test_vww_answers_random_inputs_alike() -> None:
    for seed in range(8):
        inputs = inputs_of(_vww("VWW"), seed)
        np.testing.assert_array_equal(run_graph(_vww("VWW"), inputs), run_graph(_vww("VWW-pruned"), inputs))


def test_vww_answers_photos_alike(shared_dir: Path) -> None:
    graph = _vww("VWW")
    q = graph[graph.inputs[0]].q
    images = np.load(shared_dir / "data" / "person_noperson_photos_96x96.npz")["images"][:40]
    answers = set()
    for image in images:
        x = np.clip(np.rint(image[None].astype(np.float64) / 255 / q.s) + q.z, q.qmin, q.qmax).astype(np.int8)
        expected, found = (run_graph(_vww(name), [x])[0] for name in ("VWW", "VWW-pruned"))
        np.testing.assert_array_equal(expected, found)
        answers.add(expected.tobytes())
    assert len(answers) > 10
