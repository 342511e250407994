"""Networks of many kinds, from torch to C: the reference stays close to PyTorch's quantised model, the C equals the reference."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rushlight as rl
from tests.e2e.nets import NETS, build


@pytest.mark.parametrize("name", NETS)
def test_reference_is_close_to_the_quantised_model_and_c_is_equal_to_the_reference(name: str) -> None:
    model, batches = build(name)
    quantized = rl.quantize(model, batches[0], batches)
    compiled = rl.compile(quantized, target="cortex-m4")
    simulated = quantized.module(check_guards=False)
    for batch in batches[:4]:
        ours = compiled.reference(*batch)
        theirs = simulated(*batch)
        on_host = compiled.run(*batch, on="host")
        many = isinstance(ours, tuple)
        for i, (y, t, h) in enumerate(zip(ours, theirs, on_host, strict=True) if many else [(ours, theirs, on_host)]):
            np.testing.assert_array_equal(y, h)
            step = compiled.graph[compiled.graph.outputs[i]]
            scale = compiled.graph.producers()[step.name]
            q = compiled.graph[scale.inputs[0]].q
            difference = np.abs(y - t.detach().numpy()) / q.s
            assert difference.max() <= 3.01, f"output {i} is {difference.max():.2f} steps away"
            assert difference.mean() <= 0.6


@pytest.mark.parametrize("name", ["residual", "branches"])
def test_int8_and_nhwc_programs_give_the_same_answers(name: str) -> None:
    model, batches = build(name)
    quantized = rl.quantize(model, batches[0], batches)
    plain = rl.compile(quantized, target="cortex-m4")
    inner = rl.compile(quantized, target="cortex-m4", io="int8", layout="nhwc")
    batch = batches[1]
    integers = []
    for name_, x in zip(inner.graph.inputs, batch, strict=True):
        q = inner.graph[name_].q
        x8 = np.clip(np.rint(x.numpy() / np.float32(q.s)) + q.z, q.qmin, q.qmax).astype(np.int8)
        integers.append(np.ascontiguousarray(x8.transpose(0, 2, 3, 1)))
    expected = plain.reference(*batch)
    found = inner.reference(*integers)
    on_host = inner.run(*integers, on="host")
    expected, found, on_host = (v if isinstance(v, tuple) else (v,) for v in (expected, found, on_host))
    for y_name, e, f, h in zip(inner.graph.outputs, expected, found, on_host, strict=True):
        np.testing.assert_array_equal(f, h)
        q = inner.graph[y_name].q
        real = (f.astype(np.int32) - q.z).astype(np.float32) * np.float32(q.s)
        np.testing.assert_array_equal(real.transpose(0, 3, 1, 2) if real.ndim == 4 else real, e)


def test_by_hand_and_quantize_give_the_same_program() -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    model, batches = build("residual")
    exported = rl.capture(model, batches[0])
    prepared = prepare_pt2e(exported.module(check_guards=False), rl.RushlightQuantizer())
    for batch in batches:
        prepared(*batch)
    by_hand = torch.export.export(convert_pt2e(prepared), batches[0])
    one = rl.compile(by_hand, target="cortex-m4")
    other = rl.compile(rl.quantize(model, batches[0], batches), target="cortex-m4")
    x = batches[2][0]
    np.testing.assert_array_equal(one.reference(x), other.reference(x))
