"""Runs a windowed kernel band by band of rows, its input and output in rolling buffers, as a scheduler may do it.

For kernels with one input whose parameter block holds an ``rl_window``; batch 1.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rushlight.graph import Graph
from rushlight.ops.base import Array, Kernel
from tests.kernels.harness import KERNELS

FLAGS = ["-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]


def load(kernels: Sequence[Kernel]) -> ctypes.CDLL:
    """The kernels as a library of this PC."""
    with tempfile.TemporaryDirectory() as name:
        library = Path(name) / "kernels.so"
        sources = sorted({s for k in kernels for s in k.sources})
        command = ["gcc", *FLAGS, f"-I{KERNELS}", "-o", str(library), *(str(KERNELS / s) for s in sources)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(library))


def _pointer(data: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(data.ctypes.data)


def run_in_bands(library: ctypes.CDLL, kernel: Kernel, graph: Graph, x: Array, band: int, gap: int) -> Array:
    """The output of the graph's one operator, computed ``band`` rows at a time.

    The input buffer holds just the rows that a band reads, the output buffer just ``band`` rows; rows are ``gap`` bytes
    further apart than they must be. Both start as noise, and rows not yet read are only put in when their band comes.
    """
    op = graph.ops[0]
    attrs, y_shape = op.attrs, graph.outs(op)[0].shape
    (_, in_h, in_w, in_c), (_, out_h, out_w, out_c) = x.shape, y_shape
    assert x.shape[0] == 1
    ring = min(in_h, (band - 1) * attrs.stride[0] + attrs.dilation[0] * (attrs.kernel[0] - 1) + 1)
    noise = np.random.default_rng(0)
    source = noise.integers(-128, 128, (ring, in_w * in_c + gap)).astype(np.int8)
    target = noise.integers(-128, 128, (band, out_w * out_c + gap)).astype(np.int8)
    scratch = np.zeros(kernel.scratch // 8 + 2, np.int64)
    y = np.zeros((out_h, out_w * out_c), np.int8)
    done = 0
    for begin in range(0, out_h, band):
        end = min(out_h, begin + band)
        last = (end - 1) * attrs.stride[0] - attrs.padding[0] + attrs.dilation[0] * (attrs.kernel[0] - 1)
        for row in range(done, min(in_h, last + 1)):
            source[row % ring, : in_w * in_c] = x[0, row].reshape(-1)
            done = row + 1
        changed = {
            "window.in_pitch": source.shape[1],
            "window.out_pitch": target.shape[1],
            "window.row_begin": begin,
            "window.row_end": end,
            "window.in_ring": ring,
            "window.out_ring": band,
        }
        block = np.frombuffer(kernel.params_type.pack({**kernel.params, **changed}), np.int8)
        constants = [np.ascontiguousarray(c.data) for c in kernel.constants]
        arguments = [block, source, *constants, target] + ([scratch] if kernel.takes_scratch else [])
        getattr(library, kernel.symbol)(*map(_pointer, arguments))
        for row in range(begin, end):
            y[row] = target[row % band, : out_w * out_c]
    return y.reshape(y_shape)
