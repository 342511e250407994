"""A sample of the cases of operators without weights, on an emulated board of each tier, built by GCC and clang."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rushlight.graph import DType
from tests.kernels import (
    test_add,
    test_concat,
    test_copy,
    test_mul,
    test_pad,
    test_permute,
    test_quantize,
    test_softmax,
    test_table,
)
from tests.kernels.broadcasting import RELATIONS, random_shapes
from tests.kernels.emulator import CORES, check_on_board
from tests.kernels.harness import emulated

#: They have few loops; only a sweep runs them here.
EDGES = (test_quantize.quantize_case, test_quantize.dequantize_case)
#: Symbols of which each tier must run at least these.
EXPECTED = {
    "mve": {"rl_add_s8_mve", "rl_mul_s8_mve", "rl_table_s8_mve", "rl_softmax_s8_mve"},
    "dsp": {"rl_add_s8_dsp", "rl_mul_s8_dsp", "rl_table_s8_v6m", "rl_softmax_s8_dsp"},
    "v7m": {"rl_add_s8_v6m", "rl_mul_s8_v7m", "rl_softmax_s8_v7m"},
    "v6m": {"rl_add_s8_v6m", "rl_mul_s8_v6m", "rl_softmax_s8_v6m", "rl_permute_s8_v6m", "rl_pad_s8_v6m", "rl_copy_v6m"},
}


@pytest.mark.parametrize("tier", CORES)
@pytest.mark.parametrize("toolchain", ["gcc", "clang"])
def test_sample_in_the_emulator(tier: str, toolchain: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(51)
    shapes = [*RELATIONS, *(random_shapes(rng) for _ in range(emulated(6)))]
    cases = [make(rng, pair) for pair in shapes for make in (test_add.random_case, test_mul.random_case)]
    makers = (test_table.random_case, test_softmax.random_case, test_pad.random_case, test_copy.random_case)
    cases += [make(rng) for make in makers for _ in range(emulated(10))]
    cases += [test_concat.random_case(rng, count) for count in (2, 3, 5, 9, 32)]
    cases += [test_permute.case(rng, (2, 3, 5, 4), tuple(rng.permutation(4)), DType.INT8) for _ in range(8)]
    cases += [test_permute.random_case(rng) for _ in range(emulated(8) - 8)]
    cases += [test_concat.random_case(rng, int(rng.integers(2, 9))) for _ in range(emulated(5) - 5)]
    cases += [make(rng) for make in EDGES for _ in range(emulated(0))]
    _, symbols = check_on_board(cases, tier, tmp_path / "cases", toolchain)
    assert symbols >= EXPECTED[tier]
