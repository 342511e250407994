"""Runs the harness on this PC."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rushlight.errors import RushlightError
from rushlight.run.result import RunResult, read_result, write_inputs


def run_host(program: Path, inputs: Sequence[bytes], output_bytes: int, *, timeout_s: float = 120.0) -> RunResult:
    """Runs a program of ``build_host`` over the samples; instructions and stack are not measured.

    Args:
        program: built by ``build_host``.
        inputs: a blob a sample: its inputs one after another.
        output_bytes: size of one sample's outputs.
        timeout_s: seconds for all samples.

    Raises:
        RushlightError: the program failed, or did not end within ``timeout_s``.
    """
    with tempfile.TemporaryDirectory(prefix="rushlight-") as name:
        folder = Path(name)
        write_inputs(folder, inputs)
        try:
            done = subprocess.run(
                [str(program.resolve())],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RushlightError(
                f"the host program did not end within {timeout_s:g} s and was stopped: "
                f"it hangs, or its {len(inputs)} sample(s) need a longer timeout"
            ) from None
        if done.returncode != 0:
            raise RushlightError(f"the host program failed: {_message(done.stderr)} (exit code {done.returncode})")
        return read_result(folder, len(inputs), output_bytes, None)


def _message(stderr: bytes) -> str:
    """The line that says most: the harness's, else a sanitizer's, else the first."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    for mark in ("rushlight:", "ERROR: AddressSanitizer", "runtime error:"):
        for line in lines:
            if mark in line:
                return line.removeprefix("rushlight: ")
    return lines[0] if lines else "no message"
