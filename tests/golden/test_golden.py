"""Each operator gives today what it gave when its golden file was written: the specification does not drift unseen.

The files hold inputs and outputs as integers. They are checked once more against real numbers, computed apart (``real.py``).
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from rushlight.ops import operator
from rushlight.ops.base import Array
from rushlight.ops.common.functions import FUNCTIONS
from rushlight.ops.table import function_table
from tests.golden.case import FOLDER, KINDS, Case, dump, load, path_of
from tests.golden.real import REAL, TABLES, Real, real_values
from tests.kernels.harness import TIERS, check_kernels

#: Operators that requantise by a multiplier of 15 bits: somewhere in the file that gives another integer than the nearest.
TELLS = ("add", "avg_pool2d", "conv2d", "depthwise_conv2d", "linear", "mul", "softmax")


def steps(case: Case) -> Real:
    """The true output in the steps of the output's quantisation, kept to its range."""
    op = case.graph.ops[0]
    tensors, y = case.graph.ins(op), case.graph.outs(op)[0]
    inputs = [real_values(t, data) for t, data in zip(tensors, case.arrays, strict=True)]
    if op.kind in ("conv2d", "depthwise_conv2d", "linear"):
        inputs[2] *= np.array(tensors[0].q.s) * np.array(tensors[1].q.scale)
    if op.kind == "table":
        function = TABLES[case.function]
        real = np.array([function(float(v)) for v in inputs[0].ravel()]).reshape(y.shape)
    else:
        real = REAL[op.kind](op.attrs, y.shape, *inputs)
    if y.qparams is None:
        return real
    low, high = getattr(op.attrs, "out_min", y.q.qmin), getattr(op.attrs, "out_max", y.q.qmax)
    return np.clip(np.nan_to_num(real / y.q.s + y.q.z, nan=low, posinf=high, neginf=low), low, high)


def telling(cases: list[Case]) -> int:
    """Outputs that are not the nearest integer to the true value."""
    return sum(int((np.abs(case.expected - steps(case)) > 0.5 + 1e-9).sum()) for case in cases)


def reference(case: Case) -> Array:
    op = case.graph.ops[0]
    return operator(op.kind).reference(op, case.graph, case.arrays)[0]


def test_every_operator_has_a_golden_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(KINDS)
    assert len(KINDS) >= 16
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 60_000


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_gives_what_is_written(kind: str) -> None:
    cases = load(kind)
    assert cases
    for case in cases:
        got = reference(case)
        assert (got.dtype, got.shape) == (case.expected.dtype, case.expected.shape), case.name
        assert got.tobytes() == case.expected.tobytes(), case.name
        assert case.graph.outs(case.graph.ops[0])[0].shape == case.expected.shape, case.name


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_within_half_a_step_of_the_truth(kind: str) -> None:
    for case in load(kind):
        true = steps(case)
        if case.expected.dtype == np.float32:
            np.testing.assert_allclose(case.expected, true, rtol=2.0**-23, err_msg=case.name)
        else:
            assert np.abs(case.expected - true).max() <= 0.51, case.name
            assert len(np.unique(case.expected)) > 4, f"{case.name}: nearly all outputs are alike"


@pytest.mark.parametrize("kind", TELLS)
def test_the_file_tells_the_integer_arithmetic_from_rounded_reals(kind: str) -> None:
    assert telling(load(kind)) > 0


@pytest.mark.parametrize("kind", [k for k in KINDS if not operator(k).view])
def test_every_kernel_of_every_tier_gives_what_is_written(kind: str) -> None:
    cases = load(kind)
    for case in cases:
        assert reference(case).tobytes() == case.expected.tobytes(), case.name  # which check_kernels compares with
    checked = check_kernels((case.graph, case.inputs) for case in cases)
    assert checked.by_tier == dict.fromkeys(TIERS, len(cases))


def test_tables_are_made_as_they_were() -> None:
    for case in load("table"):
        x, table = case.graph.ins(case.graph.ops[0])
        y = case.graph.outs(case.graph.ops[0])[0]
        assert table.data is not None
        made, _ = function_table(FUNCTIONS[case.function], x.q, y.q, y.q.qmin, y.q.qmax)
        assert made.tolist() == table.data.tolist(), case.name


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_strict_json_as_the_recorder_writes_it(kind: str) -> None:
    text = path_of(kind).read_text(encoding="utf-8")
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert dump(load(kind)) == text
