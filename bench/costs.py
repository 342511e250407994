"""``python -m bench.costs``: fits what kernels cost to measured calls, for the estimates of reports.

Random layers of every operator (``geometries.py``) are run with every kernel that a core has; the instructions are fitted as a
sum over the kernel's loops (``Operator.features``), none negative, each call counting alike. Other random layers say how good
the fit is. ``--update`` stores it in ``src/rushlight/target/costs.json``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bench.baselines import CORES, NETS
from bench.cycles import COSTS, ERRORS
from bench.geometries import MAKERS, random_layers
from bench.measure import Work, count_calls, prune
from bench.nets import count_net, schedule
from bench.timing import time_calls
from rushlight.errors import RushlightError
from rushlight.firmware.toolchains import pick
from rushlight.ops import operator
from rushlight.ops.base import Kernel
from rushlight.target import resolve
from rushlight.target.costs import DATA

#: As a folder is built unless told otherwise: these are the figures that a report states.
COMPILER, OPT = "gcc", "-O2"
#: Core → target that its code is run on.
TARGETS = {
    "cortex-m0": "cortex-m0@mps2-an385",
    "cortex-m0plus": "cortex-m0plus@mps2-an385",
    "cortex-m23": "cortex-m23",
    "cortex-m3": "cortex-m3",
    "cortex-m4": "cortex-m4",
    "cortex-m7": "cortex-m7",
    "cortex-m33": "cortex-m33",
    "cortex-m55": "cortex-m55",
}
#: Cores that compilers make the same code for.
STAND_INS = {"cortex-m35p": "cortex-m33", "cortex-m85": "cortex-m55"}
#: How far the instructions of a whole network may be off, as a share: what the tests hold.
INSTRUCTION_ERROR = 0.05
FITTED, JUDGED = 1, 2  # seeds
#: These operators have more kernels and more loops.
_MORE = {"conv2d": 2, "depthwise_conv2d": 3}
#: Calls of a kernel whose cycles are estimated.
_TRACED = 10


@dataclass(frozen=True)
class Call:
    """A measured call."""

    work: Work
    kernel: Kernel
    instructions: int

    @property
    def features(self) -> Mapping[str, float]:
        """Those that are not 0."""
        found = operator(self.work.op.kind).features(self.kernel)
        return {name: count for name, count in found.items() if count}


@dataclass(frozen=True)
class Fit:
    """Instructions of each feature, cycles an instruction, and the errors, as shares, on calls that nothing was fitted to."""

    instructions: Mapping[str, float]
    cycles: float | None
    errors: NDArray[np.float64]


def measured_calls(core: str, count: int, seed: int) -> dict[str, list[Call]]:
    """Every kernel of a core on random layers of its operator, by its C function.

    Raises:
        RushlightError: a kernel gave another answer than the reference, or something could not be built or run.
    """
    target = resolve(TARGETS[core])
    jobs: list[tuple[Work, Kernel]] = []
    for kind in MAKERS:
        for work in random_layers(kind, count * _MORE.get(kind, 1), seed):
            jobs += [(work, k) for k in operator(kind).kernels(work.op, work.graph, target.core.tiers)]
    counts = count_calls([work for work, _ in jobs], [k for _, k in jobs], target, COMPILER, OPT)
    calls: dict[str, list[Call]] = defaultdict(list)
    for (work, kernel), instructions in zip(jobs, counts, strict=True):
        if instructions is None:
            raise RushlightError(f"{core}: {kernel.symbol} gives another answer than the reference; run its tests")
        calls[kernel.symbol].append(Call(work, kernel, instructions))
    return calls


def fit_instructions(calls: Sequence[Call]) -> dict[str, float]:
    """Non-negative instructions of each feature, such that the relative errors are least."""
    names = sorted({name for call in calls for name in call.features})
    table = np.array([[call.features.get(name, 0.0) for name in names] for call in calls])
    counts = np.array([call.instructions for call in calls], np.float64)
    relative = table / counts[:, None]
    scale = np.maximum(relative.max(axis=0), 1e-30)
    found, _ = nnls(relative / scale, np.ones(len(calls)), maxiter=100 * len(names))
    return {name: float(f"{value:.5g}") for name, value in zip(names, found / scale, strict=True)}


def errors(instructions: Mapping[str, float], calls: Sequence[Call]) -> NDArray[np.float64]:
    """Estimated to measured, less 1, of each call; one that has a feature of its own is left out."""
    known = [call for call in calls if call.features.keys() <= instructions.keys()]
    return np.array(
        [sum(instructions[n] * v for n, v in call.features.items()) / call.instructions - 1 for call in known]
    )


def cycles_an_instruction(core: str, calls: Mapping[str, Sequence[Call]]) -> dict[str, float]:
    """Each kernel's estimated cycles an instruction, the mean over some of its calls; none without a model of the core."""
    if core not in COSTS:
        return {}
    some = [call for of_kernel in calls.values() for call in of_kernel[:_TRACED]]
    works, kernels = [call.work for call in some], [call.kernel for call in some]
    ratios: dict[str, list[float]] = defaultdict(list)
    for kernel, timing in zip(kernels, time_calls(works, kernels, resolve(TARGETS[core]), COMPILER, OPT), strict=True):
        ratios[kernel.symbol].append(timing.ratio)
    return {symbol: float(np.mean(values)) for symbol, values in ratios.items()}


