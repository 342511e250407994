"""The report says every layer, kernel and byte, and every step not asked for, in text of any width and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rushlight.errors import RushlightError
from rushlight.graph import DType, Note, Source
from rushlight.report import Report
from rushlight.schedule import Schedule, make_schedule
from rushlight.target import resolve
from tests.unit.emit_build import emitted
from tests.unit.emit_graphs import Builder, small_net


def scheduled(target: str = "cortex-m4") -> Schedule:
    return make_schedule(small_net(), resolve(target))


def test_each_layer_is_named_with_its_kernel_and_sizes() -> None:
    schedule = scheduled()
    report = Report.from_schedule(schedule)
    assert [layer.module for layer in report.layers] == ["x_q", "body.fc1", "body.fc2", "y"]
    fc1, call = report.layers[1], schedule.calls[1]
    assert (fc1.op, fc1.output, fc1.macs) == ("linear", [2, 9], 216)
    assert (fc1.kernel, fc1.tier, fc1.scratch) == (call.kernel.symbol, call.kernel.tier, call.kernel.scratch)
    assert fc1.weights == sum(c.data.nbytes for c in call.kernel.constants)
    line = next(line for line in report.text(140).splitlines() if "body.fc1" in line)
    for cell in ("linear", "2x9", "216", str(fc1.weights), call.kernel.symbol, call.kernel.tier, str(fc1.scratch)):
        assert f" {cell} " in line


def test_totals_are_those_of_the_schedule() -> None:
    schedule = scheduled()
    text = Report.from_schedule(schedule).text(140)
    assert f"MACs   {24 * 9 + 2 * 9 * 5} a run" in text
    assert f"RAM    {schedule.plan.bytes} bytes of arena; {schedule.plan.lower_bound} alive at once" in text
    assert f"flash  {schedule.constant_bytes + schedule.parameter_bytes} bytes of constants" in text


def test_a_bare_core_says_which_board_it_means() -> None:
    assert "cortex-m4 means its emulated board mps2-an386." in str(Report.from_schedule(scheduled()))
    text = Report.from_schedule(scheduled("cortex-m85")).text(140)
    assert "mps3-an547" in text
    assert "no emulated board of its own" in text


def test_notes_of_the_graph_and_of_kernels_are_shown() -> None:
    schedule = scheduled()
    call = schedule.calls[1]
    noted = replace(call, kernel=replace(call.kernel, note="sums need 40 bits; the v7m kernel runs"))
    schedule = replace(schedule, calls=(schedule.calls[0], noted, *schedule.calls[2:]))
    text = Report.from_schedule(schedule).text(140)
    assert "- layout: body.fc1: flattened without a copy" in text
    assert "- kernel: body.fc1: sums need 40 bits; the v7m kernel runs" in text


@pytest.mark.parametrize("width", [60, 72, 80, 100, 200])
def test_no_line_is_wider_than_asked_for_and_none_has_colour(width: int) -> None:
    b = Builder()
    h = b.linear(b.input("x", (1, 8), DType.INT8), 6, "fc", Source("a.very.long." * 12 + "path"))
    report = Report.from_schedule(make_schedule(b.graph(h), resolve("cortex-m4")))
    text = report.text(width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


@pytest.mark.parametrize(("width", "gone"), [(72, "MACs"), (84, "weights"), (100, "scratch"), (160, None)])
def test_a_narrow_page_loses_columns_before_names_are_broken(width: int, gone: str | None) -> None:
    report = Report.from_schedule(scheduled())
    text = report.text(width)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(report.layers)
    for layer, line in zip(report.layers, table[2:], strict=True):
        assert f" {layer.module} " in line
        assert f" {layer.kernel} " in line
    assert gone is None or f" {gone} " not in table[0]
    assert (" tier " in table[0]) is (gone is None)


def test_names_that_look_like_markup_are_printed_as_they_are() -> None:
    b = Builder()
    h = b.linear(b.input("[red]x[/red]", (1, 8), DType.INT8), 6, "fc", Source("[bold]m[/bold] :smile:"))
    graph = b.graph(h, notes=[Note("copy", "[i]here[/i]", "[link=x]")])
    text = Report.from_schedule(make_schedule(graph, resolve("cortex-m4"))).text(140)
    for name in ("[red]x[/red]", "[bold]m[/bold] :smile:", "[i]here[/i]: [link=x]"):
        assert name in text


def test_a_folders_report_is_the_schedules(tmp_path: Path) -> None:
    schedule = emitted(small_net(), tmp_path / "out")
    from_folder = Report.from_folder(tmp_path / "out")
    assert from_folder.text(100) == Report.from_schedule(schedule).text(100)
    assert from_folder.to_json() == Report.from_schedule(schedule).to_json()
    json.dumps(from_folder.to_json(), allow_nan=False)


def test_a_folders_report_needs_no_torch(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "out")
    code = (
        "import sys, pathlib\nsys.modules['torch'] = None\nfrom rushlight.report import Report\n"
        "print(Report.from_folder(pathlib.Path(sys.argv[1])))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "body.fc1" in done.stdout


@dataclass
class Sections:
    flash: int = 12_345
    ram: int = 678


def test_a_built_program_adds_exact_sizes_and_the_compiler() -> None:
    report = Report.from_schedule(scheduled())
    assert report.to_json()["build"] is None
    built = report.with_build(Sections(), "arm-none-eabi-gcc 12.2.1")
    assert "built  12,345 bytes of flash, 678 of RAM" in built.text(140)
    assert "built with arm-none-eabi-gcc 12.2.1" in built.text(140)
    assert built.to_json()["build"] == {"flash": 12_345, "ram": 678, "toolchain": "arm-none-eabi-gcc 12.2.1"}


def damaged(program: dict[str, Any], how: str) -> str:
    if how == "cut":
        return json.dumps(program)[:200]
    if how == "list":
        return "[]"
    if how == "future":
        program["format"] += 1
    elif how == "layer":
        del program["layers"][0]["kernel"]
    elif how == "arena":
        program["arena"] = 5
    else:
        program["rom"] = "nowhere"
    return json.dumps(program)


@pytest.mark.parametrize("how", ["cut", "list", "future", "layer", "arena", "region"])
def test_a_damaged_program_json_is_one_line(tmp_path: Path, how: str) -> None:
    emitted(small_net(), tmp_path / "out")
    file = tmp_path / "out" / "program.json"
    file.write_text(damaged(json.loads(file.read_text()), how))
    with pytest.raises(RushlightError, match="compile the model again") as caught:
        Report.from_folder(tmp_path / "out")
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_compiled_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(RushlightError, match="is not a compiled folder"):
        Report.from_folder(tmp_path)
