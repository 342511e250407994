"""The bench's rows, their comparison with stored ones, and the goals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from bench.baselines import CORES, NETS, PRUNED, baseline, layers, net_macs
from bench.goals import goal, met, ratio
from bench.layers import single_layer
from bench.results import STORED, Row, compare, load, save, updated
from bench.tables import grouped, print_changes, summary, table, worst
from rushlight.errors import RushlightError

ROW = Row("KWS", 1, "DW", "m4", "gcc", 200_000, 72_000, 136)


def test_rows_come_back_from_a_file_in_the_order_of_nets_layers_cores_and_compilers(tmp_path: Path) -> None:
    whole = replace(ROW, layer=None, op="NET")
    clang, m0p, other = replace(ROW, compiler="clang"), replace(ROW, core="m0p"), replace(ROW, net="IC")
    file = tmp_path / "results.json"
    save([clang, ROW, whole, m0p, other], file)
    assert load(file) == [other, whole, m0p, ROW, clang]
    assert file.read_text().count("\n") == 7  # a row a line, so that a change is a line of a diff
    assert load(tmp_path / "none.json") == []


@pytest.mark.parametrize("text", ["{", "[1]", '[{"net": "KWS"}]'])
def test_a_damaged_file_of_results_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    with pytest.raises(RushlightError, match=r"results\.json: not a list of measured rows"):
        load(file)


def test_a_rise_over_one_percent_is_too_much_and_others_are_only_told() -> None:
    stored = [ROW, replace(ROW, layer=2), replace(ROW, layer=3), replace(ROW, layer=4)]
    new = [
        replace(ROW, instructions=202_000),
        replace(ROW, layer=2, instructions=202_001),
        replace(ROW, layer=3, instructions=100_000),
        replace(ROW, layer=4),
        replace(ROW, layer=5),  # not measured before
    ]
    changes = compare(stored, new)
    assert [c.new.layer for c in changes] == [2, 1, 3]
    assert [c.too_much for c in changes] == [True, False, False]
    console = Console(width=200, record=True)
    print_changes(console, changes)
    text = console.export_text()
    assert "rose by 1.0%: KWS 2 DW m4 gcc: 200,000 → 202,001" in text
    assert "1 rows rose by more than 1 %, 1 by less, 1 fell since the stored run" in text


def test_an_update_replaces_the_measured_rows_alone() -> None:
    kept, new = replace(ROW, core="m7"), replace(ROW, instructions=1)
    assert updated([ROW, kept], [new]) == [new, kept]


def test_the_goal_is_the_nets_the_operators_or_that_of_all_layers() -> None:
    assert goal(replace(ROW, layer=None, op="NET")) == 0.58
    assert goal(ROW) == 0.5
    assert goal(replace(ROW, layer=2, op="CONV")) == 0.9
    assert goal(Row("IC", 3, "ADD", "m55", "gcc", 1, 1, 0)) == 0.5


def test_a_net_without_its_dead_channels_stands_beside_the_whole_one_and_has_no_goal() -> None:
    whole = Row("VWW", None, "NET", "m4", "gcc", 9_000_000, 7_489_664, 0)
    pruned = replace(whole, net="VWW-pruned", macs=3_725_027)
    assert ratio(pruned) == ratio(whole)
    assert goal(pruned) is None and met({"gcc": replace(pruned, instructions=10**9)})
    console = Console(width=200, record=True)
    console.print(table(grouped([pruned, whole]), "Nets"))
    lines = [line for line in console.export_text().splitlines() if "VWW" in line]
    assert [" met " in line or " not " in line for line in lines] == [True, False]
    assert [line.split("│")[-3].strip() for line in lines] == [
        f"{baseline('VWW', None, 'm4').best / 7_489_664:.3f}"
    ] * 2
    assert summary([pruned, whole]) == "goals met: 1 of 1 nets x cores"


def test_a_layer_must_meet_its_goal_under_one_compiler_and_beat_its_baseline_under_both() -> None:
    base = baseline("KWS", 2, "m4").best
    good = Row("KWS", 2, "CONV", "m4", "gcc", int(base * 0.8), 1, 0)
    assert ratio(good) == pytest.approx(0.8, abs=1e-3)
    assert met({"gcc": good})
    assert met({"gcc": good, "clang": replace(good, instructions=int(base * 0.99))})
    assert not met({"gcc": good, "clang": replace(good, instructions=int(base * 1.01))})
    assert not met({"gcc": replace(good, instructions=int(base * 0.91))})


def test_the_worst_layers_are_those_of_the_greatest_ratio_under_the_better_compiler() -> None:
    def of(layer: int, share: float, compiler: str) -> Row:
        return Row("KWS", layer, "CONV", "m4", compiler, int(baseline("KWS", layer, "m4").best * share), 1, 0)

    rows = [of(2, 0.5, "gcc"), of(2, 3.0, "clang"), of(4, 0.7, "gcc"), of(4, 0.8, "clang"), of(6, 0.6, "gcc")]
    assert [group["gcc"].layer for group in worst(rows, 2)] == [4, 6]
    console = Console(width=200, record=True)
    console.print(table(grouped(rows), "Layers"))
    assert "KWS 2 CONV 25x5x64→64" in console.export_text()


def test_baselines_have_every_layer_on_every_core_and_sum_to_the_nets() -> None:
    assert {(layer.net, layer.index) for layer in layers()} == {
        *(("IC", i) for i in range(15)),
        *(("KWS", i) for i in range(12)),
        *(("VWW", i) for i in range(30)),
        *(("AD", i) for i in range(10)),
        *(("EXTRA", i) for i in range(38)),
    }
    assert {net: net_macs(net) for net in NETS} == {
        "IC": 12_501_632,
        "KWS": 2_656_768,
        "VWW": 7_489_664,
        "AD": 264_192,
    }
    for core in CORES:
        for layer in layers():
            found = baseline(layer.net, layer.index, core)
            assert found.best == min(n for n in (found.gcc, found.clang) if n is not None)
    assert baseline("KWS", None, "m4").best == 7_683_186


def test_single_layers_have_the_shapes_of_the_baselines() -> None:
    made = {layer.op: layer for layer in layers() if layer.net == "EXTRA" and layer.macs < 500_000}
    assert {"CONV", "DW", "MAX", "AVG", "FC", "FCPC", "MUL", "RELU6", "SM"} <= set(made)
    for layer in made.values():
        found = single_layer(layer)
        if found is None:
            continue
        graph, inputs = found
        assert inputs[0].size == layer.in_shape[0] * layer.in_shape[1] * layer.in_shape[2], layer
        assert graph[graph.outputs[0]].elements == layer.out_shape[0] * layer.out_shape[1] * layer.out_shape[2], layer


def test_the_stored_run_holds_every_net_on_every_core_under_both_compilers() -> None:
    keys = {row.key for row in load(STORED)}
    assert {
        (net, None, core, compiler) for net in (*NETS, *PRUNED) for core in CORES for compiler in ("gcc", "clang")
    } <= keys
