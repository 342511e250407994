"""``python -m bench.freeze MODELS INPUTS``: makes ``bench/nets`` from trained weights; needs torch.

MODELS is a folder with the float weights of the four nets as ``examples.mlperf_tiny`` reads them. INPUTS is one with an npz
file a net, whose array ``x`` holds real inputs to calibrate on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from bench.baselines import NETS, layers
from bench.frozen import FrozenNet, save_net
from bench.nets import FOLDER, KINDS, called_ops, lowered_for_bench
from examples.mlperf_tiny import NETS as MODULES
from examples.mlperf_tiny import build, load_reference_weights
from rushlight.errors import RushlightError

#: Inputs that a net is calibrated on.
SAMPLES = 16


def freeze(name: str, models: Path, inputs: Path) -> FrozenNet:
    """Quantises a net with its trained weights.

    Raises:
        RushlightError: its layers are not those of the baselines.
    """
    import torch

    import rushlight
    from rushlight.frontend import import_program

    model = load_reference_weights(build(name), name, models)
    samples = torch.from_numpy(np.load(inputs / f"{MODULES[name].files}.npz")["x"])
    batches = [(sample[None],) for sample in samples[:SAMPLES]]
    program = rushlight.quantize(model, batches[0], batches)
    graph = import_program(program, name.lower())
    ops = called_ops(lowered_for_bench(graph))
    shapes = [layer for layer in layers() if layer.net == name]
    if [op.kind for op in ops] != [KINDS[layer.op] for layer in shapes]:
        raise RushlightError(f"{name}: the calls are not the layers of the baselines: {[op.kind for op in ops]}")
    return FrozenNet(graph, tuple((op.kind, op.source.module) for op in ops))


def main() -> int:
    """Writes all nets."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for name in NETS:
        save_net(freeze(name, Path(sys.argv[1]), Path(sys.argv[2])), FOLDER / f"{name}.npz")
    return 0


if __name__ == "__main__":
    sys.exit(main())
