import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def checks() -> Path:
    """Programs of the tools that know the formats of deploy/ and helm/; ``make test-image`` and ``make test-helm`` install them."""
    folder = os.environ.get("VARVE_TEST_CHECKS")
    if folder is None:
        pytest.skip("no tools: make test-image, make test-helm")
    return Path(folder) / "bin"
