"""Toolchains and builds: what is found, what is said when something is missing or wrong."""

import subprocess
from pathlib import Path

import pytest

from rushlight.errors import RushlightError
from rushlight.firmware import available, build_firmware, build_host, copy_board, function_at, pick
from rushlight.target import BOARDS_DIR, cores, resolve
from tests.e2e.toy_folder import WARNINGS, make_toy


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return make_toy(tmp_path / "toy", resolve("mps2-an386"))


@pytest.fixture
def empty_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def without_zig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)


def test_all_three_toolchains_are_found_and_described() -> None:
    found = {toolchain.name: toolchain for toolchain in available()}
    assert list(found) == ["gcc", "clang", "zig"]
    assert "arm-none-eabi-gcc" in found["gcc"].version
    assert "clang version" in found["clang"].version
    assert found["zig"].version.startswith("zig 0.")
    assert pick() == found["gcc"]
    assert pick("zig") == found["zig"]


@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_every_core_has_flags_that_the_compiler_knows(name: str, tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    toolchain = pick(name)
    for core in cores().values():
        command = [*toolchain.command, *toolchain.core_flags(core), "-c", str(source), "-o", str(tmp_path / "empty.o")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stderr) == (0, ""), core.name


@pytest.mark.parametrize("name", ["gcc", "clang", "zig"])
def test_compilers_agree_with_the_cores_features(name: str, tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text("")
    toolchain = pick(name)
    for core in cores().values():
        command = [*toolchain.command, *toolchain.core_flags(core), "-E", "-dM", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        assert ("__ARM_FEATURE_UNALIGNED 1" in done.stdout) == core.unaligned, core.name
        assert ("__ARM_FEATURE_DSP 1" in done.stdout) == core.dsp, core.name
        assert ("__ARM_FEATURE_MVE 3" in done.stdout) == core.mve, core.name
        assert ("__ARM_FP " in done.stdout) == (core.fpu != ""), core.name


@pytest.mark.usefixtures("empty_path")
def test_without_any_compiler_the_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick().name == "zig"  # it comes by pip, not by PATH
    without_zig(monkeypatch)
    with pytest.raises(RushlightError, match=r"no C compiler .*apt install gcc-arm-none-eabi; or pip install ziglang"):
        pick()
    assert available() == []


@pytest.mark.usefixtures("empty_path")
@pytest.mark.parametrize(
    ("name", "package"),
    [("gcc", "apt install gcc-arm-none-eabi"), ("clang", "apt install clang-19"), ("zig", "pip install ziglang")],
)
def test_a_missing_toolchain_names_its_package(monkeypatch: pytest.MonkeyPatch, name: str, package: str) -> None:
    without_zig(monkeypatch)
    with pytest.raises(RushlightError, match=f"toolchain '{name}' is not installed: {package}"):
        pick(name)


@pytest.mark.usefixtures("empty_path")
def test_a_missing_host_compiler_names_its_package(toy: Path) -> None:
    with pytest.raises(RushlightError, match="C compiler 'cc' is not installed: apt install gcc"):
        build_host(toy)


def test_clang_without_gccs_library_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy: Path) -> None:
    clang = pick("clang")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "clang-19").symlink_to(clang.command[0])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(RushlightError, match="clang links the libgcc of arm-none-eabi-gcc, which is not installed"):
        build_firmware(toy, resolve("mps2-an386"), toolchain="clang")


def test_unknown_toolchain_lists_the_known() -> None:
    with pytest.raises(RushlightError, match="unknown toolchain 'tcc': it is one of gcc, clang, zig"):
        pick("tcc")


@pytest.mark.parametrize("toolchain", ["gcc", "clang", "zig"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("int broken(void) { return nothing; }\nint more = other;\n", r"bad.c:1:.*error: .*'nothing'"),
        ("int missing(void);\nint toy_extra(void);\nint toy_extra(void) { return missing(); }\n", r"missing"),
    ],
)
def test_compiler_and_linker_errors_are_one_line(toy: Path, toolchain: str, code: str, message: str) -> None:
    (toy / "model" / "bad.c").write_text(code)
    toy_c = toy / "model" / "toy.c"
    if "toy_extra" in code:
        use = "int toy_extra(void);\nint toy_run(const int8_t *x, int8_t *y) {\n    if (toy_extra()) return 9;"
        toy_c.write_text(toy_c.read_text().replace("int toy_run(const int8_t *x, int8_t *y) {", use))
    with pytest.raises(RushlightError, match=message) as caught:
        build_firmware(toy, resolve("mps2-an386"), toolchain=toolchain)
    assert str(caught.value).startswith(f"building mps2-an386-cortex-m4-{toolchain} failed: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert not any((toy / "build").iterdir())


def test_host_build_errors_are_one_line(toy: Path) -> None:
    (toy / "model" / "bad.c").write_text("int broken(void) { return nothing; }\n")
    with pytest.raises(RushlightError, match=r"building host failed: .*bad.c:1:.*error: 'nothing'"):
        build_host(toy)


def test_constants_too_big_are_refused_with_region_and_bytes(tmp_path: Path) -> None:
    target = resolve("microbit")
    toy = make_toy(tmp_path / "toy", target)
    toy_c = toy / "model" / "toy.c"
    use = "static const int8_t big[300000] = {1, 2};\nint toy_run(const int8_t *x, int8_t *y) {\n    y[1] = big[x[2] * 1000];"
    toy_c.write_text(toy_c.read_text().replace("int toy_run(const int8_t *x, int8_t *y) {", use))
    with pytest.raises(RushlightError, match=r"does not fit board microbit: it exceeds region 'flash' by \d{5} bytes"):
        build_firmware(toy, target, toolchain="gcc")


@pytest.mark.parametrize("missing", ["model", "board", "board/runner.c", "board/host/port.c", "board/board.toml"])
def test_a_folder_without_its_files_is_refused(toy: Path, missing: str) -> None:
    path = toy / missing
    path.rename(toy / "elsewhere")
    with pytest.raises(RushlightError, match=r"is not a (whole )?compiled folder: .*"):
        build_host(toy) if "host" in missing else build_firmware(toy, resolve("mps2-an386"), toolchain="gcc")


def test_a_folder_for_another_board_is_refused(toy: Path) -> None:
    with pytest.raises(RushlightError, match="was compiled for another board than microbit"):
        build_firmware(toy, resolve("microbit"), toolchain="gcc")


def test_a_board_without_its_link_script_is_refused(tmp_path: Path) -> None:
    board = tmp_path / "mine"
    board.mkdir()
    (board / "board.toml").write_text((BOARDS_DIR / "microbit" / "board.toml").read_text())
    (board / "board.h").write_text((BOARDS_DIR / "microbit" / "board.h").read_text())
    with pytest.raises(RushlightError, match=r"board 'mine': .*link.ld is missing"):
        copy_board(resolve(board / "board.toml"), tmp_path / "out")


def test_addresses_resolve_to_functions(toy: Path) -> None:
    elf = build_firmware(toy, resolve("mps2-an386"), toolchain="gcc", flags=WARNINGS).elf
    assert function_at(elf, 0xDEADBEEE) == ""
    names = {function_at(elf, address) for address in range(0, 4096, 2)}
    assert {"main", "toy_run", "Reset_Handler", "rl_fault"} <= names


def test_mem_functions_do_what_the_c_library_does(tmp_path: Path) -> None:
    names = ("memcpy", "memmove", "memset", "memcmp")
    driver = tmp_path / "driver.c"
    driver.write_text((Path(__file__).parent / "mem_driver.c").read_text())
    program = tmp_path / "driver"
    mem = tmp_path / "mem.o"
    rename = [f"-D{name}=rl_{name}" for name in names]
    flags = ["-std=c11", "-O2", "-fno-builtin", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *WARNINGS]
    subprocess.run(["cc", *flags, *rename, "-c", str(BOARDS_DIR / "common/mem.c"), "-o", str(mem)], check=True)
    subprocess.run(["cc", *flags, str(driver), str(mem), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "compared 7056\n"), done.stderr
