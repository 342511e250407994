"""What a run of the harness gives, and the files through which it does."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from rushlight.errors import RushlightError

INPUT_FILE = "in.bin"
OUTPUT_FILE = "out.bin"
STATS_FILE = "stats.bin"
# What a counter reads once it has run over.
_TICKS_MAX = 2**32 - 1


@dataclass(frozen=True)
class RunResult:
    """Outputs of a run, a blob a sample.

    Attributes:
        outputs: for each sample its outputs one after another, without padding.
        instructions: instructions of each sample's inference; empty where they are not counted.
        stack_bytes: the deepest stack of an inference below its caller; 0 where it is not measured.
    """

    outputs: list[bytes]
    instructions: list[int]
    stack_bytes: int


def write_inputs(folder: Path, inputs: Sequence[bytes]) -> None:
    """Writes the samples for the harness."""
    (folder / INPUT_FILE).write_bytes(b"".join(inputs))


def read_result(folder: Path, samples: int, output_bytes: int, ticks_per_instruction: Fraction | None) -> RunResult:
    """Reads what the harness wrote.

    Args:
        folder: where it ran.
        samples: how many samples it had.
        output_bytes: size of one sample's outputs.
        ticks_per_instruction: of the board's counter; None if instructions were not counted.

    Raises:
        RushlightError: the files do not hold so many samples, or a count does not fit its 32 bits.
    """
    data = (folder / OUTPUT_FILE).read_bytes()
    stats = np.frombuffer((folder / STATS_FILE).read_bytes(), dtype="<u4").tolist()
    if len(data) != samples * output_bytes or len(stats) != samples + 2:
        raise RushlightError(
            f"the program wrote {len(data)} bytes for {samples} samples of {output_bytes} bytes; "
            f"inputs and program do not belong together: compile the model again"
        )
    outputs = [data[i * output_bytes : (i + 1) * output_bytes] for i in range(samples)]
    if ticks_per_instruction is None:
        return RunResult(outputs, [], stats[-1])
    if _TICKS_MAX in stats[:-1]:
        limit = _instructions(_TICKS_MAX, ticks_per_instruction)
        raise RushlightError(
            f"an inference takes more than {limit / 1e9:.1f} G instructions, which the board's counter cannot count; "
            f"run without counting: icount=False"
        )
    empty, *ticks = (_instructions(value, ticks_per_instruction) for value in stats[:-1])
    return RunResult(outputs, [value - empty for value in ticks], stats[-1])


def _instructions(ticks: int, per_instruction: Fraction) -> int:
    """Instructions since the counter's start, exactly.

    The counter shows floor(n · per_instruction) after n instructions. An instruction is longer than a tick, so n is the
    smallest number that gives the count: ceil(ticks / per_instruction).
    """
    return -((-ticks * per_instruction.denominator) // per_instruction.numerator)
