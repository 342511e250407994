"""Random networks of the supported operators, as people might write them: the seed decides all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

#: A step of forward: from the tensors made so far to one more.
Step = Callable[[list[Tensor]], Tensor]
Shape = tuple[int, ...]

_TABLES: tuple[Callable[[Tensor], Tensor], ...] = (
    F.hardswish,
    F.silu,
    F.gelu,
    torch.sigmoid,
    torch.tanh,
    F.hardsigmoid,
    lambda x: F.leaky_relu(x, 0.2),
    F.elu,
)
_CLAMPS: tuple[Callable[[Tensor], Tensor], ...] = (
    F.relu,
    F.relu6,
    lambda x: F.hardtanh(x, -0.7, 1.1),
    lambda x: torch.clamp(x, -1.0, 0.5),
)


class RandomNet(nn.Module):
    """Inputs float32 [N, C, H, W], one or two of them; one to three outputs of any shape."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)
        batch = int(self.rng.choice([1, 1, 2]))
        hw = [int(n) for n in self.rng.integers(5, 12, 2)]
        self.input_shapes: list[Shape] = [
            (batch, int(self.rng.integers(1, 9)), *hw) for _ in range(int(self.rng.integers(1, 3)))
        ]
        self.layers = nn.ModuleList()
        self.steps: list[Step] = []
        self.shapes: list[Shape] = list(self.input_shapes)
        self.ranks_4 = list(range(len(self.shapes)))
        makers = [
            self._conv,
            self._conv,
            self._depthwise,
            self._clamp,
            self._table,
            self._binary,
            self._binary,
            self._gate,
            self._pool,
            self._pad,
            self._concat,
            self._constant,
            self._permute,
            self._norm,
        ]
        for _ in range(int(self.rng.integers(4, 11))):
            makers[int(self.rng.integers(len(makers)))]()
        self.results = [self._end() for _ in range(int(self.rng.choice([1, 1, 1, 2])))]
        if self.rng.random() < 0.3:
            self.results.append(self._pick())  # used inside as well, or an input

    def forward(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        made = list(inputs)
        for step in self.steps:
            made.append(step(made))
        found = tuple(made[i] for i in self.results)
        return found[0] if len(found) == 1 else found

    # --- what a step is made of

    def _pick(self) -> int:
        """A tensor of rank 4, rather a late one."""
        recent = self.ranks_4[-4:]
        return recent[int(self.rng.integers(len(recent)))]

    def _add(self, step: Step) -> int:
        """Appends a step; its shape is found by running it."""
        self.steps.append(step)
        with torch.no_grad():
            y = step([torch.zeros(s) for s in self.shapes])
        self.shapes.append(tuple(y.shape))
        if y.dim() == 4:
            self.ranks_4.append(len(self.shapes) - 1)
        return len(self.shapes) - 1

    def _layer(self, layer: nn.Module, x: int) -> int:
        self.layers.append(layer)
        return self._add(lambda made: layer(made[x]))

    def _int(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def _conv(self) -> None:
        x = self._pick()
        _, c, h, w = self.shapes[x]
        groups = int(self.rng.choice([g for g in (1, 2, 3) if c % g == 0]))
        kernel = (self._int(1, min(3, h)), self._int(1, min(4, w)))
        out = groups * self._int(1, 5)
        if self.rng.random() < 0.3:
            layer = nn.Conv2d(c, out, kernel, padding="same", groups=groups, bias=bool(self.rng.random() < 0.7))
        else:
            stride, padding = (self._int(1, 2), self._int(1, 2)), (self._int(0, 1), self._int(0, 2))
            layer = nn.Conv2d(c, out, kernel, stride, padding, groups=groups)
        self._layer(layer, x)

    def _depthwise(self) -> None:
        x = self._pick()
        _, c, h, w = self.shapes[x]
        kernel = (self._int(1, min(3, h)), self._int(1, min(3, w)))
        layer = nn.Conv2d(c, c * self._int(1, 2), kernel, padding=(1, 1), groups=c, dilation=self._int(1, 1))
        self._layer(layer, x)

    def _norm(self) -> None:
        x = self._pick()
        norm = nn.BatchNorm2d(self.shapes[x][1])
        with torch.no_grad():
            norm.running_mean = torch.from_numpy(self.rng.normal(0, 0.3, norm.num_features).astype(np.float32))
            norm.running_var = torch.from_numpy(self.rng.uniform(0.5, 1.5, norm.num_features).astype(np.float32))
        self._layer(norm.eval(), x)

    def _clamp(self) -> None:
        x, f = self._pick(), _CLAMPS[self._int(0, len(_CLAMPS) - 1)]
        self._add(lambda made: f(made[x]))

    def _table(self) -> None:
        x, f = self._pick(), _TABLES[self._int(0, len(_TABLES) - 1)]
        self._add(lambda made: f(made[x]))

    def _binary(self) -> None:
        a = self._pick()
        alike = [i for i in self.ranks_4 if self.shapes[i] == self.shapes[a]]
        b = alike[self._int(0, len(alike) - 1)]
        operation = (torch.add, torch.sub, torch.mul)[self._int(0, 2)]
        self._add(lambda made: operation(made[a], made[b]))

    def _gate(self) -> None:
        """Squeeze and excitation."""
        x = self._pick()
        c = self.shapes[x][1]
        if self.rng.random() < 0.5:
            mean = self._add(lambda made: made[x].mean((2, 3), keepdim=True))
            inner = self._layer(nn.Conv2d(c, c, 1), mean)
            self._add(lambda made: made[x] * torch.sigmoid(made[inner]))
        else:
            mean = self._add(lambda made: F.adaptive_avg_pool2d(made[x], 1).flatten(1))
            inner = self._layer(nn.Linear(c, c), mean)
            n = self.shapes[x][0]
            self._add(lambda made: made[x] * F.hardsigmoid(made[inner]).view(n, c, 1, 1))

    def _pool(self) -> None:
        x = self._pick()
        if min(self.shapes[x][2:]) < 3:
            return
        ceil, include = bool(self.rng.random() < 0.5), bool(self.rng.random() < 0.5)
        pad = self._int(0, 1)
        if self.rng.random() < 0.5:
            self._add(lambda made: F.max_pool2d(made[x], 3, 2, pad, ceil_mode=ceil))
        else:
            self._add(lambda made: F.avg_pool2d(made[x], 2, 2, pad, ceil_mode=ceil, count_include_pad=include))

    def _pad(self) -> None:
        x = self._pick()
        pads = [self._int(0, 2) for _ in range(4)]
        value = float(self.rng.choice([0.0, 0.0, 0.5]))
        self._add(lambda made: F.pad(made[x], pads, value=value))

    def _concat(self) -> None:
        a = self._pick()
        n, _, h, w = self.shapes[a]
        alike = [i for i in self.ranks_4 if (self.shapes[i][0], *self.shapes[i][2:]) == (n, h, w)]
        b = alike[self._int(0, len(alike) - 1)]
        self._add(lambda made: torch.cat([made[a], made[b]], dim=1))

    def _constant(self) -> None:
        x = self._pick()
        _, c, h, w = self.shapes[x]
        shape = [(c, 1, 1), (1, c, h, w), (w,), (1,)][self._int(0, 3)]
        value = torch.from_numpy(self.rng.normal(0, 1, shape).astype(np.float32))
        name = f"constant{len(self.steps)}"
        self.register_buffer(name, value)
        add = self.rng.random() < 0.5
        self._add(lambda made: made[x] + getattr(self, name) if add else getattr(self, name) * made[x])

    def _permute(self) -> None:
        x = self._pick()
        order = [(0, 1, 3, 2), (0, 3, 1, 2), (0, 2, 3, 1)][self._int(0, 2)]
        self._add(lambda made: made[x].permute(order))

    def _end(self) -> int:
        x = self._pick()
        n, c, h, w = self.shapes[x]
        kind = self._int(0, 3)
        if kind == 0:
            return x
        if kind == 1:
            flat = self._add(lambda made: F.adaptive_avg_pool2d(made[x], 1).flatten(1))
            return self._layer(nn.Linear(c, self._int(2, 6)), flat)
        if kind == 2:
            flat = self._add(lambda made: made[x].reshape(n, -1))
            logits = self._layer(nn.Linear(c * h * w, self._int(2, 6)), flat)
            return self._add(lambda made: torch.softmax(made[logits], dim=-1))
        return self._add(lambda made: made[x].mean((2, 3)))


def build_random(seed: int) -> tuple[RandomNet, list[tuple[Tensor, ...]]]:
    """The net in eval mode with seeded weights, and six batches of inputs."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = RandomNet(seed).eval()
        return net, [tuple(torch.randn(shape) for shape in net.input_shapes) for _ in range(6)]
