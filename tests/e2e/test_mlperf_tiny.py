"""The four nets of MLPerf Tiny on six boards: reference, host and emulator answer with the same bits to real inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import rushlight as rl
from rushlight.errors import RushlightError
from rushlight.run.samples import Array
from tests.e2e.mlperf_tiny import NETS, case, quantized
from tests.e2e.tables import record_row

#: Core → the board it is emulated on; the nets outgrow the microbit and run as Armv6-M code on mps2-an385's memory.
BOARDS = {
    "cortex-m0": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}
SAMPLES = 3


def samples(name: str) -> Array:
    """Inputs that were not calibrated with, spread over the classes."""
    c = case(name)
    judged = c.x[c.half(1)]
    found: Array = judged[np.linspace(0, len(judged) - 1, SAMPLES).astype(int)]
    return found


@cache
def expected(name: str) -> Array:
    """The reference's answers: they depend on no target."""
    answers = rl.compile(quantized(name), target="cortex-m3").reference(samples(name))
    assert isinstance(answers, np.ndarray)
    return answers


@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("name", NETS)
def test_reference_host_and_board_answer_the_same(
    name: str, core: str, record_property: Callable[[str, object], None]
) -> None:
    x = samples(name)
    compiled = rl.compile(quantized(name), target=core)
    assert compiled.target.board.name == BOARDS[core]
    on_host = compiled.run(x, on="host")
    on_board = compiled.run(x, on="qemu")
    assert isinstance(on_host, np.ndarray) and isinstance(on_board, np.ndarray)
    np.testing.assert_array_equal(on_host, expected(name))
    np.testing.assert_array_equal(on_board, expected(name))
    compared = on_board.size
    assert compared == SAMPLES * on_board[0].size > 0
    assert len({y.tobytes() for y in on_board}) == SAMPLES  # answers to different inputs differ
    assert len(compiled.instructions) == SAMPLES and min(compiled.instructions) > 10_000
    inputs = "trained weights, real inputs" if case(name).trained else "seeded weights, random inputs"
    record_row(
        record_property,
        "MLPerf Tiny on six boards: reference, host and emulator equal",
        {
            "net": name,
            "core": core,
            "board": compiled.target.board.name,
            "values compared": f"{compared:,}",
            "instructions": f"{max(compiled.instructions):,}",
            "stack": f"{compiled.stack_bytes:,}",
            "inputs": inputs,
        },
    )


@pytest.mark.parametrize("name", NETS)
def test_a_net_that_outgrows_the_microbit_is_refused_there_and_the_report_says_where_its_code_ran(name: str) -> None:
    with pytest.raises(RushlightError, match=r"does not fit board microbit: .*'(ram|rom|flash)'") as caught:
        rl.compile(quantized(name), target="microbit")
    assert "\n" not in str(caught.value)
    report = str(rl.compile(quantized(name), target="cortex-m0").report())
    assert "mps2-an385" in report and "cortex-m0" in report
