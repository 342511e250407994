"""Observers that say what is wrong, with a name, where torchao's would quietly make up a scale."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver

from rushlight.errors import RushlightError

#: Scale of a tensor that was zero throughout: any will do, and a moderate one keeps multipliers in range.
DEAD_SCALE = 2.0**-7
#: A channel's scale is at least this share of the largest one's: dead channels would else have scales near 0 and a bias
#: that does not fit 32 bits. What it costs is far below one step of the output.
SMALLEST_SHARE = 2.0**-12


class ActivationObserver(MinMaxObserver):  # type: ignore[misc]
    """Min/max of a whole tensor over the calibration; ``where`` names the tensor for messages."""

    where: str = "a tensor"

    def problem(self) -> str | None:
        """What keeps this tensor from having a scale, or None."""
        low, high = float(self.min_val), float(self.max_val)
        if low == float("inf") and high == float("-inf"):
            return (
                f"{self.where}: calibration never reached it, so it has no range; "
                "run calibration data through the prepared model, and let it take every branch"
            )
        if low != low or high != high:
            return (
                f"{self.where}: became NaN during calibration; look for a division by zero, a log or sqrt of negatives"
            )
        if low == float("-inf") or high == float("inf"):
            return f"{self.where}: became infinite during calibration; for masks use a finite number such as -100"
        return None

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale float32[1], zero point int32[1]; raises RushlightError where there is no range."""
        if (problem := self.problem()) is not None:
            raise RushlightError(problem)
        scale, zero_point = super().calculate_qparams()
        if not (self.min_val.any() or self.max_val.any()):
            scale, zero_point = torch.full_like(scale, DEAD_SCALE), torch.zeros_like(zero_point)
        return scale, zero_point


class WeightObserver(PerChannelMinMaxObserver):  # type: ignore[misc]
    """Symmetric scale for each channel of a weight."""

    where: str = "a weight"

    def problem(self) -> str | None:
        """What keeps these weights from having scales, or None."""
        if self.min_val.numel() == 0:
            return (
                f"{self.where}: calibration never reached it, so it has no range; "
                "run calibration data through the prepared model"
            )
        if not (torch.isfinite(self.min_val).all() and torch.isfinite(self.max_val).all()):
            return f"{self.where}: holds NaN or infinity; train again or load other weights"
        return None

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scales float32[channels], zero points of 0; raises RushlightError where there is no range."""
        if (problem := self.problem()) is not None:
            raise RushlightError(problem)
        scale, zero_point = super().calculate_qparams()
        largest = torch.maximum(self.min_val.abs(), self.max_val.abs()).max() / self.quant_max
        floor = largest * SMALLEST_SHARE if largest > 0 else torch.tensor(DEAD_SCALE)
        return torch.maximum(scale, floor), zero_point


def bias_qparams(observers: list[Any]) -> tuple[Tensor, Tensor]:
    """Scales of an int32 bias: the activation's times the weight's; no zero point."""
    activation, weight = (observer.calculate_qparams()[0] for observer in observers)
    scale = (activation * weight).to(torch.float32)
    return scale, torch.zeros_like(scale, dtype=torch.int32)
