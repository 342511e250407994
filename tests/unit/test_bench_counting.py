"""The bench measures: counts that repeat exactly, profiles that add up to them, nets that are what the compiler makes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import __main__ as cli
from bench import counting
from bench.baselines import COMPILERS, CORES, NETS, PRUNED, layers
from bench.counting import Choice, kernel, measure, work
from bench.frozen import load_net, save_net
from bench.layers import single_layer
from bench.measure import count_calls, prune, work_of
from bench.nets import FOLDER, KINDS, net, schedule
from bench.profile import profile
from bench.results import Row
from bench.size import file_bytes, net_bytes, net_kernels, tier_files
from rushlight.errors import RushlightError
from rushlight.schedule import make_schedule
from rushlight.target import resolve

AD = [layer for layer in layers() if layer.net == "AD"]


@pytest.mark.parametrize(("core", "compiler"), [("m0p", "clang"), ("m4", "gcc"), ("m55", "gcc")])
def test_a_measurement_repeats_exactly_and_its_profile_adds_up_to_it(core: str, compiler: str) -> None:
    choice = Choice(("AD",), (core,), (compiler,), (4, 5))
    first, second = measure(choice), measure(choice)
    assert first.rows == second.rows
    assert not first.wrong
    assert [(row.net, row.layer, row.op, row.core, row.compiler, row.macs) for row in first.rows] == [
        ("AD", 4, "FC", core, compiler, 1024),
        ("AD", 5, "FC", core, compiler, 1024),
    ]
    layer = AD[4]
    some = work(layer)
    assert some is not None
    found = profile(some, kernel(layer, core), resolve(CORES[core]), compiler)
    # The counter's own call lies partly in the one count and partly in the other.
    assert abs(found.total - first.rows[0].instructions) <= 4
    assert sum(found.functions.values()) == found.total
    assert any(line.endswith(":") and "rl_" in line for line in found.lines)


def test_a_layer_alone_takes_as_many_instructions_as_among_others() -> None:
    alone = measure(Choice(("KWS",), ("m3",), ("gcc",), (10,))).rows
    among = measure(Choice(("KWS",), ("m3",), ("gcc",), (10, 11))).rows
    assert alone[0] == among[0]


def test_a_whole_net_takes_what_its_layers_take_and_hardly_more() -> None:
    rows = measure(Choice(("AD",), ("m4",), ("gcc",))).rows
    whole = next(row for row in rows if row.layer is None)
    layer_sum = sum(row.instructions for row in rows if row.layer is not None)
    assert len(rows) == 11
    assert whole.instructions == pytest.approx(layer_sum, rel=0.01)
    assert whole.scratch == schedule("AD", "cortex-m4").plan.bytes


def test_a_wrong_answer_is_not_counted() -> None:
    found = single_layer(AD[4])
    assert found is not None
    some = work_of("AD 4", *found)
    target = resolve("cortex-m4")
    right = make_schedule(some.graph, target).calls[0].kernel
    wrong = replace(right, params={**right.params, "out_max": -100})
    counts = count_calls([some, some], [right, wrong], target, "gcc")
    assert counts[0] is not None
    assert counts[1] is None


def test_a_wrong_answer_makes_the_exit_code_2_and_a_rise_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("AD", 4, "FC", "m4", "gcc", 1000, 1024, 0)
    measured = counting.Measured([row], [])
    monkeypatch.setattr(cli, "measure", lambda choice, done: measured)
    monkeypatch.setattr(cli, "load", lambda: [replace(row, instructions=1000)])
    arguments = ["--net", "AD", "--layer", "4"]
    assert cli.main(arguments) == 0
    monkeypatch.setattr(cli, "load", lambda: [replace(row, instructions=900)])
    assert cli.main(arguments) == 1
    assert "rose by 11.1%: AD 4 FC m4 gcc: 900 → 1,000" in capsys.readouterr().out
    measured.wrong.append("AD 4: another answer than the reference's")
    assert cli.main(arguments) == 2
    assert cli.main(["--net", "AD", "--layer", "77"]) == 2
    assert "bench: no such layer" in capsys.readouterr().err


@pytest.mark.parametrize("name", NETS)
def test_every_layer_of_the_baselines_is_an_operator_of_the_net(name: str) -> None:
    shapes = [layer for layer in layers() if layer.net == name]
    assert [kind for kind, _ in net(name).layers] == [KINDS[layer.op] for layer in shapes]
    assert len(set(net(name).layers)) == len(shapes)
    found = net(name).work(shapes[0])
    assert found is not None
    assert found.inputs[0].size == np.prod(shapes[0].in_shape)


def test_a_net_comes_back_from_a_file_as_it_was(tmp_path: Path) -> None:
    frozen = load_net(FOLDER / "KWS.npz")
    save_net(frozen, tmp_path / "KWS.npz")
    assert (tmp_path / "KWS.npz").read_bytes() == (FOLDER / "KWS.npz").read_bytes()
    (tmp_path / "bad.npz").write_bytes(b"PK")
    with pytest.raises(RushlightError, match="make it anew"):
        load_net(tmp_path / "bad.npz")


def test_the_net_in_the_file_is_what_the_compiler_imports(shared_dir: Path) -> None:
    from bench.freeze import freeze

    fresh = freeze("KWS", shared_dir / "models", shared_dir / "data" / "golden")
    stored = load_net(FOLDER / "KWS.npz")
    assert fresh.layers == stored.layers
    assert [(op.kind, op.attrs) for op in fresh.graph.ops] == [(op.kind, op.attrs) for op in stored.graph.ops]
    for name, tensor in stored.graph.tensors.items():
        if tensor.data is not None:
            np.testing.assert_array_equal(fresh.graph[name].data, tensor.data)


def test_both_compilers_are_measured_unless_one_is_chosen() -> None:
    assert Choice(cores=("m4",)).jobs == [("m4", compiler) for compiler in COMPILERS]
    assert Choice().whole_nets == [*NETS, *PRUNED]
    assert Choice(ops=("DW",)).whole_nets == []


def test_the_linked_size_of_a_net_is_that_of_the_functions_of_its_kernel_files() -> None:
    files = {source for k in net_kernels("AD", "m4") for source in k.sources}
    assert files == {"linear/dsp.c", "common/tile_dsp.c"}
    alone = sum(file_bytes(source, "m4", "gcc", "-Os") for source in files)
    linked = net_bytes("AD", "m4", "gcc", "-Os")
    # What nothing calls is dropped; alignment between functions is in the one and not in the other.
    assert 0.8 * alone < linked <= alone
    assert ("linear/mve.c", "m55") in tier_files()


def test_a_kernel_file_that_does_not_compile_is_named() -> None:
    with pytest.raises(RushlightError, match=r"linear/none\.c does not compile for m4 with gcc at -Os: .*error"):
        file_bytes("linear/none.c", "m4", "gcc", "-Os")


def test_programs_not_used_for_a_day_are_removed(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        (folder / "build").mkdir(parents=True)
    os.utime(old, (0, 0))
    prune(tmp_path)
    prune(tmp_path / "none")
    assert list(tmp_path.iterdir()) == [new]
