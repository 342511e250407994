"""The layers that are measured, and what CMSIS-NN takes for them: ``baselines/cmsis_nn_instructions.csv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("baselines")

#: The targets that the short core names of the tables stand for. Armv6-M code runs with the memory of a larger board.
CORES = {
    "m0p": "cortex-m0plus@mps2-an385",
    "m3": "cortex-m3",
    "m4": "cortex-m4",
    "m7": "cortex-m7",
    "m33": "cortex-m33",
    "m55": "cortex-m55",
}
COMPILERS = ("gcc", "clang")
#: Whole networks; EXTRA is a list of single layers.
NETS = ("IC", "KWS", "VWW", "AD")
#: Nets that are also measured without the channels that can only have one value; CMSIS-NN's figures are those with them.
PRUNED = {"VWW-pruned": "VWW"}
GROUPS = (*NETS, *PRUNED, "EXTRA")
#: Operators whose MACs count in instructions a MAC of a whole net.
WEIGHTED = ("CONV", "DW", "FC")


@dataclass(frozen=True)
class LayerShape:
    """A layer: ``op`` as in the file, shapes (height, width, channels), pairs (height, width), ``pad`` (top, left)."""

    net: str
    index: int
    op: str
    in_shape: tuple[int, int, int]
    out_shape: tuple[int, int, int]
    kernel: tuple[int, int]
    groups: int
    stride: tuple[int, int]
    pad: tuple[int, int]
    macs: int

    def __str__(self) -> str:
        sizes = [f"{self.in_shape[0]}x{self.in_shape[1]}x{self.in_shape[2]}→{self.out_shape[2]}"]
        if self.kernel != (1, 1):
            sizes.append(f"{self.kernel[0]}x{self.kernel[1]}")
        if self.groups > 1:
            sizes.append(f"g{self.groups}")
        if self.stride != (1, 1):
            sizes.append(f"/{self.stride[0]}")
        return f"{self.net} {self.index} {self.op} {' '.join(sizes)}"


@dataclass(frozen=True)
class Baseline:
    """Instructions of CMSIS-NN: under GCC, under clang (None: not measured), and the smaller."""

    gcc: int
    clang: int | None
    best: int
    scratch: int


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split("x")]


def _shape(row: dict[str, str]) -> LayerShape:
    kernel, _, groups = row["kernel"].partition("g")
    h, w, c = _numbers(row["in_shape"])
    out_h, out_w, out_c = _numbers(row["out_shape"])
    (kh, kw), (sh, sw), (top, left) = (_numbers(text) for text in (kernel, row["stride"], row["pad"]))
    return LayerShape(
        net=row["model"],
        index=int(row["layer_index"]),
        op=row["op"],
        in_shape=(h, w, c),
        out_shape=(out_h, out_w, out_c),
        kernel=(kh, kw),
        groups=int(groups or 1),
        stride=(sh, sw),
        pad=(top, left),
        macs=int(row["macs"]),
    )


@cache
def _rows() -> list[dict[str, str]]:
    with (FOLDER / "cmsis_nn_instructions.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def layers() -> tuple[LayerShape, ...]:
    """All layers, each once, in the order of the file."""
    return tuple(dict.fromkeys(_shape(row) for row in _rows()))


@cache
def baselines() -> dict[tuple[str, int, str], Baseline]:
    """(net, layer, core) → what CMSIS-NN takes."""
    return {
        (row["model"], int(row["layer_index"]), row["core"]): Baseline(
            gcc=int(row["gcc_o3"]),
            clang=int(row["clang_o3"]) if row["clang_o3"] else None,
            best=int(row["best"]),
            scratch=int(row["scratch_bytes"]),
        )
        for row in _rows()
    }


def net_macs(net: str) -> int:
    """MACs of a net's convolutions and linear layers, as CMSIS-NN does them."""
    return sum(layer.macs for layer in layers() if layer.net == PRUNED.get(net, net) and layer.op in WEIGHTED)


def baseline(net: str, layer: int | None, core: str) -> Baseline:
    """CMSIS-NN's figures for a layer, or summed over a net (``layer`` None)."""
    net = PRUNED.get(net, net)
    if layer is not None:
        return baselines()[net, layer, core]
    of_net = [b for (name, _, on), b in baselines().items() if (name, on) == (net, core)]
    clang = [b.clang for b in of_net if b.clang is not None]
    sums = sum(b.gcc for b in of_net), sum(clang) if len(clang) == len(of_net) else None
    return Baseline(sums[0], sums[1], min(n for n in sums if n is not None), max(b.scratch for b in of_net))
