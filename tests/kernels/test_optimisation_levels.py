"""Every kernel file builds for its tier at every optimisation level: assembly must not run out of registers."""

from __future__ import annotations

import subprocess

import pytest

from tests.kernels.harness import KERNELS

CPUS = {
    "v6m": ["-mcpu=cortex-m0plus"],
    "v7m": ["-mcpu=cortex-m3"],
    "dsp": ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    "mve": ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
}
FREESTANDING = KERNELS.parent / "boards" / "common" / "freestanding"


@pytest.mark.parametrize("tier", CPUS)
@pytest.mark.parametrize("level", ["-O0", "-O1", "-Og", "-Os", "-O2", "-O3"])
def test_builds_with_gcc(tier: str, level: str) -> None:
    files = sorted(str(f) for f in KERNELS.glob("*/*.c") if tier in f.stem)
    assert len(files) >= 8
    command = ["arm-none-eabi-gcc", *CPUS[tier], "-mthumb", "-std=c11", level, "-ffreestanding", "-Wall", "-Wextra"]
    command += ["-Werror", "-S", f"-I{KERNELS}", f"-I{FREESTANDING}"]
    for file in files:
        done = subprocess.run([*command, file, "-o", "/dev/null"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
