"""A hand-written model on every emulated board: right answers, exact counts, and a line of text for whatever goes wrong."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from rushlight.errors import RushlightError
from rushlight.firmware import build_firmware, build_host
from rushlight.run import FolderResult, run_folder, run_host, run_qemu
from rushlight.target import Target, all_targets, board_names, resolve
from tests.e2e.toy_folder import (
    BIG_FRAME,
    ENDLESS,
    ERROR,
    RECURSION,
    UNALIGNED,
    UNDEFINED,
    WARNINGS,
    make_toy,
    toy_answers,
    toy_inputs,
    trouble,
)

BOARDS = board_names()
# Code of a smaller core, and of one that no emulator has, on the board nearest to it.
OTHERS = ["cortex-m0plus", "cortex-m0@mps2-an385", "cortex-m23", "cortex-m35p", "cortex-m85"]


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The toy's folder for each target; programs are built once in each."""
    root = tmp_path_factory.mktemp("toys")
    return {spec: make_toy(root / spec, resolve(spec)) for spec in (*BOARDS, *OTHERS)}


def assert_answers(result: FolderResult, samples: int) -> None:
    answers = toy_answers(toy_inputs(samples))
    assert len(result.outputs) == len(answers)
    for got, expected in zip(result.outputs, answers, strict=True):
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == expected.dtype


def test_all_six_boards_are_there() -> None:
    assert BOARDS == ["microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"]


@pytest.mark.parametrize("spec", [*BOARDS, *OTHERS])
def test_gcc_answers_right_and_counts_the_same_each_time(toys: dict[str, Path], spec: str) -> None:
    first = run_folder(toys[spec], toy_inputs(3), "qemu", toolchain="gcc")
    second = run_folder(toys[spec], toy_inputs(3), "qemu", toolchain="gcc")
    assert_answers(first, 3)
    assert len(first.instructions) == 3
    assert min(first.instructions) > 20
    assert first.instructions == second.instructions
    assert 0 < first.stack_bytes == second.stack_bytes < 200


@pytest.mark.parametrize("toolchain", ["clang", "zig"])
@pytest.mark.parametrize("spec", BOARDS)
def test_other_toolchains_answer_the_same(toys: dict[str, Path], spec: str, toolchain: str) -> None:
    assert_answers(run_folder(toys[spec], toy_inputs(2), "qemu", toolchain=toolchain), 2)


@pytest.mark.parametrize("toolchain", ["gcc", "clang", "zig"])
@pytest.mark.parametrize("spec", BOARDS)
def test_board_files_compile_without_a_warning(toys: dict[str, Path], spec: str, toolchain: str) -> None:
    for harness in (True, False):
        build_firmware(toys[spec], resolve(spec), toolchain=toolchain, harness=harness, flags=WARNINGS)


@pytest.mark.parametrize("spec", BOARDS)
def test_two_instructions_more_count_two_more(toys: dict[str, Path], spec: str) -> None:
    x, gain = toy_inputs(100)
    x[:, 0, 1] = np.arange(1, 101)
    counts = run_folder(toys[spec], [x, gain], "qemu", toolchain="gcc").instructions
    x[:, 0, 1] = 1
    same = run_folder(toys[spec], [x, gain], "qemu", toolchain="gcc").instructions
    assert np.array_equal(np.array(counts) - same, 2 * np.arange(100))


def test_a_count_beyond_the_counter_is_refused(toys: dict[str, Path]) -> None:
    target = resolve("mps2-an385")
    x, gain = toy_inputs(1)
    x[0, 0, 1] = 100
    # 2^32 ticks are 2.68 G instructions of 1.6 ticks.
    elf = build_firmware(toys["mps2-an385"], target, toolchain="gcc", flags=["-DTOY_SPIN=13600000"]).elf
    with pytest.raises(RushlightError, match=r"more than 2\.7 G instructions"):
        run_qemu(elf, target, [x.tobytes() + gain.tobytes()], 9, timeout_s=300)


@pytest.mark.parametrize("spec", BOARDS)
def test_stack_reserve_is_what_the_board_says(toys: dict[str, Path], spec: str) -> None:
    size = resolve(spec).board.stack
    with pytest.raises(RushlightError, match=f"{spec}: stack overflow: {size} bytes"):
        run_folder(toys[spec], trouble(RECURSION), "qemu", toolchain="gcc")


