"""Does a program fit into the board's memory? If not: which region, by how many bytes, and what is largest."""

from __future__ import annotations

from collections.abc import Iterable

from rushlight.errors import RushlightError
from rushlight.schedule.types import Call, Lifetime, Schedule, round_up

_SHOWN = 3


class DoesNotFit(RushlightError):
    """The program is too big for a region of the board's memory."""


def check_fits(schedule: Schedule) -> None:
    """Raises DoesNotFit if constants exceed the flash, or arena, inputs, outputs and stack the RAM.

    Code is not counted: it is known only when built, and then the linker checks.
    """
    board = schedule.target.board
    flash = schedule.constant_bytes + schedule.parameter_bytes
    if flash > board.rom.size:
        layers = [
            (sum(int(schedule.constants[name].data.nbytes) for name in call.constants), _layer(call))
            for call in schedule.calls
        ]
        raise DoesNotFit(
            f"the model does not fit board {board.name}: its constants take {flash} bytes of region '{board.rom.name}', "
            f"which has {board.rom.size}: {flash - board.rom.size} too many; largest: {_largest(layers)}; "
            f"choose a target with more flash, or a smaller model"
        )
    arena, stack = schedule.plan.bytes, board.stack if board.fast == board.ram else 0
    given = [b for b in schedule.buffers.values() if b.lifetime in (Lifetime.INPUT, Lifetime.OUTPUT)]
    io = sum(round_up(b.size) for b in given)
    need = arena + io + stack
    if need > board.ram.size:
        buffers = [(b.size, f"'{b.name}'") for b in schedule.buffers.values()]
        raise DoesNotFit(
            f"the model does not fit board {board.name}: it takes {need} bytes of region '{board.ram.name}' "
            f"(arena {arena}, inputs and outputs {io}, stack {stack}), which has {board.ram.size}: "
            f"{need - board.ram.size} too many; largest tensors: {_largest(buffers)}; "
            f"choose a target with more RAM, or a smaller model"
        )


def _layer(call: Call) -> str:
    return f"'{call.op.source.module or call.op.name}'"


def _largest(sizes: Iterable[tuple[int, str]]) -> str:
    top = sorted((entry for entry in sizes if entry[0]), key=lambda entry: (-entry[0], entry[1]))[:_SHOWN]
    return ", ".join(f"{name} {size} bytes" for size, name in top)
