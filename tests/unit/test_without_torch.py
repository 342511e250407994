"""Without torch or torchao, what needs them says in one line what installs them."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "call", ["rl.quantize", "rl.capture", "rl.RushlightQuantizer", "rl.compile(None, 'cortex-m4')"]
)
@pytest.mark.parametrize("lacking", ["torch", "torchao"])
def test_what_needs_torch_says_what_to_install(call: str, lacking: str) -> None:
    needed = lacking == "torch" or call in ("rl.quantize", "rl.RushlightQuantizer")
    code = f"import sys; sys.modules['{lacking}'] = None\nimport rushlight as rl\n"
    code += f"try:\n    {call}\nexcept rl.RushlightError as error:\n    print(error)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    said = f"{lacking} is not installed, which compiling needs: pip install 'rushlight[torch]'\n"
    assert done.stderr == ""
    assert (done.stdout == said) == needed, done.stdout
