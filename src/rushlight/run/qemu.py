"""Runs a program in QEMU."""

import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.firmware import function_at
from rushlight.run.result import RunResult, read_result, write_inputs
from rushlight.target import Board, Target

_PROGRAM = "qemu-system-arm"
# Exit codes of the harness (device/boards/common/port.h).
_EXIT_FAULT = 70
_EXIT_STACK_OVERFLOW = 71
# What QEMU says of an address where the board has nothing, though the access does not fault.
_NO_MEMORY = "unimplemented device"
# -icount shift=6: each instruction takes 2^6 ns of the emulated clock.
_SHIFT = 6


def run_qemu(
    elf: Path,
    target: Target,
    inputs: Sequence[bytes],
    output_bytes: int,
    *,
    timeout_s: float = 120.0,
    icount: bool = True,
    options: Sequence[str] = (),
) -> RunResult:
    """Runs the harness over the samples in the emulator.

    Args:
        elf: the program, built with the harness.
        target: the board it was built for.
        inputs: a blob a sample: its inputs one after another.
        output_bytes: size of one sample's outputs.
        timeout_s: host seconds for all samples.
        icount: count instructions, which takes about twice the time.
        options: more arguments for the emulator.

    Raises:
        RushlightError: no emulator, a fault, an error code of the model, or no end within ``timeout_s``.
    """
    board = target.board
    command = [emulator(board), "-M", board.machine, "-display", "none", "-monitor", "none", "-serial", "null"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(elf.resolve())]
    command += ["-d", "unimp"]  # says so where a program touches memory that the board does not have
    if icount:
        command += ["-icount", f"shift={_SHIFT}"]
    command += options
    with tempfile.TemporaryDirectory(prefix="rushlight-") as name:
        folder = Path(name)
        write_inputs(folder, inputs)
        code, lines = _watch(command, folder, timeout_s)
        if code is None:
            raise RushlightError(
                f"{board.name} in the emulator did not end within {timeout_s:g} s and was stopped: "
                f"it hangs, or its {len(inputs)} sample(s) need a longer timeout"
            )
        if code != 0:
            raise _failure(code, lines, elf, board.name)
        ticks = Fraction(board.timer_hz * 2**_SHIFT, 10**9) if icount else None
        return read_result(folder, len(inputs), output_bytes, ticks)


def emulator(board: Board) -> str:
    """The emulator's path.

    Raises:
        RushlightError: it is not installed, or does not have this board.
    """
    if not board.machine:
        raise RushlightError(f"board '{board.name}' has no emulator: its board.toml has no key 'machine'")
    program = shutil.which(_PROGRAM)
    if program is None:
        raise RushlightError(f"{_PROGRAM} is not installed: apt install qemu-system-arm")
    return program


def _watch(command: list[str], folder: Path, timeout_s: float) -> tuple[int | None, list[str]]:
    """Runs the emulator; gives its exit code, None if it was stopped for time, and its lines of text.

    On a line about memory that does not exist it is stopped at once, for there may be millions of them.
    """
    lines: list[str] = []
    late = threading.Event()
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout_s, stop)
        timer.start()
        try:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line.decode(errors="replace").strip())
                if _NO_MEMORY in lines[-1]:
                    process.kill()
                    break
            process.wait()
        finally:
            timer.cancel()
            process.kill()
    return None if late.is_set() else process.returncode, [line for line in lines if line]


def _failure(code: int, lines: list[str], elf: Path, board: str) -> RushlightError:
    """What went wrong, in the words of the harness's last line."""
    said = next((line.removeprefix("rushlight: ") for line in reversed(lines) if line.startswith("rushlight:")), "")
    if code == _EXIT_FAULT:
        function = function_at(elf, _hex(said, "pc"))
        return RushlightError(f"{board}: {said}{f', in {function}()' if function else ''}; program: {elf}")
    if code == _EXIT_STACK_OVERFLOW:
        size = _hex(said, "size")
        return RushlightError(f"{board}: stack overflow: {size} bytes are too few; raise __stack_size in board/link.ld")
    if lines and _NO_MEMORY in lines[-1]:
        return RushlightError(f"{board}: the program touches memory that the board does not have: {lines[-1]}")
    if any("Lockup" in line for line in lines):
        return RushlightError(f"{board}: the core locked up: a fault within the fault handler; program: {elf}")
    return RushlightError(f"{board}: {said or (lines[-1] if lines else 'no message')} (exit code {code})")


def _hex(text: str, key: str) -> int:
    """The number after ``key=0x``, or 0."""
    match = re.search(rf"\b{key}=0x([0-9a-f]+)", text)
    return int(match[1], 16) if match else 0