@pytest.mark.parametrize("spec", [*BOARDS, *OTHERS])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (UNDEFINED, r"HardFault, pc=0x[0-9a-f]{8} .*in toy_undefined\(\)"),
        (UNALIGNED, r"HardFault, pc=0x[0-9a-f]{8} .*in toy_unaligned\(\)"),
        (RECURSION, r"stack overflow: \d+ bytes are too few; raise __stack_size"),
        (BIG_FRAME, r"stack overflow: \d+ bytes are too few; raise __stack_size"),
        (ERROR, r"the model returned error code -3"),
        (ENDLESS, r"did not end within 1 s and was stopped"),
    ],
)
def test_trouble_ends_with_one_line(toys: dict[str, Path], spec: str, kind: int, message: str) -> None:
    with pytest.raises(RushlightError, match=message) as caught:
        run_folder(toys[spec], trouble(kind), "qemu", toolchain="gcc", timeout_s=1 if kind == ENDLESS else 60)
    assert str(caught.value).startswith(resolve(spec).board.name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["cortex-m0@mps2-an385", "cortex-m23"])
def test_code_for_a_core_without_unaligned_loads_faults_on_a_core_with_them(
    toys: dict[str, Path], spec: str, tmp_path: Path
) -> None:
    folder = make_toy(tmp_path / "toy", resolve(spec))
    source = folder / "model" / "toy.c"
    source.write_text(source.read_text().replace("ldmia r2!, {r0, r1}", "ldr r0, [r2]"))
    with pytest.raises(RushlightError, match=r"HardFault, .*in toy_unaligned\(\)"):
        run_folder(folder, trouble(UNALIGNED), "qemu", toolchain="gcc")


@pytest.mark.parametrize(
    ("spec", "address", "message"),
    [
        ("microbit", 0x20010000, "HardFault"),
        ("mps2-an385", 0x00900000, "the program touches memory that the board does not have"),
        ("mps2-an386", 0x20900000, "the program touches memory that the board does not have"),
        ("mps2-an500", 0x20900000, "the program touches memory that the board does not have"),
        ("mps2-an505", 0x39000000, "HardFault"),
        ("mps3-an547", 0x31800000, "HardFault"),
    ],
)
def test_memory_that_the_board_does_not_have_is_noticed(tmp_path: Path, spec: str, address: int, message: str) -> None:
    folder = make_toy(tmp_path / "toy", resolve(spec))
    source = folder / "model" / "toy.c"
    frame = "volatile int8_t frame[20000];"
    assert frame in source.read_text()
    source.write_text(source.read_text().replace(frame, f"volatile int8_t *frame = (volatile int8_t *){address:#x};"))
    with pytest.raises(RushlightError, match=f"{spec}: {message}"):
        run_folder(folder, trouble(BIG_FRAME), "qemu", toolchain="gcc")


def test_a_fault_in_the_fault_handler_is_a_lockup(tmp_path: Path) -> None:
    folder = make_toy(tmp_path / "toy", resolve("mps2-an386"))
    source = folder / "board" / "fault.c"
    source.write_text(source.read_text().replace("static char line[96];", 'static char line[96];\n__asm__("udf #0");'))
    with pytest.raises(RushlightError, match="mps2-an386: the core locked up: a fault within the fault handler"):
        run_folder(folder, trouble(UNDEFINED), "qemu", toolchain="gcc")


@pytest.mark.parametrize("toolchain", ["gcc", "clang", "zig"])
@pytest.mark.parametrize(("spec", "region"), [("microbit", "ram"), ("mps2-an386", "ram"), ("mps3-an547", "sram")])
def test_an_arena_too_big_is_refused_with_region_and_bytes(
    toys: dict[str, Path], spec: str, region: str, toolchain: str
) -> None:
    target = resolve(spec)
    fits = build_firmware(toys[spec], target, toolchain=toolchain, flags=["-DTOY_ARENA=64"])
    stack = target.board.stack if target.board.fast == target.board.ram else 0
    # As much as fits, to the 16 bytes of its alignment; then 4096 more.
    room = (target.board.ram.size - stack - fits.sections.ram) // 16 * 16 + 64
    build_firmware(toys[spec], target, toolchain=toolchain, flags=[f"-DTOY_ARENA={room}"])
    with pytest.raises(RushlightError, match=rf"{spec}: it exceeds region '{region}' by \d+ bytes") as caught:
        build_firmware(toys[spec], target, toolchain=toolchain, flags=[f"-DTOY_ARENA={room + 4096}"])
    excess = int(str(caught.value).split(" by ")[1].split()[0])
    assert 4096 - 16 < excess <= 4096


