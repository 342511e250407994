"""The four nets of MLPerf Tiny with real inputs, where this machine has them, a net trained here, and quantised programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import rushlight as rl
from examples.mlperf_tiny import NETS, build, example_inputs, load_reference_weights

if TYPE_CHECKING:
    from torch.export import ExportedProgram

# Nets this small run slower on several threads, and the tests themselves run on several processes.
torch.set_num_threads(1)

CHECKOUT = Path(__file__).resolve().parents[2]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """A net in eval mode, inputs float32 [samples, …] and, where there are some, the label of each."""

    name: str
    model: nn.Module
    x: Floats
    labels: NDArray[Any] | None
    trained: bool

    def half(self, number: int) -> NDArray[np.intp]:
        """Indices of every second sample; files are sorted by label, so both halves hold all of them."""
        return np.arange(number, len(self.x), 2)

    def float_outputs(self, x: Floats) -> Floats:
        """What the float model answers."""
        with torch.no_grad():
            y: Floats = self.model(torch.from_numpy(x)).numpy()
        return y


def shared_folder() -> Path | None:
    """The folder of trained models and real data beside the checkout, None if there is none; with CI set there must be."""
    path = CHECKOUT.parent / "shared"
    if path.is_dir():
        return path
    assert not os.environ.get("CI"), f"{path.name}/ with trained models and real inputs is missing beside the checkout"
    return None


def _images(file: Path, top: float) -> tuple[Floats, NDArray[Any]]:
    """NCHW floats in 0..top of an archive of uint8 NHWC images, and their labels."""
    data = np.load(file)
    x = data["images"].astype(np.float32).transpose(0, 3, 1, 2) * np.float32(top / 255)
    return np.ascontiguousarray(x), data["labels"]


def _golden(file: Path) -> tuple[Floats, NDArray[Any] | None]:
    data = np.load(file)
    return data["x"], data["labels"] if "labels" in data.files else None


_REAL: dict[str, Callable[[Path], tuple[Floats, NDArray[Any] | None]]] = {
    "IC": lambda data: _images(data / "cifar10_test_jpeg_share_1000.npz", 255.0),
    "KWS": lambda data: _golden(data / "golden" / "mlperf_kws_dscnn.npz"),
    "VWW": lambda data: _images(data / "person_noperson_photos_96x96.npz", 1.0),
    "AD": lambda data: _golden(data / "golden" / "mlperf_ad_autoencoder.npz"),
}


def _digits() -> Case:
    """The demo's net, trained for some seconds on scikit-learn's digits."""
    from examples.digits.net import load, train

    training, test = load()
    model = train(training, epochs=6, progress=lambda epoch, loss: None)
    torch.use_deterministic_algorithms(False)
    return Case("digits", model, test.images.numpy(), test.labels.numpy(), trained=True)


@cache
def case(name: str) -> Case:
    """A net of MLPerf Tiny with trained weights and real inputs, or else with seeded weights and random inputs of the same
    range; or "digits", which is trained here."""
    if name == "digits":
        return _digits()
    shared = shared_folder()
    if shared is None:
        return Case(name, build(name), example_inputs(name, batch=16, seed=1)[0].numpy(), None, trained=False)
    x, labels = _REAL[name](shared / "data")
    return Case(name, load_reference_weights(build(name), name, shared / "models"), x, labels, trained=True)


@cache
def quantized(name: str, half: int = 0) -> ExportedProgram:
    """The net quantised with that half of the inputs, once in each test process."""
    c = case(name)
    samples = torch.from_numpy(c.x[c.half(half)])
    return rl.quantize(c.model, (samples[:1],), [(batch,) for batch in samples.split(16)])


__all__ = ["NETS", "Case", "case", "quantized", "shared_folder"]
