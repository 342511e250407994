"""The data, the net and its training: plain scikit-learn and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

SEED = 0
TEST_IMAGES = 500
BATCH = 64


class DigitNet(nn.Module):
    """Images float32[N, 1, 8, 8] in 0..1 → logits of the ten digits float32[N, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), nn.BatchNorm2d(16))
        self.pointwise = nn.Sequential(nn.Conv2d(16, 32, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.last = nn.Sequential(nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.classifier = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(self.pointwise(self.depthwise(self.stem(x))))
        x = self.pool(self.last(x))
        out: Tensor = self.classifier(x.flatten(1))
        return out


@dataclass(frozen=True)
class Digits:
    """Images float32[N, 1, 8, 8] in 0..1 and their labels int64[N]."""

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, count: int) -> Digits:
        """The first ``count`` of them."""
        return Digits(self.images[:count], self.labels[:count])


def load() -> tuple[Digits, Digits]:
    """scikit-learn's digits, which come with it: 1297 to train with and 500, of every digit alike, to test with."""
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    parts = train_test_split(range(len(labels)), test_size=TEST_IMAGES, random_state=SEED, stratify=data.target)
    train, test = (Digits(images[part], labels[part]) for part in parts)
    return train, test


def train(data: Digits, epochs: int, progress: Callable[[int, float], None]) -> nn.Module:
    """Trains a net, the same one each time on a machine; ``progress(epoch, loss)`` after each epoch.

    Returns it with a softmax behind it, in eval mode: images → probabilities.
    """
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)  # sums are added in one order; so small a net gains nothing from a second thread
    torch.manual_seed(SEED)
    net = DigitNet()
    optimizer = torch.optim.Adam(net.parameters())
    steps = epochs * -(-len(data) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=steps)
    for epoch in range(epochs):
        losses = []
        order = torch.randperm(len(data))
        for start in range(0, len(data), BATCH):
            batch = order[start : start + BATCH]
            loss = F.cross_entropy(net(data.images[batch]), data.labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        progress(epoch + 1, sum(losses) / len(losses))
    return nn.Sequential(net, nn.Softmax(dim=-1)).eval()
