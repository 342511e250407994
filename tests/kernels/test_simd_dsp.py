"""simd_dsp.h: the plain-C body of each helper gives what the DSP instruction gives."""

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
OUT = 100
RUNNER = """#include "dsp_twins.h"
#define RL_RUNNER_INPUT_COUNT 1
#define RL_RUNNER_OUTPUT_COUNT 1
#define RL_RUNNER_INPUT_BYTES {DSP_TWINS_IN}
#define RL_RUNNER_OUTPUT_BYTES {DSP_TWINS_OUT}
#define RL_RUNNER_INPUT_TOTAL DSP_TWINS_IN
#define RL_RUNNER_OUTPUT_TOTAL DSP_TWINS_OUT
static inline int rl_runner_invoke(void *const *inputs, void *const *outputs) {
    return dsp_twins_run(inputs[0], outputs[0]);
}
"""


def samples(rng: np.random.Generator, count: int) -> list[bytes]:
    """Three words: random ones, bytes of extremes, and small sums."""
    made = []
    for i in range(count):
        words = rng.integers(-(2**31), 2**31, 3).astype(np.int32)
        if i % 3 == 1:
            words = rng.choice(np.array([-128, -127, -1, 0, 1, 127], np.int8), 12).view("<i4")
        if i % 3 == 2:
            words[2] = rng.integers(-300, 300)
        made.append(words.tobytes())
    return made


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m33", "cortex-m55"])
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_twins_equal_the_instructions(core: str, toolchain: str, tmp_path: Path) -> None:
    target = resolve(core)
    folder = tmp_path / "twins"
    (folder / "model").mkdir(parents=True)
    for name in ("dsp_twins.c", "dsp_twins.h"):
        shutil.copyfile(HERE / name, folder / "model" / name)
    (folder / "model" / "runner_model.h").write_text(RUNNER)
    shutil.copytree(KERNELS / "common", folder / "kernels" / "common", ignore=shutil.ignore_patterns("*.c"))
    copy_board(target, folder / "board")
    given = samples(np.random.default_rng(1), 600)
    board = run_qemu(build_firmware(folder, target, toolchain=toolchain).elf, target, given, OUT)
    host = run_host(build_host(folder, sanitize=True), given, OUT)
    assert len(board.outputs) == len(host.outputs) == 600
    for number, (theirs, ours) in enumerate(zip(board.outputs, host.outputs, strict=True)):
        differ = np.flatnonzero(np.frombuffer(theirs, "<i4") != np.frombuffer(ours, "<i4"))
        assert differ.size == 0, f"sample {number}, result {differ[0]}"


def test_every_helper_is_run() -> None:
    header = (KERNELS / "common" / "simd_dsp.h").read_text() + (KERNELS / "common" / "word.h").read_text()
    instructions = header.split("#else")[0] + header.split("#endif", 1)[1]
    helpers = set(re.findall(r"^static inline \w+ (rl_\w+)\(", instructions, re.MULTILINE))
    used = set(re.findall(r"\b(rl_\w+)\(", (HERE / "dsp_twins.c").read_text()))
    assert len(helpers) > 20
    assert helpers <= used, helpers - used
