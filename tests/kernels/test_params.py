"""Every parameter block that Python packs has the C struct's fields, sizes and offsets, on the host and on Arm."""

from __future__ import annotations

import importlib
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import rushlight.ops
from rushlight.ops.base import CTYPES, ParamsType
from tests.kernels.harness import KERNELS


def blocks() -> dict[str, ParamsType]:
    """The parameter blocks that modules of rushlight.ops declare, by C name."""
    found: dict[str, ParamsType] = {}
    for info in pkgutil.iter_modules(rushlight.ops.__path__):
        module = importlib.import_module(f"rushlight.ops.{info.name}")
        for value in vars(module).values():
            group = value.values() if isinstance(value, dict) else [value]
            found |= {v.c_name: v for v in group if isinstance(v, ParamsType)}
    return found


def header(c_name: str) -> str:
    """The header that defines the struct, below device/kernels."""
    paths = [p for p in KERNELS.rglob("*.h") if re.search(rf"}} {c_name};", p.read_text())]
    assert len(paths) == 1, (c_name, paths)
    return str(paths[0].relative_to(KERNELS))


def assertions(block: ParamsType) -> list[str]:
    """Static assertions that the struct is laid out as ``block.pack`` writes it."""
    lines, offset = [], 0
    for name, ctype, count in block.fields:
        size = CTYPES[ctype].itemsize * count
        lines.append(f'_Static_assert(offsetof({block.c_name}, {name}) == {offset}, "{name}: offset");')
        lines.append(f'_Static_assert(sizeof((({block.c_name} *)0)->{name}) == {size}, "{name}: size");')
        kind = f"_Generic((({block.c_name} *)0)->{name}" + ("[0]" if count > 1 else "")
        lines.append(f'_Static_assert({kind}, {ctype}: 1, default: 0), "{name}: type");')
        offset += size
    return [*lines, f'_Static_assert(sizeof({block.c_name}) == {offset}, "size");']


BLOCKS = blocks()


def test_blocks_are_found() -> None:
    assert {"rl_linear_params", "rl_conv2d_params", "rl_concat32_params"} <= set(BLOCKS)


@pytest.mark.parametrize("compiler", ["gcc", "arm-none-eabi-gcc"])
@pytest.mark.parametrize("c_name", sorted(BLOCKS))
def test_packed_block_is_laid_out_as_the_struct(c_name: str, compiler: str, tmp_path: Path) -> None:
    assert shutil.which(compiler), f"{compiler} is not installed"
    lines = ["#include <stddef.h>", f'#include "{header(c_name)}"', *assertions(BLOCKS[c_name])]
    source = tmp_path / "params.c"
    source.write_text("\n".join(lines) + "\n")
    command = [compiler, "-std=c11", "-ffreestanding", "-fsyntax-only", f"-I{KERNELS}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
