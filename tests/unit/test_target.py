"""Targets: what a user may write, and what is said of a wrong board.toml."""

import re
from pathlib import Path

import pytest

from rushlight.errors import RushlightError
from rushlight.target import BOARDS_DIR, Board, all_targets, board_names, cores, fallbacks, load_board, resolve

MEMORY_REGEX = r"^    (\w+) *\((\w+)\) *: ORIGIN = (0x\w+), LENGTH = (\d+)([KM])$"


@pytest.mark.parametrize(
    ("core", "tiers"),
    [
        ("cortex-m0", ("v6m",)),
        ("cortex-m0plus", ("v6m",)),
        ("cortex-m23", ("v6m",)),
        ("cortex-m3", ("v7m", "v6m")),
        ("cortex-m4", ("dsp", "v7m", "v6m")),
        ("cortex-m7", ("dsp", "v7m", "v6m")),
        ("cortex-m33", ("dsp", "v7m", "v6m")),
        ("cortex-m35p", ("dsp", "v7m", "v6m")),
        ("cortex-m55", ("mve", "dsp", "v7m", "v6m")),
        ("cortex-m85", ("mve", "dsp", "v7m", "v6m")),
    ],
)
def test_a_cores_tiers_follow_from_its_features(core: str, tiers: tuple[str, ...]) -> None:
    assert cores()[core].tiers == tiers
    assert cores()[core].unaligned == ("v7m" in tiers)


@pytest.mark.parametrize(
    ("core", "board", "note"),
    [
        ("cortex-m0", "microbit", "cortex-m0 means its emulated board microbit."),
        ("cortex-m55", "mps3-an547", "cortex-m55 means its emulated board mps3-an547."),
        ("cortex-m0plus", "microbit", "no emulated board of its own: it runs on microbit"),
        ("cortex-m23", "mps2-an505", "no emulated board of its own: it runs on mps2-an505"),
        ("cortex-m85", "mps3-an547", "is built as cortex-m55: it runs on mps3-an547"),
    ],
)
def test_a_bare_core_means_a_board_and_the_note_says_so(core: str, board: str, note: str) -> None:
    target = resolve(core)
    assert (target.core.name, target.board.name) == (core, board)
    assert note in target.note


def test_a_board_means_its_own_core_without_a_note() -> None:
    target = resolve("mps2-an386")
    assert (target.core.name, target.board.name, target.note) == ("cortex-m4", "mps2-an386", "")


def test_spec_of_every_target_resolves_to_it_again() -> None:
    targets = all_targets()
    assert len(targets) == 16
    for target in targets:
        again = resolve(target.spec)
        assert (again.core, again.board) == (target.core, target.board)


@pytest.mark.parametrize("core", ["cortex-m0", "cortex-m0plus"])
def test_what_outgrows_the_microbit_falls_back_to_the_memory_of_a_bigger_board(core: str) -> None:
    small, big = fallbacks(resolve(core))
    assert small == resolve(core)
    assert (big.core, big.board.name, big.requested) == (small.core, "mps2-an385", core)
    assert "memory of mps2-an385" in big.note
    assert "16 K RAM, 256 K flash" in big.note


@pytest.mark.parametrize("spec", ["microbit", "cortex-m0@microbit", "cortex-m3", "cortex-m23", "mps3-an547"])
def test_no_other_target_falls_back(spec: str) -> None:
    assert fallbacks(resolve(spec)) == [resolve(spec)]


