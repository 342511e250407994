"""program.json: what a compiled folder says about itself, and what its report is made from."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rushlight.errors import RushlightError
from rushlight.graph import Source, Tensor
from rushlight.schedule.types import ALIGN, Call, Lifetime, Schedule, params_size
from rushlight.target.costs import Cost, costs

#: Changes when the meaning of a key does.
FORMAT = 1


def program_facts(schedule: Schedule) -> dict[str, Any]:
    """The content of program.json: JSON values only, the same for the same schedule."""
    target = schedule.target
    board = target.board
    return {
        "format": FORMAT,
        "rushlight": rushlight_version(),
        "name": schedule.graph.name,
        "target": target.requested,
        "core": target.core.name,
        "tiers": list(target.core.tiers),
        "board": board.name,
        "board_title": board.title,
        "target_note": target.note,
        "regions": [{"name": r.name, "kind": r.kind, "bytes": r.size} for r in board.regions],
        "rom": board.rom.name,
        "ram": board.ram.name,
        "stack": board.stack,
        "inputs": [_tensor(tensor, schedule) for tensor in schedule.inputs],
        "outputs": [_tensor(tensor, schedule) for tensor in schedule.outputs],
        "arena": {"bytes": schedule.plan.bytes, "lower_bound": schedule.plan.lower_bound, "align": ALIGN},
        "flash": {"constants": schedule.constant_bytes, "parameters": schedule.parameter_bytes},
        "macs": sum(call.macs for call in schedule.calls),
        "cost": _total(schedule),
        "layers": [_layer(call, schedule) for call in schedule.calls],
        "buffers": [
            {"name": b.name, "bytes": b.size, "region": b.region, "offset": b.offset, "first": b.first, "last": b.last}
            for b in schedule.buffers.values()
            if b.lifetime is Lifetime.TEMPORARY
        ],
        "notes": [{"kind": n.kind, "where": n.where, "text": n.text} for n in schedule.graph.notes],
    }


def read_program(folder: Path) -> dict[str, Any]:
    """The content of a compiled folder's program.json.

    Raises:
        RushlightError: the folder is not a compiled one, or not of this version's format, or the file is damaged.
    """
    file = folder / "program.json"
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RushlightError(f"{folder} is not a compiled folder: it has no {file.name}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise RushlightError(f"{file}: cannot be read: {error}; compile the model again") from None
    if not isinstance(facts, dict):
        raise RushlightError(f"{file}: is not a JSON object; compile the model again")
    if facts.get("format") != FORMAT:
        by = f" by Rushlight {facts['rushlight']}" if isinstance(facts.get("rushlight"), str) else ""
        raise RushlightError(
            f"{file}: was written{by} in format {facts.get('format')!r}, this version reads {FORMAT}; "
            "compile the model again"
        )
    return facts


def rushlight_version() -> str:
    """The installed version."""
    try:
        return version("rushlight")
    except PackageNotFoundError:
        return "unknown"


def to_json(facts: dict[str, Any]) -> str:
    """The text of program.json."""
    return json.dumps(facts, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def place_in_source(source: Source) -> str:
    """``model.py:41``: without the folder, so that the same model gives the same bytes on each machine."""
    return f"{Path(source.file).name}:{source.line}" if source.file else ""


def affine(scale: float, zero_point: int) -> str:
    """``real = 0.5 * (value + 3)``: what the integers of a tensor mean; nine digits tell every float32 apart."""
    if not zero_point:
        return f"real = {scale:.9g} * value"
    return f"real = {scale:.9g} * (value {'-' if zero_point > 0 else '+'} {abs(zero_point)})"


def _tensor(tensor: Tensor, schedule: Schedule) -> dict[str, Any]:
    q = tensor.qparams if tensor.dtype.value.startswith("int") else None
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype.value,
        "scale": q.s if q is not None else None,
        "zero_point": q.z if q is not None else None,
        "layout": schedule.graph.layouts.get(tensor.name, "model"),
    }


def _layer(call: Call, schedule: Schedule) -> dict[str, Any]:
    op, kernel, graph = call.op, call.kernel, schedule.graph
    return {
        "name": op.name,
        "module": op.source.module,
        "source": place_in_source(op.source),
        "op": op.kind,
        "inputs": [list(graph[op.inputs[index]].shape) for index in kernel.reads],
        "output": list(graph[op.outputs[0]].shape),
        "macs": call.macs,
        "kernel": kernel.symbol,
        "tier": kernel.tier,
        "scratch": kernel.scratch if kernel.takes_scratch else 0,
        "weights": sum(int(schedule.constants[name].data.nbytes) for name in call.constants),
        "parameters": params_size(kernel),
        "note": kernel.note,
        **_figures(call.cost, schedule),
    }


def _figures(cost: Cost | None, schedule: Schedule) -> dict[str, Any]:
    """Estimated instructions, cycles and milliseconds at the board's clock; None where there is no figure."""
    cycles = None if cost is None else cost.cycles
    return {
        "instructions": None if cost is None else round(cost.instructions),
        "cycles": None if cycles is None else round(cycles),
        "ms": None if cycles is None else float(f"{1000 * cycles / schedule.target.board.clock_hz:.4g}"),
    }


def _total(schedule: Schedule) -> dict[str, Any]:
    """The whole run's estimates, and for which compiler and how exactly they hold."""
    known = [call.cost for call in schedule.calls if call.cost is not None]
    table = costs()
    whole = None
    if len(known) == len(schedule.calls):
        cycles = [cost.cycles for cost in known if cost.cycles is not None]
        whole = Cost(sum(cost.instructions for cost in known), sum(cycles) if len(cycles) == len(known) else None)
    return {
        **_figures(whole, schedule),
        "clock_hz": schedule.target.board.clock_hz,
        "compiler": table.compiler,
        "flags": table.flags,
        "instruction_error": table.instruction_error,
        "cycle_error": table.cycle_errors.get(schedule.target.core.name),
    }
