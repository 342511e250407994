"""How close an int8 program is to its float model: agreement, signal-to-noise ratio, accuracy with its confidence interval.

Each half of the data is judged by the program that was calibrated on the other half, so all of it counts and none of it twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, spearmanr

import rushlight as rl
from tests.e2e.mlperf_tiny import Case, Floats, case, quantized

#: Any core: the reference is the same for all. This one's kernels are the fastest on the desk.
TARGET = "cortex-m3"


@dataclass(frozen=True)
class Share:
    """``hits`` of ``total``, with the 95 % confidence interval by Wilson's score."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        return self.hits / self.total

    @property
    def interval(self) -> tuple[float, float]:
        found = binomtest(self.hits, self.total).proportion_ci(0.95, method="wilson")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.value:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


@dataclass(frozen=True)
class Fidelity:
    """Float and int8 outputs for the same samples, and their labels where there are some."""

    y_float: Floats
    y_int8: Floats
    labels: NDArray[Any] | None

    @property
    def snr_db(self) -> float:
        """Power of the float outputs over that of the difference, in dB."""
        return snr_db(self.y_float, self.y_int8)

    @property
    def agreement(self) -> Share:
        """How often both name the same class."""
        return _share(self.y_float.argmax(axis=1), self.y_int8.argmax(axis=1))

    @property
    def sure(self) -> Share:
        """The agreement on samples where the float model's best class is 0.5 ahead of the next."""
        best = np.sort(self.y_float, axis=1)
        at = best[:, -1] - best[:, -2] >= 0.5
        return _share(self.y_float[at].argmax(axis=1), self.y_int8[at].argmax(axis=1))

    def accuracy(self, y: Floats) -> Share | None:
        return None if self.labels is None else _share(y.argmax(axis=1), self.labels)


def snr_db(signal: Floats, other: Floats) -> float:
    """10·log10(Σ signal² / Σ (other - signal)²), infinite where both are equal."""
    noise = float(np.square(other.astype(np.float64) - signal).sum())
    return float("inf") if noise == 0 else 10 * np.log10(float(np.square(signal.astype(np.float64)).sum()) / noise)


def rank_correlation(x: Floats, fidelity: Fidelity) -> float:
    """Of an autoencoder's anomaly scores (mean squared error of the reconstruction), float against int8: what a threshold
    on the score decides depends on their order alone."""
    float_scores, int8_scores = (np.square(y - x).mean(axis=1) for y in (fidelity.y_float, fidelity.y_int8))
    return float(spearmanr(float_scores, int8_scores).statistic)


def _share(a: NDArray[Any], b: NDArray[Any]) -> Share:
    return Share(int((a == b).sum()), len(a))


@cache
def judge(name: str) -> tuple[Case, Fidelity]:
    """Both halves judged, in the samples' own order."""
    c = case(name)
    y_int8 = np.zeros(0, np.float32)
    for calibrated, judged in ((0, 1), (1, 0)):
        at = c.half(judged)
        found = rl.compile(quantized(name, calibrated), target=TARGET).run(c.x[at], on="host")
        assert isinstance(found, np.ndarray) and len(found) == len(at)
        if y_int8.size == 0:
            y_int8 = np.full((len(c.x), *found.shape[1:]), np.nan, np.float32)
        y_int8[at] = found
    assert np.isfinite(y_int8).all()
    return c, Fidelity(c.float_outputs(c.x), y_int8, c.labels)
