"""From a graph to calls, buffers and constants; a model too big for its board is refused with the bytes it lacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Source
from rushlight.ops import operator
from rushlight.schedule import DoesNotFit, Lifetime, make_schedule
from rushlight.target import Target, resolve
from tests.unit.emit_graphs import Builder, small_net

M3 = resolve("cortex-m3")


def test_calls_are_the_first_candidates_in_the_graphs_order() -> None:
    graph = small_net()
    for name in ("cortex-m0", "cortex-m4", "cortex-m55"):
        target = resolve(name)
        schedule = make_schedule(graph, target)
        assert [c.op.kind for c in schedule.calls] == ["quantize", "linear", "linear", "dequantize"]
        for call in schedule.calls:
            assert call.kernel.symbol == operator(call.op.kind).kernels(call.op, graph, target.core.tiers)[0].symbol
            assert call.kernel.tier in target.core.tiers
        assert [c.macs for c in schedule.calls] == [0, 24 * 9, 2 * 9 * 5, 0]


def test_a_view_makes_no_call_and_has_its_inputs_bytes() -> None:
    schedule = make_schedule(small_net(), M3)
    assert "reshape" not in [c.op.kind for c in schedule.calls]
    assert schedule.storage["flat"] == schedule.storage["x_q"] == "x_q"
    assert schedule.calls[1].reads == ("x_q",)


def test_inputs_and_outputs_are_the_applications() -> None:
    schedule = make_schedule(small_net(), M3)
    assert schedule.buffers["x"].lifetime is Lifetime.INPUT
    assert schedule.buffers["y"].lifetime is Lifetime.OUTPUT
    temporaries = {b.name for b in schedule.buffers.values() if b.lifetime is Lifetime.TEMPORARY}
    assert temporaries >= {"x_q", "fc1", "fc2"}
    assert not temporaries & {"x", "y"}


def test_an_output_that_is_a_view_is_written_by_the_call_before_it() -> None:
    b = Builder()
    h = b.linear(b.input("x", (1, 8), DType.INT8), 6, "fc")
    schedule = make_schedule(b.graph(b.reshape(h, (2, 3), "y")), M3)
    assert schedule.calls[0].outputs == ("y",)
    assert schedule.buffers["y"].lifetime is Lifetime.OUTPUT


def test_a_buffer_lives_to_the_last_use_of_any_of_its_views() -> None:
    b = Builder()
    q = b.quantize(b.input("x", (2, 6)), "q")
    first = b.linear(b.reshape(q, (3, 4), "v"), 4, "a")
    second = b.linear(first, 5, "b")
    third = b.linear(b.reshape(q, (1, 12), "w"), 7, "c")
    schedule = make_schedule(b.graph(b.dequantize(second, "y"), b.dequantize(third, "z")), M3)
    assert (schedule.buffers["q"].first, schedule.buffers["q"].last) == (0, 3)


def test_a_kernel_that_may_write_over_its_input_does_so_where_it_dies() -> None:
    b = Builder()
    q = b.quantize(b.input("x", (1, 64)), "q")
    t = b.table(q, "t")
    schedule = make_schedule(b.graph(b.dequantize(b.table(t, "u"), "y")), M3)
    assert {schedule.buffers[name].offset for name in ("q", "t", "u")} == {0}
    assert schedule.plan.bytes == schedule.plan.lower_bound == 64
    kept = b.graph("y", b.dequantize(q, "z"))  # q is read once more at the end
    schedule = make_schedule(kept, M3)
    assert schedule.buffers["q"].offset != schedule.buffers["t"].offset
    assert schedule.plan.bytes == 128


def test_equal_constants_stand_once() -> None:
    b = Builder()
    h = b.linear(b.linear(b.input("x", (1, 8), DType.INT8), 8, "a", weights=1), 8, "b", weights=1)
    schedule = make_schedule(b.graph(b.dequantize(h, "y")), resolve("cortex-m0"))
    first, second = schedule.calls[0], schedule.calls[1]
    assert first.constants[0] == second.constants[0]
    contents = [c.data.tobytes() for c in schedule.constants.values()]
    assert len(contents) == len(set(contents))
    assert schedule.constant_bytes == sum(c.data.nbytes for c in schedule.constants.values())


@pytest.mark.parametrize("outputs", [("x",), ("v",), ("y", "y"), ("y", "w")])
def test_an_output_that_needs_a_copy_and_has_none_is_noticed(outputs: tuple[str, ...]) -> None:
    b = Builder()
    x = b.input("x", (1, 8), DType.INT8)
    b.reshape(x, (8,), "v")
    b.reshape(b.linear(x, 6, "y"), (2, 3), "w")
    with pytest.raises(AssertionError, match="needs a copy"):
        make_schedule(b.graph(*outputs), M3)


def shrunk(target: Target, ram: int | None = None, rom: int | None = None) -> Target:
    """The same target with a smaller board."""
    board = target.board
    less_ram = replace(board.ram, size=ram or board.ram.size)
    less_rom = replace(board.rom, size=rom or board.rom.size)
    fast = less_ram if board.fast == board.ram else board.fast
    return replace(target, board=replace(board, ram=less_ram, rom=less_rom, fast=fast))


def test_too_little_ram_is_said_with_region_bytes_and_largest_tensors() -> None:
    graph, m0 = small_net(), resolve("cortex-m0")
    schedule = make_schedule(graph, m0)
    stack = m0.board.stack
    need = schedule.plan.bytes + 96 + 48 + stack
    make_schedule(graph, shrunk(m0, ram=need))
    with pytest.raises(DoesNotFit) as caught:
        make_schedule(graph, shrunk(m0, ram=need - 5))
    message = str(caught.value)
    assert f"takes {need} bytes of region 'ram'" in message
    assert f"which has {need - 5}: 5 too many" in message
    assert "largest tensors: 'x' 96 bytes" in message
    assert "\n" not in message


def test_too_little_flash_is_said_with_region_bytes_and_largest_layers() -> None:
    graph, m0 = small_net(), resolve("cortex-m0")
    schedule = make_schedule(graph, m0)
    need = schedule.constant_bytes + schedule.parameter_bytes
    with pytest.raises(DoesNotFit) as caught:
        make_schedule(graph, shrunk(m0, rom=need - 7))
    message = str(caught.value)
    assert f"constants take {need} bytes of region 'flash', which has {need - 7}: 7 too many" in message
    assert "largest: 'body.fc1'" in message
    assert " 0 bytes" not in message


def test_an_operator_without_a_kernel_names_the_users_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    h = b.linear(b.input("x", (1, 8), DType.INT8), 6, "fc", Source("body.fc", "model.py", 41))
    monkeypatch.setattr(type(operator("linear")), "kernels", lambda *_: [])
    with pytest.raises(RushlightError, match=r"^linear 'body\.fc' \(model\.py:41\): has no kernel for cortex-m3 "):
        make_schedule(b.graph(h), M3)


def test_a_constant_read_through_a_pointer_is_in_flash() -> None:
    b = Builder()
    b.input("x", (1, 4), DType.INT8)
    b.linear("x", 4, "fc")
    data = np.arange(-8, 8, dtype=np.int8).reshape(4, 4)
    b.tensors["c"] = replace(b.tensors["x"], name="c", shape=(4, 4), data=data)
    b.table("c", "y")
    schedule = make_schedule(b.graph("fc", "y"), M3)
    name = schedule.calls[1].reads[0]
    assert name in schedule.constants
    assert np.array_equal(schedule.constants[name].data, data)
