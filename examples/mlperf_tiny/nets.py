"""The reference nets of MLPerf Tiny (mlcommons/tiny), written as one writes them in PyTorch.

``build("IC")`` gives a net with seeded weights and plausible batch-norm statistics; ``load_reference_weights`` puts the trained
ones in. Padding of strided SAME convolutions is one-sided, as in the original.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

EPS = 1e-3  # the original's batch norms


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions and a way round them; with a stride, the way round is a 1x1 convolution."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        # SAME with stride 2 on even sizes pads right and bottom only.
        self.pad = nn.ZeroPad2d((0, 1, 0, 1)) if stride == 2 else nn.ZeroPad2d(1)
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride)
        self.bn1 = nn.BatchNorm2d(channels, eps=EPS)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels, eps=EPS)
        self.shortcut = nn.Identity() if stride == 1 else nn.Conv2d(channels_in, channels, 1, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(self.pad(x))))
        y = self.bn2(self.conv2(y))
        y = y + self.shortcut(x)
        out: Tensor = self.relu(y)
        return out


class ResNet8(nn.Module):
    """IC: CIFAR-10 images, float32[N, 3, 32, 32] in 0..255 → class probabilities [N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding="same"), nn.BatchNorm2d(16, eps=EPS), nn.ReLU())
        self.block1 = ResidualBlock(16, 16, 1)
        self.block2 = ResidualBlock(16, 32, 2)
        self.block3 = ResidualBlock(32, 64, 2)
        self.pool = nn.AvgPool2d(8)
        self.fc = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.block3(self.block2(self.block1(self.stem(x))))
        x = self.pool(x).flatten(1)
        return torch.softmax(self.fc(x), dim=-1)


def conv_bn_relu(channels_in: int, channels: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """A convolution with SAME padding, its batch norm and ReLU."""
    layers: list[nn.Module] = []
    if stride == 2:
        layers.append(nn.ZeroPad2d((0, 1, 0, 1)))
    padding = 0 if stride == 2 else kernel // 2
    layers.append(nn.Conv2d(channels_in, channels, kernel, stride, padding, groups=groups))
    return nn.Sequential(*layers, nn.BatchNorm2d(channels, eps=EPS), nn.ReLU(inplace=True))


def separable(channels_in: int, channels: int, stride: int = 1) -> nn.Sequential:
    """A depthwise 3x3 and a pointwise convolution."""
    return nn.Sequential(
        conv_bn_relu(channels_in, channels_in, 3, stride, groups=channels_in), conv_bn_relu(channels_in, channels, 1)
    )


class DSCNN(nn.Module):
    """KWS: MFCC of one second, float32[N, 1, 49, 10] → probabilities of 12 words [N, 12]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.ZeroPad2d((1, 1, 4, 5)),
            nn.Conv2d(1, 64, (10, 4), stride=2),
            nn.BatchNorm2d(64, eps=EPS),
            nn.ReLU(),
            nn.Dropout(0.2),
        )
        self.blocks = nn.Sequential(*[separable(64, 64) for _ in range(4)])
        self.dropout = nn.Dropout(0.4)
        self.pool = nn.AvgPool2d((25, 5))
        self.fc = nn.Linear(64, 12)

    def forward(self, x: Tensor) -> Tensor:
        x = self.dropout(self.blocks(self.stem(x)))
        x = torch.flatten(self.pool(x), 1)
        return torch.softmax(self.fc(x), dim=1)


class MobileNetV1(nn.Module):
    """VWW: photos, float32[N, 3, 96, 96] in 0..1 → probabilities of no person, person [N, 2]. Width 0.25."""

    CHANNELS = (8, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128, 128, 256, 256)
    STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv_bn_relu(3, 8, 3, stride=2)
        pairs = zip(self.CHANNELS, self.CHANNELS[1:], self.STRIDES, strict=False)
        self.blocks = nn.Sequential(*[separable(a, b, stride) for a, b, stride in pairs])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(256, 2)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.blocks(self.stem(x)))
        out: Tensor = self.softmax(self.fc(x.view(x.shape[0], -1)))
        return out


class AutoEncoder(nn.Module):
    """AD: log-mel frames, float32[N, 640] → their reconstruction [N, 640]."""

    WIDTHS = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128)

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a, b in zip(self.WIDTHS, self.WIDTHS[1:], strict=False):
            layers += [nn.Linear(a, b), nn.BatchNorm1d(b, eps=EPS), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.out = nn.Linear(128, 640)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.out(self.layers(x))
        return out


@dataclass(frozen=True)
class Net:
    """A net, the name its files go by, and the shape, mean and spread of its inputs."""

    make: Callable[[], nn.Module]
    files: str
    shape: tuple[int, ...]
    low: float
    high: float


NETS: dict[str, Net] = {
    "IC": Net(ResNet8, "mlperf_ic_resnet8", (3, 32, 32), 0.0, 255.0),
    "KWS": Net(DSCNN, "mlperf_kws_dscnn", (1, 49, 10), -60.0, 25.0),
    "VWW": Net(MobileNetV1, "mlperf_vww_mobilenetv1_025_96", (3, 96, 96), 0.0, 1.0),
    "AD": Net(AutoEncoder, "mlperf_ad_autoencoder", (640,), -80.0, 20.0),
}


def example_inputs(name: str, batch: int = 1, seed: int = 0) -> tuple[Tensor, ...]:
    """Seeded random inputs of the net in the range of its real ones."""
    net = NETS[name]
    noise = torch.rand((batch, *net.shape), generator=torch.Generator().manual_seed(seed))
    return (noise * (net.high - net.low) + net.low,)


def build(name: str, seed: int = 0) -> nn.Module:
    """The net in eval mode with seeded weights; batch-norm statistics are those of random inputs."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = NETS[name].make()
        norms = [m for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d))]
        with torch.no_grad():
            for norm in norms:
                norm.weight.uniform_(0.5, 1.5)
                norm.bias.normal_(0.0, 0.2)
                norm.momentum = None  # statistics are plain averages
            model.train()
            model(*example_inputs(name, batch=32, seed=seed))
            for norm in norms:
                norm.momentum = 0.1
    return model.eval()


def load_reference_weights(model: nn.Module, name: str, folder: Path) -> nn.Module:
    """Puts the trained weights in ``folder`` (``<files>.safetensors`` with its ``.json``) into a net of ``build(name)``.

    Layers of a kind stand in the same order in both.
    """
    from safetensors.torch import load_file

    stem = folder / NETS[name].files
    weights = load_file(f"{stem}.safetensors")
    nodes = json.loads(Path(f"{stem}.json").read_text())["nodes"]
    kinds: dict[str, tuple[type[nn.Module], ...]] = {
        "conv2d": (nn.Conv2d,),
        "linear": (nn.Linear,),
        "batchnorm": (nn.BatchNorm1d, nn.BatchNorm2d),
    }
    for kind, types in kinds.items():
        ours = [m for m in model.modules() if isinstance(m, types)]
        theirs = [node["id"] for node in nodes if node["op"] == kind]
        for module, key in zip(ours, theirs, strict=True):
            prefix = f"{key}."
            module.load_state_dict(
                {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)},
                strict=kind != "batchnorm",  # those lack num_batches_tracked
            )
    return model.eval()
