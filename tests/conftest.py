"""What all tests share: where the trained weights and real inputs are, if this machine has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of trained models and real data beside the checkout. A user's clone has none: those tests are skipped,
    with CI set they fail."""
    path = CHECKOUT.parent / "shared"
    if not path.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{path.name}/ with trained models and real inputs is missing beside the checkout")
        pytest.skip("trained models and real inputs are not beside this checkout")
    return path