def fit_core(core: str, count: int) -> dict[str, Fit]:
    """All kernels of a core that say how often their loops run."""
    calls = {s: c for s, c in measured_calls(core, count, FITTED).items() if c[0].features}
    judged = measured_calls(core, max(4, count // 4), JUDGED)
    cycles = cycles_an_instruction(core, calls)
    found: dict[str, Fit] = {}
    for symbol, of_kernel in calls.items():
        instructions = fit_instructions(of_kernel)
        ratio = cycles.get(symbol)
        rounded = None if ratio is None else float(f"{ratio:.4g}")
        found[symbol] = Fit(instructions, rounded, errors(instructions, judged.get(symbol, ())))
    return found


def stored(fits: Mapping[str, Mapping[str, Fit]], old: Mapping[str, object]) -> str:
    """The text of costs.json: a kernel a line; cores that were not fitted keep their lines."""
    cores = dict(old.get("cores", {})) if isinstance(old.get("cores"), dict) else {}  # type: ignore[call-overload]
    for core, of_core in fits.items():
        cores[core] = {
            symbol: {"cycles_per_instruction": fit.cycles, "instructions": dict(fit.instructions)}
            for symbol, fit in sorted(of_core.items())
        }
    version = re.sub(r"\s*\([^)]*\)|\s+\d{8}$", "", pick(COMPILER).version)  # without the packager's mark and a date
    head = {
        "version": 1,
        "compiler": version,
        "flags": OPT,
        "made_by": "python -m bench.costs --update",
        "stand_ins": STAND_INS,
        "instruction_error": INSTRUCTION_ERROR,
        "cycle_errors": ERRORS,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    blocks = []
    for core in (c for c in TARGETS if c in cores):
        rows = ",\n".join(f"   {json.dumps(s)}: {json.dumps(entry)}" for s, entry in cores[core].items())
        blocks.append(f"  {json.dumps(core)}: {{\n{rows}\n  }}")
    return "\n".join(["{", *lines, ' "cores": {', ",\n".join(blocks), " }", "}", ""])


def print_nets() -> None:
    """Each whole net's estimate by the stored table beside its count, on the cores that the bench has."""
    for name in NETS:
        for target in CORES.values():
            estimated = [call.cost for call in schedule(name, target).calls]
            measured = count_net(name, target, COMPILER, OPT)
            known = [cost.instructions for cost in estimated if cost is not None]
            if measured is None or len(known) < len(estimated):
                print(f"{name:<4} {target:<26} no figure, or another answer than the reference's")
                continue
            print(f"{name:<4} {target:<26} {measured:>12,} {sum(known):>12,.0f} {sum(known) / measured - 1:>+7.2%}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.costs", description=__doc__)
    parser.add_argument("--core", action="append", choices=list(TARGETS), help="these cores alone")
    parser.add_argument("--count", type=int, default=150, help="layers of each operator")
    parser.add_argument("--update", action="store_true", help="store the fit")
    parser.add_argument("--nets", action="store_true", help="compare the stored table with whole nets, and fit nothing")
    args = parser.parse_args(arguments)
    if args.nets:
        print_nets()
        return 0
    cores = args.core or list(TARGETS)
    prune()
    try:
        with ThreadPoolExecutor(2) as pool:
            fits = dict(zip(cores, pool.map(lambda core: fit_core(core, args.count), cores), strict=True))
    except RushlightError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    print(f"{'core':<14} {'kernel':<32} {'median':>7} {'worst':>7}  cycles an instruction")
    for core, of_core in fits.items():
        for symbol, fit in sorted(of_core.items()):
            off = np.abs(fit.errors) if fit.errors.size else np.array([np.nan])
            ratio = "none" if fit.cycles is None else f"{fit.cycles:.2f}"
            print(f"{core:<14} {symbol:<32} {np.median(off):>7.1%} {off.max():>7.1%}  {ratio}")
    if args.update:
        old = json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else {}
        DATA.write_text(stored(fits, old), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
