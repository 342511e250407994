"""The four nets of MLPerf Tiny compute what the reference does, and go through capture unchanged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from examples.mlperf_tiny import NETS, build, example_inputs, load_reference_weights
from rushlight.capturing import capture, notes_of


@pytest.mark.parametrize("name", NETS)
def test_trained_net_gives_the_reference_outputs(name: str, shared_dir: Path) -> None:
    model = load_reference_weights(build(name), name, shared_dir / "models")
    golden = np.load(shared_dir / "data" / "golden" / f"{NETS[name].files}.npz")
    with torch.no_grad():
        y = model(torch.from_numpy(golden["x"])).numpy()
    scale = max(1.0, float(np.abs(golden["y0"]).max()))
    assert np.abs(y - golden["y0"]).max() < 1e-4 * scale


@pytest.mark.parametrize("name", NETS)
def test_seeded_net_is_the_same_each_time_and_alive(name: str) -> None:
    (x,) = example_inputs(name, batch=4)
    with torch.no_grad():
        first, second = build(name)(x), build(name)(x)
    assert torch.equal(first, second)
    assert first.isfinite().all()
    assert (first.std(dim=0) > 0).any()


@pytest.mark.parametrize("name", NETS)
def test_capture_folds_every_norm_of_the_net(name: str) -> None:
    model = build(name)
    inputs = example_inputs(name)
    program = capture(model, inputs)
    targets = {str(node.target) for node in program.graph.nodes}
    assert not any("batch_norm" in t or "dropout" in t or t.endswith("_.default") for t in targets)
    assert notes_of(program.graph) == ()
    with torch.no_grad():
        ours, theirs = program.module(check_guards=False)(*inputs), model(*inputs)
    assert torch.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * float(theirs.abs().max()))