def test_example_main_runs_without_the_harness(toys: dict[str, Path]) -> None:
    target = resolve("microbit")
    elf = build_firmware(toys["microbit"], target, toolchain="gcc", harness=False).elf
    with pytest.raises(RushlightError, match="exit code 42"):
        run_qemu(elf, target, [], 0, timeout_s=20)


def test_host_gives_the_same_answers_also_under_sanitizers(toys: dict[str, Path]) -> None:
    inputs = toy_inputs(4)
    assert_answers(run_folder(toys["microbit"], inputs, "host"), 4)
    program = build_host(toys["microbit"], sanitize=True, flags=WARNINGS)
    samples = [x.tobytes() + gain.tobytes() for x, gain in zip(*inputs, strict=True)]
    result = run_host(program, samples, 9)
    expected = [y.tobytes() + half.tobytes() for y, half in zip(*toy_answers(inputs), strict=True)]
    assert result.outputs == expected
    assert result.instructions == []


def test_error_code_on_the_host_is_one_line(toys: dict[str, Path]) -> None:
    with pytest.raises(RushlightError, match="the model returned error code -3"):
        run_folder(toys["microbit"], trouble(ERROR), "host")


def test_an_endless_loop_on_the_host_is_stopped(toys: dict[str, Path]) -> None:
    with pytest.raises(RushlightError, match="the host program did not end within 1 s and was stopped"):
        run_folder(toys["microbit"], trouble(ENDLESS), "host", timeout_s=1)


def test_a_write_out_of_bounds_under_the_sanitizer_is_one_line(toys: dict[str, Path]) -> None:
    program = build_host(toys["microbit"], sanitize=True)
    sample = b"".join(array.tobytes() for array in trouble(BIG_FRAME))
    with pytest.raises(RushlightError, match=r"the host program failed: .*(AddressSanitizer|runtime error)") as caught:
        run_host(program, [sample], 9)
    assert "\n" not in str(caught.value)


def test_a_second_build_of_the_same_files_is_not_made(toys: dict[str, Path]) -> None:
    target = resolve("mps2-an385")
    first = build_firmware(toys["mps2-an385"], target, toolchain="gcc").elf
    made = first.stat().st_mtime_ns
    assert build_firmware(toys["mps2-an385"], target, toolchain="gcc").elf == first
    assert first.stat().st_mtime_ns == made
    assert build_firmware(toys["mps2-an385"], target, toolchain="gcc", opt="-O3").elf != first


def test_missing_emulator_names_its_package(
    toys: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target: Target = resolve("microbit")
    elf = build_firmware(toys["microbit"], target, toolchain="gcc").elf
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RushlightError, match="qemu-system-arm is not installed: apt install qemu-system-arm"):
        run_qemu(elf, target, [], 9)


def test_truncated_input_is_one_line(toys: dict[str, Path]) -> None:
    target = resolve("microbit")
    elf = build_firmware(toys["microbit"], target, toolchain="gcc").elf
    with pytest.raises(RushlightError, match=r"in.bin ends within a sample"):
        run_qemu(elf, target, [b"1234567"], 9)


def test_builds_stay_within_the_build_folder(tmp_path: Path) -> None:
    folder = make_toy(tmp_path / "toy", resolve("microbit"))
    before = {path for path in folder.rglob("*")}
    run_folder(folder, toy_inputs(1), "qemu", toolchain="gcc")
    assert {path for path in folder.rglob("*") if "build" not in path.parts} == before
    shutil.rmtree(folder / "build")
    assert {path for path in folder.rglob("*")} == before


def test_every_target_of_the_table_is_tried_here() -> None:
    boards = {target.board.name for target in all_targets()}
    assert boards == set(BOARDS)
    cores = {target.core.name for target in map(resolve, (*BOARDS, *OTHERS))}
    assert cores == {target.core.name for target in all_targets()}
