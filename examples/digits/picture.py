"""One picture: a dozen digits with the chips' answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, SubplotSpec
from numpy.typing import NDArray

RIGHT, WRONG, OTHER, QUIET = "#2a9d5c", "#d1495b", "#c3c9d2", "#5b6470"
_COLUMNS, _FIRST, _HARDEST = 4, 8, 4


def chosen(labels: NDArray[np.int64], probabilities: NDArray[np.float32]) -> list[int]:
    """Which images to show: the first eight, then the four whose true digit got the least probability."""
    of_truth = probabilities[np.arange(len(labels)), labels]
    hardest = [int(i) for i in np.argsort(of_truth, kind="stable")[:_HARDEST]]
    return [i for i in range(len(labels)) if i not in hardest][:_FIRST] + hardest


def draw(
    images: NDArray[np.float32], labels: NDArray[np.int64], probabilities: NDArray[np.float32], file: Path
) -> None:
    """Writes a PNG: each digit, what it was taken for, and below it the probabilities of 0 to 9."""
    shown = chosen(labels, probabilities)
    rows = -(-len(shown) // _COLUMNS)
    right = int((probabilities.argmax(axis=1) == labels).sum())
    figure = Figure(figsize=(8, 2.75 * rows + 0.95), dpi=120)
    height = figure.get_figheight()
    figure.text(
        0.06,
        1 - 0.3 / height,
        f"{right} of {len(labels)} digits read right on a Cortex-M",
        fontsize=17,
        weight="bold",
        va="top",
    )
    figure.text(
        0.06,
        1 - 0.68 / height,
        "The first ones, and in the last row the hardest. Bars: the probability of each digit.",
        fontsize=10,
        color=QUIET,
        va="top",
    )
    grid = GridSpec(
        rows,
        _COLUMNS,
        figure,
        left=0.06,
        right=0.94,
        top=1 - 1.25 / height,
        bottom=0.3 / height,
        hspace=0.28,
        wspace=0.35,
    )
    for place, index in enumerate(shown):
        cell = grid[divmod(place, _COLUMNS)].subgridspec(2, 1, height_ratios=[4, 1], hspace=0.08)
        answer, label = int(probabilities[index].argmax()), int(labels[index])
        _digit(figure, cell[0], images[index, 0], answer, label)
        _bars(figure, cell[1], probabilities[index], answer, label)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


def _digit(figure: Figure, cell: SubplotSpec, image: NDArray[np.float32], answer: int, label: int) -> None:
    color = RIGHT if answer == label else WRONG
    axes = figure.add_subplot(cell)
    axes.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(color=color, linewidth=2.5)
    text = f"{answer}" if answer == label else f"{answer}, not {label}"
    axes.set_title(text, color=color, fontsize=16, weight="bold", pad=5)


def _bars(figure: Figure, cell: SubplotSpec, probabilities: NDArray[np.float32], answer: int, label: int) -> None:
    digits = range(len(probabilities))
    axes = figure.add_subplot(cell)
    axes.bar(digits, probabilities, color=[RIGHT if d == label else WRONG if d == answer else OTHER for d in digits])
    axes.set(ylim=(0, 1), yticks=[], xticks=digits)
    axes.tick_params(axis="x", length=0, labelsize=7, labelcolor=QUIET, pad=2)
    axes.spines[["top", "left", "right"]].set_visible(False)
    axes.spines["bottom"].set_color(OTHER)
