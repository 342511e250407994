"""simd_mve.h: the plain-C body of each helper gives what the Helium instruction gives."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from rushlight.firmware import build_firmware, build_host, copy_board
from rushlight.run.host import run_host
from rushlight.run.qemu import run_qemu
from rushlight.target import resolve
from tests.kernels.harness import KERNELS

HERE = Path(__file__).parent
IN, OUT = 80, 2048
RUNNER = """#include "mve_twins.h"
#define RL_RUNNER_INPUT_COUNT 1
#define RL_RUNNER_OUTPUT_COUNT 1
#define RL_RUNNER_INPUT_BYTES {MVE_TWINS_IN}
#define RL_RUNNER_OUTPUT_BYTES {MVE_TWINS_OUT}
#define RL_RUNNER_INPUT_TOTAL MVE_TWINS_IN
#define RL_RUNNER_OUTPUT_TOTAL MVE_TWINS_OUT
static inline int rl_runner_invoke(void *const *inputs, void *const *outputs) {
    return mve_twins_run(inputs[0], outputs[0]);
}
"""


def samples(rng: np.random.Generator, count: int) -> list[bytes]:
    """Random vectors, one in three of extremes, small shifts among them; then a scalar and a count of lanes 0..20."""
    made = []
    for i in range(count):
        data = rng.integers(-128, 128, IN).astype(np.int8)
        if i % 3 == 1:
            data[:64] = rng.choice(np.array([-128, -1, 0, 127], np.int8), 64)
        if i % 3 == 2:
            data[:64].view("<i4")[:] = rng.choice(np.array([-(2**31), 2**31 - 1, -1, 1, 0], np.int32), 16)
        if i % 2:  # shifts by a vector and by a scalar
            data[16:32].view("<i4")[:] = rng.integers(-40, 40, 4)
            data[64:68].view("<i4")[:] = rng.integers(-40, 40)
        data[68] = rng.integers(0, 21)
        made.append(data.tobytes())
    return made


@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_twins_equal_the_instructions(toolchain: str, tmp_path: Path) -> None:
    target = resolve("cortex-m55")
    folder = tmp_path / "twins"
    (folder / "model").mkdir(parents=True)
    for name in ("mve_twins.c", "mve_twins.h"):
        shutil.copyfile(HERE / name, folder / "model" / name)
    (folder / "model" / "runner_model.h").write_text(RUNNER)
    shutil.copytree(KERNELS / "common", folder / "kernels" / "common")
    copy_board(target, folder / "board")
    given = samples(np.random.default_rng(1), 300)
    board = run_qemu(build_firmware(folder, target, toolchain=toolchain).elf, target, given, OUT)
    host = run_host(build_host(folder, sanitize=True), given, OUT)
    for number, (theirs, ours) in enumerate(zip(board.outputs, host.outputs, strict=True)):
        differ = np.flatnonzero(np.frombuffer(theirs, np.int8) != np.frombuffer(ours, np.int8))
        assert differ.size == 0, f"sample {number}, from byte {differ[0]} on"
    assert len(board.outputs) == 300


def test_every_helper_is_run() -> None:
    header = (KERNELS / "common" / "simd_mve.h").read_text()
    helpers = set(re.findall(r"RL_MVE(?:_VOID|_PART)?\((?:rl_\w+, |int\w+, )?(v\w+), ", header))
    used = set(re.findall(r"\brl_(v\w+)\(", (HERE / "mve_twins.c").read_text()))
    assert len(helpers) > 70
    assert helpers <= used, helpers - used
