"""A compiled folder is written whole or not at all, and never over what is not Rushlight's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rushlight.emit import is_compiled, write_c
from rushlight.errors import RushlightError
from rushlight.firmware import copy_board
from rushlight.graph import Source
from rushlight.schedule import make_schedule
from rushlight.target import Target, resolve
from tests.unit.emit_graphs import Builder, small_net

SCHEDULE = make_schedule(small_net(), resolve("cortex-m3"))


def failing(_: Target, dest: Path) -> None:
    """Stands for whatever goes wrong when most files are written already."""
    dest.mkdir()
    (dest / "half").write_text("half")
    raise OSError(28, "No space left on device")


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(RushlightError, match="No space left on device"):
        write_c(SCHEDULE, tmp_path / "out", copy_board=failing)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_no_parents_behind(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(RushlightError, match="No space left on device"):
        write_c(SCHEDULE, tmp_path / "mine" / "a" / "b" / "out", copy_board=failing)
    assert [p.name for p in tmp_path.rglob("*")] == ["mine"]


def test_a_failure_leaves_the_folder_that_was_there(tmp_path: Path) -> None:
    write_c(SCHEDULE, tmp_path / "out", copy_board=copy_board)
    before = (tmp_path / "out" / "model" / "net.c").read_bytes()
    with pytest.raises(RushlightError):
        write_c(SCHEDULE, tmp_path / "out", copy_board=failing)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "model" / "net.c").read_bytes() == before


def test_a_compiled_folder_is_replaced_whole(tmp_path: Path) -> None:
    write_c(SCHEDULE, tmp_path / "out", copy_board=copy_board)
    (tmp_path / "out" / "model" / "stale.c").write_text("#error stale\n")
    write_c(SCHEDULE, tmp_path / "out", copy_board=copy_board)
    assert not (tmp_path / "out" / "model" / "stale.c").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_and_missing_parents_are_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "a" / "b"):
        write_c(SCHEDULE, folder, copy_board=copy_board)
        assert is_compiled(folder)


def test_a_folder_of_the_users_is_refused_and_kept(tmp_path: Path) -> None:
    for program in (None, "{}", "not JSON"):
        folder = tmp_path / f"mine-{program}".replace("{}", "json")
        folder.mkdir()
        (folder / "thesis.txt").write_text("years of work")
        if program is not None:
            (folder / "program.json").write_text(program)
        with pytest.raises(RushlightError, match="files that are not Rushlight's"):
            write_c(SCHEDULE, folder, copy_board=copy_board)
        assert (folder / "thesis.txt").read_text() == "years of work"


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RushlightError, match="it is a file"):
        write_c(SCHEDULE, tmp_path / "file", copy_board=copy_board)
    with pytest.raises(RushlightError, match="cannot write"):
        write_c(SCHEDULE, tmp_path / "file" / "below", copy_board=copy_board)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "loop/out"])
def test_a_name_that_the_file_system_does_not_take_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(RushlightError, match="cannot write"):
        write_c(SCHEDULE, tmp_path / name, copy_board=copy_board)
    assert [p.name for p in tmp_path.iterdir()] == ["loop"]


def test_the_current_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RushlightError, match="current directory"):
        write_c(SCHEDULE, Path("."), copy_board=copy_board)


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    write_c(SCHEDULE, tmp_path / "real", copy_board=copy_board)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_c(SCHEDULE, tmp_path / "link", copy_board=copy_board)
    assert (tmp_path / "link").is_symlink()
    assert is_compiled(tmp_path / "real")


@pytest.mark.parametrize(
    "name", ["", "1net", "my net", "net-2", "int", "class", "rl_net", "string", "port", "é", "a" * 49]
)
def test_a_name_that_c_cannot_have_is_refused(tmp_path: Path, name: str) -> None:
    b = Builder(name)
    graph = b.graph(b.quantize(b.input("x", (4,)), "y"))
    schedule = make_schedule(graph, resolve("cortex-m3"))
    with pytest.raises(RushlightError, match="cannot be used in C"):
        write_c(schedule, tmp_path / "out", copy_board=copy_board)
    assert list(tmp_path.iterdir()) == []


def test_lines_of_the_readme_are_of_a_readable_length(tmp_path: Path) -> None:
    write_c(SCHEDULE, tmp_path / "out", copy_board=copy_board)
    lines = (tmp_path / "out" / "README.md").read_text().splitlines()
    assert [line for line in lines if len(line) > 130] == []


def test_what_the_compiler_put_there_is_not_named_twice(tmp_path: Path) -> None:
    b = Builder()
    y = b.dequantize(b.linear(b.quantize(b.input("x", (1, 4)), "quantize"), 3, "fc"), "dequantize_2")
    graph = b.graph(y)
    graph = replace(graph, ops=tuple(replace(op, name=op.outputs[0], source=Source()) for op in graph.ops))
    write_c(make_schedule(graph, resolve("cortex-m3")), tmp_path / "out", copy_board=copy_board)
    text = (tmp_path / "out" / "model" / "net.c").read_text()
    assert all(f"    /* {comment} */\n" in text for comment in ("quantize", "linear fc", "dequantize_2"))
