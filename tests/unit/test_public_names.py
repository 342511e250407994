"""The public functions stay callable whatever part of the package was imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALLS = "import rushlight as rl; assert callable(rl.quantize) and callable(rl.capture) and callable(rl.compile)"


@pytest.mark.parametrize("first", ["", "import rushlight.api", "import rushlight.frontend, rushlight.quantization"])
def test_public_functions_are_functions(first: str) -> None:
    code = f"{first}\n{CALLS}\nassert callable(rl.RushlightQuantizer)\n{CALLS}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_is_an_attribute_error() -> None:
    import rushlight

    with pytest.raises(AttributeError, match="no attribute 'quantise'"):
        rushlight.quantise  # noqa: B018
