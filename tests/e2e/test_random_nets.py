"""Random networks, which nobody looked at, go the whole way: the C on the desk and in the emulator equals the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rushlight as rl
from rushlight.api import IO, Layout
from rushlight.ops.base import Array
from tests.e2e.random_nets import build_random

CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55")
FORMS: tuple[tuple[IO, Layout], ...] = (("float", "nchw"), ("int8", "nhwc"), ("float", "nhwc"), ("int8", "nchw"))
#: Of seeds that test_passes_random.py does not use.
CASES = [
    pytest.param(100 + i, core, *form, id=f"{100 + i}-{core}-{'-'.join(form)}")
    for i, (core, form) in enumerate(zip(itertools.cycle(CORES), FORMS * 4, strict=False))
]


def inputs_of(compiled: rl.CompiledModel, seed: int, samples: int) -> list[Array]:
    """Random inputs with a leading axis of samples."""
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for name in compiled.graph.inputs:
        t = compiled.graph[name]
        shape = (samples, *t.shape)
        if t.dtype.value == "int8":
            arrays.append(rng.integers(-128, 128, shape).astype(np.int8))
        else:
            arrays.append((rng.standard_normal(shape) * 1.5).astype(np.float32))
    return arrays


@pytest.mark.filterwarnings("ignore")  # of dead outputs, and torch's of even kernels
@pytest.mark.parametrize(("seed", "core", "io", "layout"), CASES)
def test_a_random_net_answers_alike_everywhere(seed: int, core: str, io: IO, layout: Layout) -> None:
    net, batches = build_random(seed)
    compiled = rl.compile(rl.quantize(net, batches[0], batches), target=core, io=io, layout=layout)
    inputs = inputs_of(compiled, seed, samples=2)
    found = [compiled.reference(*inputs), compiled.run(*inputs, on="host"), compiled.run(*inputs, on="qemu")]
    reference, host, board = (y if isinstance(y, tuple) else (y,) for y in found)
    assert len(reference) == len(net.results) and all(y.shape[0] == 2 and y.size > 0 for y in reference)
    for expected, on_host, on_board in zip(reference, host, board, strict=True):
        np.testing.assert_array_equal(on_host, expected)
        np.testing.assert_array_equal(on_board, expected)
