"""Rooms import as DESIGN.md says, and importing the package is light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rushlight

PACKAGE = Path(rushlight.__file__).parent
DESIGN = Path(__file__).parents[2] / "DESIGN.md"
#: These load torch when they are called, or are called by someone who has loaded it.
KNOW_TORCH = {"capturing", "quantization", "frontend", "integrations"}
HEAVY = ("torch", "torchao", "typer", "rich", "jinja2", "matplotlib", "scipy", "elftools")


def floors() -> list[set[str]]:
    """The floors from DESIGN.md's sentence: "`a` → `b` → `c`, `d` → …"."""
    sentence = re.search(r"imports floors above its own, never below: (.*?);", DESIGN.read_text(), re.DOTALL)
    assert sentence, "DESIGN.md no longer states the floors"
    return [set(re.findall(r"`(\w+)`", floor)) for floor in sentence[1].split("→")]


def room_of(module: str) -> str:
    """``rushlight.ops.base`` → ``ops``; ``python -m rushlight`` is the command line."""
    return module.split(".")[1].replace("__main__", "cli") if "." in module else "rushlight"


def module_name(file: Path) -> str:
    parts = ("rushlight", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    return {module_name(file): ast.parse(file.read_text(), str(file)) for file in sorted(PACKAGE.rglob("*.py"))}


def imports(tree: ast.AST, package: str, *, inside_functions: bool = True) -> Iterator[tuple[str, int]]:
    """Imported modules and their lines. What stands under ``if TYPE_CHECKING:`` is never run and is left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.FunctionDef) and not inside_functions:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{package}: relative import in line {node.lineno}"
            assert node.module is not None
            # `from rushlight import api` imports rushlight.api
            names = [f"{node.module}.{a.name}" for a in node.names] if node.module == "rushlight" else [node.module]
            yield from ((name, node.lineno) for name in names)
        else:
            yield from imports(node, package, inside_functions=inside_functions)


def room_imports() -> dict[str, set[str]]:
    """Room → rooms it imports, at import or when called. ``__init__`` of the package stands above all and is left out."""
    found: dict[str, set[str]] = {}
    for name, tree in modules().items():
        if name == "rushlight":
            continue
        used = {room_of(module) for module, _ in imports(tree, name) if module.split(".")[0] == "rushlight"}
        found.setdefault(room_of(name), set()).update(used - {room_of(name)})
    return found


def test_every_room_stands_on_one_floor() -> None:
    named = [room for floor in floors() for room in sorted(floor)]
    assert len(named) == len(set(named))
    rooms = {room_of(name) for name in modules()} - {"rushlight", "errors"}
    assert rooms == set(named)


def test_rooms_import_only_their_own_floor_and_those_above() -> None:
    height = {room: i for i, floor in enumerate(floors(), 1) for room in floor} | {"errors": 0}
    checked = 0
    wrong = []
    for name, tree in modules().items():
        if name == "rushlight":
            continue
        for module, line in imports(tree, name):
            if module.split(".")[0] != "rushlight":
                continue
            checked += 1
            if height[room_of(module)] > height[room_of(name)]:
                wrong.append(f"{name}:{line} imports {module}")
    assert not wrong, "\n".join(wrong)
    assert checked > 200


def test_rooms_do_not_import_each_other_in_a_circle() -> None:
    try:
        list(TopologicalSorter(room_imports()).static_order())
    except CycleError as error:
        pytest.fail(f"rooms import each other in a circle: {error.args[1]}")


def test_torch_is_known_to_four_rooms_alone() -> None:
    checked = 0
    for name, tree in modules().items():
        room = room_of(name)
        if room in KNOW_TORCH:
            continue
        # The command line and the public functions may load it when they are called.
        lazily = room in ("api", "cli")
        for module, line in imports(tree, name, inside_functions=not lazily):
            checked += 1
            assert module.split(".")[0] not in ("torch", "torchao"), f"{name}:{line} imports {module}"
    assert checked > 200


def modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import rushlight",
        "from rushlight import RushlightError, UnsupportedError",
        "import rushlight; rushlight.__version__; dir(rushlight)",
    ],
)
def test_importing_the_package_is_light(statement: str) -> None:
    loaded = modules_after(statement)
    assert "rushlight" in loaded
    assert not loaded.intersection(HEAVY)
    assert "numpy" not in loaded


@pytest.mark.parametrize(
    "room", ["target", "graph", "ops", "passes", "schedule", "emit", "firmware", "run", "report", "api", "cli"]
)
def test_a_room_that_does_not_know_torch_does_not_load_it(room: str) -> None:
    loaded = modules_after(f"import rushlight.{room}")
    assert f"rushlight.{room}" in loaded
    assert not loaded.intersection({"torch", "torchao"})


def test_a_public_function_stays_itself_when_other_rooms_are_loaded() -> None:
    """A package that had a function's name would hide it as soon as it is imported."""
    code = (
        "import rushlight.frontend, rushlight.passes, rushlight.api, rushlight.integrations\n"
        "import rushlight as rl\n"
        "assert all(callable(getattr(rl, name)) for name in rl.__all__ if not name.startswith('__')), "
        "{name: getattr(rl, name) for name in rl.__all__}\n"
    )
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