def test_targets_can_be_keys() -> None:
    assert len({target: 0 for target in all_targets()}) == 16


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cortex-m5", r"unknown target 'cortex-m5': did you mean .*cortex-m55.*`rushlight targets`"),
        ("microbits", r"did you mean microbit\?"),
        ("m4", r"did you mean cortex-m4\?"),
        ("esp32", r"unknown target 'esp32': it is a core, a board or a path .*`rushlight targets`"),
        ("cortex-m4@microbit", r"board microbit does not run cortex-m4 code; it runs cortex-m0, cortex-m0plus"),
        ("no/such/board.toml", r"no/such/board.toml: cannot read the board"),
        ("", r"unknown target ''"),
    ],
)
def test_unknown_target_is_one_line(spec: str, message: str) -> None:
    with pytest.raises(RushlightError, match=message) as caught:
        resolve(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", board_names())
def test_link_script_and_board_toml_say_the_same(name: str) -> None:
    board = load_board(BOARDS_DIR / name / "board.toml")
    script = (BOARDS_DIR / name / "link.ld").read_text()
    assert regions_of(script) == {(r.name.upper(), r.base, r.size) for r in board.regions}
    assert f"__stack_size = {board.stack // 1024}K;" in script


def regions_of(script: str) -> set[tuple[str, int, int]]:
    unit = {"K": 1024, "M": 1024 * 1024}
    found = re.finditer(MEMORY_REGEX, script, re.MULTILINE)
    return {(match[1], int(match[3], 16), int(match[4]) * unit[match[5]]) for match in found}


VALID = (BOARDS_DIR / "mps2-an386" / "board.toml").read_text()


def write(folder: Path, text: str) -> Path:
    (folder / "my_board").mkdir()
    path = folder / "my_board" / "board.toml"
    path.write_text(text)
    return path


def test_a_users_board_is_called_after_its_folder(tmp_path: Path) -> None:
    path = write(tmp_path, VALID)
    for spec in (path, str(path)):
        target = resolve(spec)
        assert (target.board.name, target.core.name, target.note) == ("my_board", "cortex-m4", "")
        assert isinstance(target.board, Board)
        assert target.board.path == path.parent


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('core = "cortex-m4"', "", "key 'core': is missing"),
        ('core = "cortex-m4"', 'core = "cortex-a9"', "key 'core': unknown core 'cortex-a9'"),
        ("clock_hz = 25000000", 'clock_hz = "fast"', "key 'clock_hz': must be of type int, not 'fast'"),
        ("clock_hz = 25000000", "clock_hz = true", "key 'clock_hz': must be of type int, not True"),
        ("clock_hz = 25000000", "clock_hz = 0", "key 'clock_hz': must be above 0, not 0"),
        ("stack = 8192", "stack = 9000000", "key 'stack': 9000000 bytes do not fit in region 'ram'"),
        ('rom = "code"', 'rom = "flash"', "key 'rom': there is no region 'flash'; regions: code, ram"),
        ('rom = "code"', 'rom = "ram"', "key 'rom': region 'ram' is of kind 'ram', not 'rom'"),
        ("base = 0x20000000", "base = 0x00100000", "key 'regions.ram.base': overlaps region 'code'"),
        ("base = 0x20000000", "base = 0xFFFFFFFF", "key 'regions.ram.base': the region is not within 32-bit"),
        ("base = 0x20000000", "base = -4", "key 'regions.ram.base': the region is not within 32-bit"),
        ("size = 0x00400000", "size = 0", "key 'regions.code.size': must be above 0, not 0"),
        ("size = 0x00400000", "", "key 'regions.code.size': is missing"),
        ('kind = "ram"', 'kind = "cache"', "key 'regions.ram.kind': must be 'rom' or 'ram', not 'cache'"),
        ("[regions.ram]", "[areas.ram]", "key 'ram': there is no region 'ram'"),
        ("title = ", "title == ", "not a TOML file"),
        ("also = [", 'also = ["m99", ', "key 'also': unknown core 'm99'"),
    ],
)
def test_malformed_board_names_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in VALID
    path = write(tmp_path, VALID.replace(old, new, 1))
    with pytest.raises(RushlightError) as caught:
        load_board(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_regions_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    head = VALID.split("[regions", maxsplit=1)[0]
    with pytest.raises(RushlightError, match=r"key 'regions.code': must be a table"):
        load_board(write(tmp_path, head + "[regions]\ncode = 1\n"))
    (tmp_path / "none").mkdir()
    with pytest.raises(RushlightError, match=r"key 'regions': is missing"):
        load_board(write(tmp_path / "none", head))
