"""Planes of a channel each, in which scalar and DSP depthwise kernels compute (``depthwise_conv2d/plane.h``): sizes and costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rushlight.ops.common.walks import axis

#: Bytes of scratch that planes may take before they are cut into bands of rows.
MOST = 4096
#: Bytes behind a plane that a tile may read.
SLACK = 8


@dataclass(frozen=True)
class Planes:
    """``pitch``: bytes a row; ``rows``: output rows that a plane holds the input of; ``count``: channels gathered at once."""

    pitch: int
    rows: int
    count: int
    scratch: int

    @property
    def params(self) -> dict[str, int]:
        return {"plane_pitch": self.pitch, "plane_rows": self.rows, "planes": self.count}


def planes(params: Mapping[str, Any], any_window: bool) -> Planes:
    """The layout for a layer.

    The kernels of any window have a table of 4 bytes a tap first, and sort columns by their remainder modulo the stride.
    """
    w = {key.removeprefix("window."): value for key, value in params.items()}
    pitch = (w["out_w"] - 1) * w["stride_w"] + (w["kernel_w"] - 1) * w["dilation_w"] + 1
    if any_window:
        pitch += -pitch % w["stride_w"]
    extent = (w["kernel_h"] - 1) * w["dilation_h"] + 1
    rows = max(1, min(w["out_h"], (MOST // pitch - extent) // w["stride_h"] + 1))
    size = ((rows - 1) * w["stride_h"] + extent) * pitch
    # Bands read rows twice, so four planes must fit whole.
    count = 4 if w["in_c"] >= 4 and rows == w["out_h"] and 4 * size <= MOST else 1
    return Planes(pitch, rows, count, count * size + SLACK + (4 * w["taps"] if any_window else 0))


def plane_features(params: Mapping[str, Any], any_window: bool) -> dict[str, float]:
    """How often the loops of a kernel on planes run, for ``Operator.features``."""
    w = {key.removeprefix("window."): int(value) for key, value in params.items()}
    extent = (w["kernel_h"] - 1) * w["dilation_h"] + 1
    columns = min(w["plane_pitch"] - w["pad_left"], w["in_w"])
    filled = bands = read = 0
    for row in range(0, w["out_h"], w["plane_rows"]):
        height = (min(w["plane_rows"], w["out_h"] - row) - 1) * w["stride_h"] + extent
        first = row * w["stride_h"] - w["pad_top"]
        bands += 1
        filled += height * w["plane_pitch"] * w["planes"]
        read += min(first + height, w["in_h"]) - max(first, 0)
    fours, left = divmod(w["out_w"], 4)
    quads, ones = divmod(w["in_c"], 4) if w["planes"] == 4 else (0, w["in_c"])
    lines = w["out_c"] * w["out_h"]
    taps = w["taps"] if any_window else 0
    features = {
        "bands": bands,
        "filled": filled,
        "gathers of 4": quads * bands,
        "rows of 4": quads * read,
        "bytes of 4": quads * read * columns,
        "gathers": ones * bands,
        "rows in": ones * read,
        "bytes": ones * read * columns,
        "channels": w["out_c"] * bands,
        "lines": lines,
        "fours": lines * fours,
        "twos": lines * (left // 2),
        "ones": lines * (left % 2),
        "four taps": lines * fours * taps,
        "two taps": lines * (left // 2) * taps,
        "one taps": lines * (left % 2) * taps,
        "clamps": lines * w["out_w"] * w["clamps"],
        "columns": (quads + ones) * bands * w["plane_pitch"],
        "phases": (quads + ones) * bands * w["stride_w"],
        "offsets": taps,
        "pitch": w["plane_pitch"],
    }
    return {name: float(value * w["batch"]) for name, value in features.items() if value}


def depthwise_runs(params: Mapping[str, Any]) -> dict[str, float]:
    """``rl_dw_runs`` for all rows: lists of pointers, runs and pixels, for ``Operator.features``."""
    down, across = axis(params, "h"), axis(params, "w")
    batch, width = int(params["window.batch"]), int(params["window.out_w"])
    lines, whole = int(params["window.out_h"]), int(down.whole.sum())
    inside = int(across.whole.sum())
    runs = lines * width - whole * max(0, inside - 1)
    taps_in = float(down.inside.sum() * across.inside.sum())
    one = {"lines": lines, "runs": runs, "pixels": lines * width, "taps in": taps_in}
    return {name: float(value * batch) for name, value in one.items()}
