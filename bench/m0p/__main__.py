"""``python -m bench.m0p``: runs nets in rp2040js, which counts cycles, and compares with QEMU and ``bench/cycles.py``.

Instructions must be equal, and cycles within ``cycles.ERRORS``; else the exit code is 1. Needs node and npm, which fetches
rp2040js in the version that package-lock.json names.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.baselines import COMPILERS, CORES, NETS
from bench.cycles import ERRORS
from bench.measure import CACHE, TIMEOUT_S
from bench.nets import net, program
from bench.timing import STOP, Timing, run_function, time_net
from bench.trace import functions
from rushlight.errors import RushlightError

FOLDER = Path(__file__).parent
BOARD = FOLDER / "board.toml"


def emulator() -> Path:
    """The folder of node modules with rp2040js, fetched if it is not there.

    Raises:
        RushlightError: node or npm is missing, or npm failed.
    """
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise RushlightError(f"{tool} is not installed: apt install nodejs npm")
    home = CACHE.parent / "m0p"
    modules = home / "node_modules"
    wanted = (FOLDER / "package-lock.json").read_bytes()
    copy = home / "package-lock.json"
    if not modules.is_dir() or not copy.is_file() or copy.read_bytes() != wanted:
        home.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(FOLDER / name, home / name)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            shutil.rmtree(modules, ignore_errors=True)
            raise RushlightError(f"npm ci failed: {(done.stderr.splitlines() or ['no message'])[0]}")
    return modules


def run(name: str, compiler: str) -> Timing:
    """A run of a net in rp2040js, from the first instruction of its function on, as ``time_net`` takes it.

    Raises:
        RushlightError: a tool is missing, building or running failed, or the outputs are not the reference's.
    """
    modules, this, elf = emulator(), net(name), program(name, str(BOARD), compiler)
    places = {function: address for address, function in functions(elf)}
    window = [hex(places[run_function(name)]), hex(places[STOP])]
    with tempfile.TemporaryDirectory(prefix="rushlight-") as folder:
        (Path(folder) / "in.bin").write_bytes(this.input.tobytes())
        command = ["node", str(FOLDER / "run.cjs"), str(elf), *window]
        done = subprocess.run(
            command,
            cwd=folder,
            env={"PATH": str(Path(shutil.which("node") or "").parent), "NODE_PATH": str(modules)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise RushlightError(f"rp2040js: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        found = json.loads(done.stdout)
        outputs = b"".join(this.values[output].tobytes() for output in this.graph.outputs)
        if found["code"] != 0 or (Path(folder) / "out.bin").read_bytes() != outputs:
            raise RushlightError(
                f"{name} in rp2040js: exit code {found['code']}, or another answer than the reference's"
            )
    return Timing(found["instructions"], found["cycles"])


def main(arguments: Sequence[str]) -> int:
    """Compares the nets named, or all, under both compilers."""
    bound, wrong = ERRORS["cortex-m0plus"], 0
    try:
        for name in arguments or NETS:
            for compiler in COMPILERS:
                theirs, ours = run(name, compiler), time_net(name, CORES["m0p"], compiler)
                off = ours.cycles / theirs.cycles - 1
                good = ours.instructions == theirs.instructions and abs(off) <= bound
                wrong += not good
                print(
                    f"{name} {compiler}: {theirs.instructions:,} instructions in rp2040js, {ours.instructions:,} in QEMU; "
                    f"{theirs.cycles:,} cycles, estimated {ours.cycles:,.0f} ({off:+.2%}){'' if good else ': WRONG'}"
                )
    except RushlightError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
