"""Estimated cycles: classes of instructions, their costs, and windows of a trace that agree with the counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.baselines import CORES, layers
from bench.counting import Choice, kernel, measure, work
from bench.cycles import COSTS, ERRORS, Estimator, Instruction, classify
from bench.timing import STOP, time_calls, time_net
from bench.trace import Runs, trace
from rushlight.errors import RushlightError
from rushlight.target import resolve

AD = [layer for layer in layers() if layer.net == "AD"]


@pytest.mark.parametrize(
    ("text", "kind", "registers"),
    [
        ("ldrsb.w\tr3, [r1, #1]", "load", 1),
        ("ldr\tr0, [pc, #8]", "load", 1),
        ("ldr\tpc, [sp], #4", "pop pc", 1),
        ("ldrd\tr0, r1, [r9], #8", "multiple", 2),
        ("strb\tr3, [r2, #0]", "store", 1),
        ("ldmia.w\tr9!, {r0, r1, r2, r3}", "multiple", 4),
        ("push\t{r4, r5, r6, r7, r8, r9, sl, fp, lr}", "multiple", 9),
        ("pop\t{r4-r7, pc}", "pop pc", 5),
        ("bne.n\t1a2 <f>", "branch", 1),
        ("bls.n\t1a2 <f>", "branch", 1),
        ("blt.n\t1a2 <f>", "branch", 1),
        ("bl\t1a2 <f>", "call", 1),
        ("bx\tlr", "bx", 1),
        ("bic.w\tr0, r0, #3", "other", 1),
        ("cbz\tr3, 1a2 <f>", "branch", 1),
        ("tbb\t[pc, r2]", "table", 1),
        ("letp\tlr, 1a2 <f>", "loop end", 1),
        ("dlstp.8\tlr, r3", "loop start", 1),
        ("itt\tgt", "it", 1),
        ("mla\tr0, r1, r2, r0", "mla", 1),
        ("smlad\tr0, r1, r2, r0", "other", 1),
        ("smull\tr0, r1, r2, r3", "long multiply", 1),
        ("udiv\tr0, r1, r2", "divide", 1),
        ("vldrb.8\tq0, [r5], #16", "vector load", 1),
        ("vldrb.u8\tq0, [r1, q2]", "gather", 1),
        ("vstrb.32\tq0, [r1], #4", "vector store", 1),
        ("vmladava.s8\tr4, q0, q1", "vector", 1),
        ("vctp.8\tr3", "predicate", 1),
        ("vldr\ts0, [r1]", "fp load", 1),
        ("vmla.f32\ts0, s1, s2", "fp mla", 1),
        ("vmul.f32\ts0, s1, s2", "fp", 1),
    ],
)
def test_instructions_are_classed_by_what_objdump_calls_them(text: str, kind: str, registers: int) -> None:
    mnemonic, operands = text.split("\t")
    assert classify(0, mnemonic, operands) == Instruction(0, kind, registers)


def test_cycles_are_those_of_the_reference_manuals() -> None:
    """A loop of ldrb, ldrb, muls, adds, subs, bne, ten times, and pop {r4, pc}."""
    listing = [Instruction(2 * i, kind) for i, kind in enumerate(["load", "load", "other", "other", "other", "branch"])]
    listing.append(Instruction(12, "pop pc", 2))
    window = {i.address: Runs(10, 0) for i in listing[:5]} | {10: Runs(10, 9), 12: Runs(1, 1)}
    for core, cycles in {
        "cortex-m0": 10 * (2 + 2 + 3 + 1) + 9 * 2 + 5,  # loads 2, a taken branch 3, a pop with pc 4 and one a register
        "cortex-m0plus": 10 * (2 + 2 + 3 + 1) + 9 * 1 + 4,
        "cortex-m3": 10 * (2 + 1 + 3 + 1) + 9 * 2 + 5,  # a load behind a load 1
        "cortex-m4": 10 * (2 + 1 + 3 + 1) + 9 * 2 + 5,
    }.items():
        estimator = Estimator.__new__(Estimator)
        estimator.elf, estimator.target, estimator._listing = Path(), resolve(core), listing
        assert estimator.cycles(window) == cycles, core


def test_every_model_says_how_far_off_it_may_be() -> None:
    assert set(COSTS) <= set(ERRORS)


@pytest.mark.parametrize("core", ["m0p", "m33", "m55"])
def test_a_layers_cycles_come_with_the_count_of_the_bench(core: str) -> None:
    shapes = AD[4:6]
    works = [some for shape in shapes if (some := work(shape)) is not None]
    timings = time_calls(works, [kernel(shape, core) for shape in shapes], resolve(CORES[core]), "gcc")
    rows = measure(Choice(("AD",), (core,), ("gcc",), (4, 5))).rows
    for timing, row in zip(timings, rows, strict=True):
        assert abs(timing.instructions - row.instructions) <= 4
        assert 0.6 < timing.ratio < 2.5


def test_a_nets_cycles_are_about_those_of_its_layers() -> None:
    works = [some for shape in AD if (some := work(shape)) is not None]
    layers_cycles = sum(t.cycles for t in time_calls(works, [kernel(s, "m4") for s in AD], resolve("cortex-m4"), "gcc"))
    assert time_net("AD", "cortex-m4", "gcc").cycles == pytest.approx(layers_cycles, rel=0.01)


def test_a_plugin_that_never_stops_is_an_error() -> None:
    from bench.nets import net, program

    elf = program("AD", "cortex-m4", "gcc")
    sample = net("AD").input.tobytes()
    with pytest.raises(RushlightError, match="plugin counted nothing"):
        trace(elf, resolve("cortex-m4"), [sample], 640, ["rl_port_exit"], STOP)
