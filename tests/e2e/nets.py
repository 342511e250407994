"""Small networks of the kinds people write, to be taken the whole way."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    """A residual block with batch norms, ReLU6, global pooling and softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.a = nn.Conv2d(8, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.down = nn.Conv2d(8, 12, 1, stride=2)
        self.head = nn.Linear(12, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        x = F.relu(x + self.bn(self.a(x)))
        x = F.relu6(self.down(x))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return torch.softmax(self.head(x), dim=-1)


class Separable(nn.Module):
    """Depthwise with a multiplier, pointwise, hardswish, max pool, a flatten of NCHW before the classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.dw = nn.Conv2d(4, 8, 3, padding=1, groups=4)
        self.pw = nn.Conv2d(8, 10, 1)
        self.fc = nn.Linear(10 * 4 * 3, 7)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.hardswish(self.dw(x))
        x = torch.tanh(self.pw(x))
        x = F.max_pool2d(x, 2)
        out: torch.Tensor = self.fc(x.flatten(1))
        return out


class SqueezeExcite(nn.Module):
    """Channel attention by a broadcast multiply, both with 1x1 convolutions and with linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding="same")
        self.down, self.up = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.fc1, self.fc2 = nn.Linear(8, 4), nn.Linear(4, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.silu(self.conv(x))
        x = x * torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3), keepdim=True)))))
        gate = F.hardsigmoid(self.fc2(F.relu(self.fc1(x.mean((2, 3))))))
        return x * gate.view(1, 8, 1, 1)


class Branches(nn.Module):
    """Two inputs, two outputs, concat on channels, average pools, asymmetric padding, grouped and dilated convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(2, 6, 3, stride=2)
        self.b = nn.Conv2d(4, 6, (1, 3), padding=(0, 1), groups=2)
        self.c = nn.Conv2d(12, 4, 3, dilation=2, padding=2)

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = F.relu(self.a(F.pad(x, (0, 1, 0, 1))))
        b = F.leaky_relu(self.b(F.avg_pool2d(z, 2, ceil_mode=True, count_include_pad=False)), 0.1)
        both = torch.cat([a, b], dim=1)
        c = self.c(both)
        return c, (a - b).mean((2, 3))


class Mlp(nn.Module):
    """Linear layers over the last of three dimensions, GELU, a residual and a permute."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(6, 16), nn.Linear(16, 6)
        self.mix = nn.Linear(5, 5, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.down(F.gelu(self.up(x)))
        y: torch.Tensor = self.mix(x.permute(0, 2, 1)).transpose(1, 2)
        return F.dropout(y * 0.5 + 1.0, 0.1, self.training)


class NormFirst(nn.Module):
    """A batch norm that cannot be folded, before the convolution and after a ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(3)
        self.conv = nn.Conv2d(3, 6, 3)
        self.bn2 = nn.BatchNorm2d(6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.bn2(F.relu(self.conv(self.bn(x))))
        return y


NETS: dict[str, tuple[type[nn.Module], tuple[tuple[int, ...], ...]]] = {
    "residual": (Residual, ((1, 3, 12, 12),)),
    "separable": (Separable, ((1, 4, 8, 6),)),
    "squeeze_excite": (SqueezeExcite, ((1, 3, 9, 7),)),
    "branches": (Branches, ((1, 2, 12, 12), (1, 4, 12, 12))),
    "mlp": (Mlp, ((1, 5, 6),)),
    "norm_first": (NormFirst, ((2, 3, 8, 8),)),
}


def build(name: str) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The network with seeded weights and lively norm statistics, and eight batches of inputs."""
    torch.manual_seed(7)
    kind, shapes = NETS[name]
    model = kind().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean = torch.randn_like(module.running_mean) * 0.3  # type: ignore[arg-type]
            module.running_var = torch.rand_like(module.running_var) + 0.5  # type: ignore[arg-type]
    batches = [tuple(torch.randn(shape) for shape in shapes) for _ in range(8)]
    return model, batches
