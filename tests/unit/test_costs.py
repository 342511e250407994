"""Estimated costs: near what is measured, on layers that nothing was fitted to and on nets; no figure where there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.baselines import layers
from bench.costs import COMPILER, OPT, TARGETS, Call, errors, fit_instructions, measured_calls, stored
from bench.counting import work
from bench.nets import count_net, schedule
from rushlight.graph import DType, Graph
from rushlight.ops import operator
from rushlight.report import Report
from rushlight.schedule import choice, make_schedule
from rushlight.target import cores, resolve
from rushlight.target.costs import DATA, Cost, CostTable, KernelCost, costs, read_costs
from tests.unit.emit_graphs import Builder, small_net

#: A seed that nothing was fitted to, and that no fit was judged by.
UNSEEN = 3


# --- How near the estimates are -------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("net", ["IC", "KWS", "VWW", "AD"])
def test_a_whole_nets_estimate_is_within_5_percent_of_its_count(net: str, core: str) -> None:
    program = schedule(net, TARGETS[core])
    estimated = [call.cost.instructions for call in program.calls if call.cost is not None]
    assert len(estimated) == len(program.calls), "a kernel has no figure: python -m bench.costs --update"
    measured = count_net(net, TARGETS[core], COMPILER, OPT)
    assert measured is not None
    assert sum(estimated) == pytest.approx(measured, rel=costs().instruction_error), "python -m bench.costs --update"


@pytest.mark.parametrize("core", ["cortex-m3", "cortex-m55"])
def test_estimates_hold_for_layers_that_nothing_was_fitted_to(core: str) -> None:
    off: list[float] = []
    for calls in measured_calls(core, 4, UNSEEN).values():
        for call in calls:
            cost = costs().predict(call.kernel.symbol, call.features, cores()[core])
            if cost is not None:
                off.append(abs(cost.instructions / call.instructions - 1))
    assert len(off) > 100
    assert np.median(off) < 0.01, "python -m bench.costs --update"
    assert np.quantile(off, 0.95) < 0.06, "python -m bench.costs --update"


def test_a_fit_finds_what_each_loop_takes() -> None:
    calls = [
        fake_call({"calls": 1, "rows": r, "taps": r * t}, 40 + 7 * r + 3 * r * t) for r in (1, 5, 9) for t in (2, 8)
    ]
    fitted = fit_instructions(calls)
    assert fitted == pytest.approx({"calls": 40, "rows": 7, "taps": 3}, rel=1e-3)
    assert np.abs(errors(fitted, calls)).max() < 1e-3
    assert errors(fitted, [fake_call({"calls": 1, "other": 1}, 50)]).size == 0


class FakeCall(Call):
    """A call that says its features itself."""

    given: Mapping[str, float] = {}

    @property
    def features(self) -> Mapping[str, float]:
        return self.given


def fake_call(features: Mapping[str, float], instructions: int) -> Call:
    call = FakeCall(None, None, instructions)  # type: ignore[arg-type]
    object.__setattr__(call, "given", features)
    return call


# --- The table ------------------------------------------------------------------------------------------------------


def test_there_is_no_figure_for_what_was_not_measured() -> None:
    m4 = cores()["cortex-m4"]
    assert costs().predict("rl_linear_s8_dsp", {}, m4) is None
    assert costs().predict("rl_linear_s8_dsp", {"calls": 1.0, "a loop of a later kernel": 2.0}, m4) is None
    assert costs().predict("rl_linear_s8_dsp", {"calls": 1.0, "a loop of a later kernel": 0.0}, m4) is not None
    assert costs().predict("rl_of_someone_else", {"calls": 1.0}, m4) is None
    assert costs().predict("rl_linear_s8_mve", {"calls": 1.0}, m4) is None


def test_cores_without_a_model_of_their_timing_have_instructions_alone() -> None:
    features = {"calls": 1.0, "values": 100.0}
    for name in cores():
        cost = costs().predict("rl_dequantize_s8_v6m", features, cores()[name])
        assert cost is not None, name
        assert (cost.cycles is None) == (name in ("cortex-m23", "cortex-m85")), name
    known = costs().predict("rl_dequantize_s8_v6m", features, cores()["cortex-m33"])
    assert costs().predict("rl_dequantize_s8_v6m", features, cores()["cortex-m35p"]) == known


def test_a_core_that_is_fitted_anew_leaves_the_others_lines_alone(tmp_path: Path) -> None:
    old = json.loads(DATA.read_text())
    text = stored({}, old)
    assert json.loads(text)["cores"] == old["cores"]
    file = tmp_path / "costs.json"
    file.write_text(text)
    assert read_costs(file).kernels == costs().kernels


# --- The choice -----------------------------------------------------------------------------------------------------


def layer_graph() -> Graph:
    """A 3x3 convolution of 32 to 32 channels on 16x16."""
    b = Builder()
    return b.graph(b.conv2d(b.input("x", (1, 16, 16, 32), DType.INT8), 32, 3, "conv"))


def table_of(figures: Mapping[str, float | None], core: str = "cortex-m4") -> CostTable:
    """Costs of a call of each kernel, cycles being twice the instructions."""
    kernels = {symbol: KernelCost({"calls": cost}, 2.0) for symbol, cost in figures.items() if cost is not None}
    return replace(costs(), kernels={core: kernels})


@pytest.mark.parametrize(
    ("figures", "chosen"),
    [
        ({"dsp": 1e6, "v7m": 0.9e6, "v6m": 2e6}, "v7m"),
        ({"dsp": 1e6, "v7m": 2e6, "v6m": 0.5e6}, "v6m"),
        ({"dsp": 1e6, "v7m": 1e6, "v6m": 1e6}, "dsp"),
        ({"dsp": 1e6, "v7m": 0.96e6, "v6m": 2e6}, "dsp"),  # estimates are not that exact
        ({"dsp": 1e4, "v7m": 0.6e4, "v6m": 2e4}, "dsp"),  # too little for a second kernel's code
        ({"dsp": 1e6, "v7m": None, "v6m": 1e5}, "dsp"),  # one is without a figure
    ],
)
def test_the_clearly_cheapest_kernel_is_chosen_or_else_the_first(
    monkeypatch: pytest.MonkeyPatch, figures: dict[str, float | None], chosen: str
) -> None:
    graph = layer_graph()
    plain = {f"rl_conv2d_s8_{tier}": cost for tier, cost in figures.items()}
    (op,) = graph.ops
    kernels = [k for k in operator("conv2d").kernels(op, graph, ("dsp", "v7m", "v6m")) if k.symbol in plain]
    monkeypatch.setattr(choice, "costs", lambda: table_of(plain))
    monkeypatch.setattr(type(operator("conv2d")), "features", lambda self, kernel: {"calls": 1.0})
    found = choice.cheapest(op, kernels, cores()["cortex-m4"], scratch=0)
    assert found.symbol == f"rl_conv2d_s8_{chosen}"


def test_a_cheaper_kernel_that_needs_memory_that_is_not_there_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = layer_graph()
    (op,) = graph.ops
    first = next(k for k in operator("conv2d").kernels(op, graph, ("dsp",)) if k.symbol == "rl_conv2d_s8_dsp")
    hungry = replace(first, symbol="hungry", scratch=first.scratch + 1000)
    large = replace(first, symbol="large", constants=first.constants * 2)
    monkeypatch.setattr(choice, "predict", lambda op, kernel, core: 1e6 if kernel is first else 1e5)
    core = cores()["cortex-m4"]
    assert choice.cheapest(op, [first, hungry], core, scratch=first.scratch + 999) is first
    assert choice.cheapest(op, [first, hungry], core, scratch=first.scratch + 1000) is hungry
    assert choice.cheapest(op, [first, large], core, scratch=0) is first


def test_kernels_are_compared_by_cycles_only_where_these_are_known_well() -> None:
    layer = work(next(shape for shape in layers() if shape.net == "AD"))
    assert layer is not None
    for name, by_cycles in (("cortex-m4", True), ("cortex-m55", False), ("cortex-m85", False)):
        core = cores()[name]
        kernel = operator(layer.op.kind).kernels(layer.op, layer.graph, core.tiers)[0]
        cost = choice.estimate(layer.op, kernel, core)
        assert cost is not None
        assert choice.predict(layer.op, kernel, core) == (cost.cycles if by_cycles else cost.instructions)


# --- The report -----------------------------------------------------------------------------------------------------


def test_the_report_states_instructions_cycles_and_time_of_each_layer_as_estimates() -> None:
    program = make_schedule(small_net(), resolve("cortex-m4"))
    report = Report.from_schedule(program)
    call = program.calls[1]
    assert call.cost is not None and call.cost.cycles is not None
    layer = report.layers[1]
    assert (layer.instructions, layer.cycles) == (round(call.cost.instructions), round(call.cost.cycles))
    assert layer.ms == pytest.approx(1000 * call.cost.cycles / 25_000_000, rel=1e-3)
    text = report.text(140)
    assert f" {layer.instructions:,} " in next(line for line in text.splitlines() if "fc1" in line)
    total = report.to_json()["cost"]
    assert total["instructions"] == pytest.approx(sum(one.instructions or 0 for one in report.layers), abs=2)
    line = next(line for line in text.splitlines() if line.startswith("cost"))
    assert f"{total['instructions']:,} instructions a run, an estimate for arm-none-eabi-gcc" in line
    flat = " ".join(text.split())
    assert f"{total['cycles']:,} cycles, " in flat
    assert "at 25 MHz, an estimate (to 15%" in flat


def test_the_report_has_no_figure_where_a_kernel_has_none() -> None:
    program = make_schedule(small_net(), resolve("cortex-m4"))
    strange = replace(program.calls[1], kernel=replace(program.calls[1].kernel, symbol="rl_mine"), cost=None)
    program = replace(program, calls=(program.calls[0], strange, *program.calls[2:]))
    report = Report.from_schedule(program)
    layer, facts = report.layers[1], report.to_json()
    assert (layer.instructions, layer.cycles, layer.ms) == (None, None, None)
    assert facts["cost"]["instructions"] is None
    assert report.layers[2].instructions is not None
    assert "no figure: it was not measured for rl_mine on cortex-m4" in " ".join(report.text(140).split())


def test_a_core_without_a_cycle_model_says_so() -> None:
    report = Report.from_schedule(make_schedule(small_net(), resolve("cortex-m85")))
    assert report.layers[1].instructions is not None
    assert report.layers[1].cycles is None
    assert "no figure for cycles: there is no model of cortex-m85" in " ".join(report.text(140).split())
    assert Cost(1.0, None).cycles is None
