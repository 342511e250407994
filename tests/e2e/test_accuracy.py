"""What int8 costs in accuracy: the four nets of MLPerf Tiny and one trained here, calibrated on one half of the data and
judged on the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.accuracy import Share, judge, rank_correlation, snr_db
from tests.e2e.mlperf_tiny import NETS
from tests.e2e.tables import record_row

#: Least SNR of the outputs in dB; a step of 1/256 of the range alone gives some 50.
SNR_FLOOR = {"IC": 20.0, "KWS": 20.0, "VWW": 20.0, "AD": 30.0, "digits": 30.0}
DATA = {
    "IC": "CIFAR-10 test images, recompressed",
    "KWS": "one-second clips",
    "VWW": "photos",
    "AD": "log-mel frames of clips",
    "digits": "digits of 8x8",
}


@pytest.mark.parametrize("name", NETS)
def test_int8_keeps_what_the_trained_model_says(
    name: str, shared_dir: Path, record_property: Callable[[str, object], None]
) -> None:
    judge_and_tell(name, record_property)


def test_int8_keeps_what_a_model_trained_here_says(record_property: Callable[[str, object], None]) -> None:
    judge_and_tell("digits", record_property)


def judge_and_tell(name: str, record_property: Callable[[str, object], None]) -> None:
    c, found = judge(name)
    agreement = str(found.agreement)
    if name != "AD":
        assert found.agreement.interval[1] >= 0.95
        assert found.agreement.value >= (0.95 if len(c.x) >= 100 else 0.9)
        # Where the float model is sure, int8 says the same.
        assert found.sure.total >= len(c.x) / 3
        assert found.sure.value >= 0.99
    else:
        correlation = rank_correlation(c.x, found)
        agreement = f"scores' rank correlation {correlation:.4f}"
        assert correlation > 0.99
    before, after = found.accuracy(found.y_float), found.accuracy(found.y_int8)
    if before is not None and after is not None:
        assert before.total == after.total == len(c.x) > 0
        assert after.value >= before.value - max(0.02, 1.5 / len(c.x))
    assert found.snr_db >= SNR_FLOOR[name]
    record_row(
        record_property,
        "Accuracy: int8 beside float, calibrated on one half of the data and judged on the other, both ways",
        {
            "net": name,
            "inputs": f"{len(c.x):,} {DATA[name]}",
            "float accuracy": "no labels" if before is None else str(before),
            "int8 accuracy": "no labels" if after is None else str(after),
            "agreement with float": agreement,
            "SNR": f"{found.snr_db:.1f} dB",
        },
    )


def test_confidence_interval_is_wilson_s() -> None:
    low, high = Share(751, 1000).interval
    assert (round(low, 4), round(high, 4)) == (0.7233, 0.7768)
    low, high = Share(6, 6).interval
    assert high == 1.0 and round(low, 3) == 0.610


def test_snr_is_in_decibels_of_power() -> None:
    x = np.linspace(-1, 1, 1001, dtype=np.float32)
    assert abs(snr_db(x, x * np.float32(1.01)) - 40) < 0.01
    assert snr_db(x, x) == float("inf")
