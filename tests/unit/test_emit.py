"""The emitted folder: strict C that gives the reference's answers, from any names, and builds without Python."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rushlight.graph import DType, Graph, QParams, Source
from rushlight.ops.interpreter import run_graph
from rushlight.run import run_folder
from tests.unit.emit_build import STRICT, call, emitted, include_flags, library, run, sources
from tests.unit.emit_graphs import Builder, small_net

CHECKOUT = Path(__file__).resolve().parents[2]


def samples(graph: Graph, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        rng.integers(-128, 128, graph[n].shape).astype(np.int8)
        if graph[n].dtype is DType.INT8
        else (rng.standard_normal(graph[n].shape) * 4).astype(np.float32)
        for n in graph.inputs
    ]


def check(graph: Graph, lib: ctypes.CDLL) -> None:
    for seed in range(5):
        inputs = samples(graph, seed)
        for got, want in zip(call(lib, graph, inputs), run_graph(graph, inputs), strict=True):
            assert np.array_equal(got, want)


def branches() -> Graph:
    """Two inputs, float and int8; three outputs, among them an int8 view; a function over its dying input."""
    b = Builder("branches")
    q = b.quantize(b.input("left", (2, 10)), "q")
    r = b.input("right", (3, 6), DType.INT8)
    a = b.table(b.linear(q, 7, "a"), "a2")
    c = b.linear(b.table(r, "r2"), 4, "c")
    d = b.linear(q, 20, "d")
    return b.graph(b.reshape(c, (12,), "flat"), b.dequantize(a, "real"), b.dequantize(d, "more"))


def image() -> Graph:
    """Convolutions, whose parameter blocks embed a window, and whose kernels want scratch."""
    b = Builder("image")
    q = b.quantize(b.input("x", (1, 7, 6, 3)), "q")
    h = b.conv2d(b.conv2d(q, 8, 3, "c1"), 5, 1, "c2")
    return b.graph(b.dequantize(b.linear(b.reshape(h, (1, 210), "flat"), 10, "fc"), "y"))


def test_the_header_states_layout_scale_and_zero_point(tmp_path: Path) -> None:
    b = Builder("net")
    graph = b.graph(b.table(b.input("x", (1, 2, 2, 3), DType.INT8), "y"))
    graph = replace(graph, layouts={"x": "NHWC"})
    x, y = (replace(graph[n], qparams=QParams((s,), (z,))) for n, s, z in (("x", 0.125, -2), ("y", 1 / 128, 0)))
    emitted(replace(graph, tensors={**graph.tensors, "x": x, "y": y}), tmp_path)
    header = (tmp_path / "model" / "net.h").read_text()
    assert " * x: input, int8 [1, 2, 2, 3] NHWC, real = 0.125 * (value + 2)\n" in header
    assert " * y: output, int8 [1, 2, 2, 3], real = 0.0078125 * value\n" in header
    assert "#define NET_X_SCALE 0.125f\n#define NET_X_ZERO_POINT (-2)\n" in header
    assert "#define NET_Y_SCALE 0.0078125f\n#define NET_Y_ZERO_POINT 0\n" in header


def test_a_float_program_has_no_scales(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path)
    assert "_SCALE" not in (tmp_path / "model" / "net.h").read_text()


@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("cc", ["gcc", "clang-19"])
def test_strict_c_gives_the_references_answers(tmp_path: Path, target: str, cc: str) -> None:
    for graph in (small_net(), branches(), image()):
        emitted(graph, tmp_path / graph.name, target)
        check(graph, library(tmp_path / graph.name, cc))


def test_the_arena_holds_nothing_between_runs(tmp_path: Path) -> None:
    graph = branches()
    schedule = emitted(graph, tmp_path / "out")
    lib = library(tmp_path / "out")
    arena = (ctypes.c_uint8 * schedule.plan.bytes).in_dll(lib, "branches_arena")
    for fill in (0x00, 0x7F, 0xFF):
        ctypes.memset(arena, fill, schedule.plan.bytes)
        check(graph, lib)


def test_null_and_misaligned_pointers_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "out")
    net_run = library(tmp_path / "out").net_run
    memory = np.zeros(256, np.uint8)
    x, y = memory.ctypes.data, memory.ctypes.data + 128
    for arguments, status in (((0, y), 1), ((x, 0), 1), ((x + 1, y), 2), ((x, y + 2), 2)):
        assert net_run(*map(ctypes.c_void_p, arguments)) == status
    assert not memory.any()
    assert net_run(ctypes.c_void_p(x), ctypes.c_void_p(y)) == 0


def test_the_model_has_no_global_but_its_arena_and_needs_nothing_but_mem(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "out")
    defined, needed = set(), set()
    for number, source in enumerate(sources(tmp_path / "out")):
        made = tmp_path / f"{number}.o"
        run(["gcc", *STRICT, "-c", *include_flags(tmp_path / "out"), source, "-o", made])
        for line in run(["nm", made]).splitlines():
            kind, name = line.split()[-2:]
            defined |= {name} if kind in "bBdDgGsSC" else set()
            needed |= {name} if kind == "U" else set()
    assert defined == {"net_arena"}
    rushlights = {name for name in needed if name.startswith(("rl_", "net_"))}
    assert needed - rushlights <= {"memcpy", "memmove", "memset", "memcmp", "_GLOBAL_OFFSET_TABLE_"}


def test_the_header_serves_cpp(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "out")
    (tmp_path / "use.cc").write_text(
        '#include "net.h"\n#include "rushlight/align.h"\nRL_ALIGN(16) static float x[NET_X_COUNT], y[NET_Y_COUNT];\n'
        "int main() { return net_run(x, y) == RL_OK && RL_IS_ALIGNED(x, 16) ? 0 : 1; }\n"
    )
    for cc, cxx in (("gcc", "g++"), ("clang-19", "clang++-19")):
        objects = []
        for number, source in enumerate(sources(tmp_path / "out")):
            objects.append(tmp_path / f"{cc}{number}.o")
            run([cc, *STRICT, "-c", *include_flags(tmp_path / "out"), source, "-o", objects[-1]])
        flags = ["-Wall", "-Wextra", "-Werror", *include_flags(tmp_path / "out")]
        run([cxx, *flags, tmp_path / "use.cc", *objects, "-o", tmp_path / "use"])
        run([tmp_path / "use"])


HOSTILE = [
    "int",
    "1 x",
    "*/ #error x /*",
    "größe",
    "NULL",
    "run",
    "arena",
    "net_run",
    "i",
    "X",
    "x",
    "rl_status",
    "",
    "exp",
]


def test_hostile_names_become_c_identifiers(tmp_path: Path) -> None:
    b = Builder()
    outputs = []
    for number, name in enumerate(HOSTILE):
        source = Source(f"{name}\\", f"/home/a/{name}??/model\n.py", number)
        b.linear(b.input(name, (1, 3), DType.INT8), 4, f"{name}.out", source)
        outputs.append(f"{name}.out")
    graph = b.graph(*outputs)
    emitted(graph, tmp_path / "out")
    for cc in ("gcc", "clang-19"):
        check(graph, library(tmp_path / "out", cc))
        run(
            [
                cc,
                *STRICT,
                "-c",
                *include_flags(tmp_path / "out"),
                tmp_path / "out" / "main.c",
                "-o",
                tmp_path / "main.o",
            ]
        )
    assert [t["name"] for t in json.loads((tmp_path / "out" / "program.json").read_text())["inputs"]] == HOSTILE


def contents(folder: Path) -> dict[Path, bytes]:
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_graph_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\nfrom tests.unit.emit_build import emitted\nfrom tests.unit.test_emit import branches\n"
        "emitted(branches(), pathlib.Path(sys.argv[1]))\n"
    )
    for seed, name in (("1", "one"), ("2", "two")):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / name)],
            check=True,
            timeout=120,
            cwd=CHECKOUT,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
        )
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert len(one) > 20
    assert one == two
    assert str(CHECKOUT).encode() not in b"".join(one.values())


def test_only_the_kernels_in_use_are_in_the_folder(tmp_path: Path) -> None:
    schedule = emitted(small_net(), tmp_path / "out", "cortex-m0")
    expected = {source for c in schedule.calls for source in c.kernel.sources}
    kernels = tmp_path / "out" / "kernels"
    assert {p.relative_to(kernels).as_posix() for p in kernels.rglob("*.c")} == expected
    headers = {p.relative_to(kernels).as_posix() for p in kernels.rglob("*.h")}
    assert {"linear/linear.h", "common/requant.h"} <= headers
    assert not any(name.startswith(("conv2d/", "softmax/")) for name in headers)


def test_written_c_is_in_the_projects_format(tmp_path: Path) -> None:
    emitted(small_net(), tmp_path / "small")
    emitted(branches(), tmp_path / "branches")
    emitted(image(), tmp_path / "image")
    for name in ("small", "branches", "image"):
        files = [*(tmp_path / name / "model").glob("*.[ch]"), tmp_path / name / "main.c"]
        run(["clang-format-19", f"--style=file:{CHECKOUT / '.clang-format'}", "--dry-run", "-Werror", *files])


def test_the_harness_on_this_pc_gives_the_references_answers(tmp_path: Path) -> None:
    graph = branches()
    emitted(graph, tmp_path / "out")
    inputs = samples(graph)
    for got, want in zip(run_folder(tmp_path / "out", inputs, "host").outputs, run_graph(graph, inputs), strict=True):
        assert np.array_equal(got, want)


def test_program_json_says_what_a_caller_must_know(tmp_path: Path) -> None:
    schedule = emitted(branches(), tmp_path / "out")
    program = json.loads((tmp_path / "out" / "program.json").read_text())
    assert program["inputs"][1] == {
        "name": "right",
        "shape": [3, 6],
        "dtype": "int8",
        "scale": 0.05,
        "zero_point": 3,
        "layout": "model",
    }
    assert [t["dtype"] for t in program["outputs"]] == ["int8", "float32", "float32"]
    assert (program["core"], program["board"], program["target"]) == ("cortex-m4", "mps2-an386", "cortex-m4")
    assert program["arena"]["bytes"] == schedule.plan.bytes >= program["arena"]["lower_bound"] > 0


@pytest.mark.parametrize("cc", ["arm-none-eabi-gcc", "clang-19"])
def test_make_builds_and_runs_the_example_without_python(tmp_path: Path, cc: str) -> None:
    emitted(small_net(), tmp_path / "out", "cortex-m3")
    said = run(["env", "-i", "PATH=/usr/bin:/bin", "make", "-C", tmp_path / "out", "run", f"CC={cc}"])
    assert "net: ok" in said
    on_chip = next(line for line in said.splitlines() if "largest" in line)
    run(["env", "-i", "PATH=/usr/bin:/bin", "make", "-C", tmp_path / "out", "host"])
    assert on_chip in run([tmp_path / "out" / "build" / "host" / "net"])


def test_a_program_without_temporaries_needs_no_arena(tmp_path: Path) -> None:
    b = Builder()
    graph = b.graph(b.dequantize(b.input("x", (5,), DType.INT8), "y"))
    schedule = emitted(graph, tmp_path / "out")
    assert schedule.plan.bytes == 0
    assert "net_arena" not in (tmp_path / "out" / "model" / "net.h").read_text()
    check(graph, library(tmp_path / "out"))


def test_the_source_place_is_named_without_its_folder(tmp_path: Path) -> None:
    b = Builder()
    h = b.linear(b.input("x", (1, 8), DType.INT8), 6, "fc", Source("body.fc", "/home/someone/model.py", 41))
    emitted(replace(b.graph(h), name="where"), tmp_path / "out")
    text = (tmp_path / "out" / "model" / "where.c").read_text()
    assert "/* linear body.fc (model.py:41) */" in text
    assert "someone" not in text + (tmp_path / "out" / "program.json").read_text()
