"""Shared by all tests: one thread a worker, repeatable draws, and where the big data sets lie."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("steady")
torch.set_num_threads(1)
SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def big_data() -> Path:
    """The folder with MNIST and its like; a test that needs it is skipped where there is none."""
    folder = Path(os.environ.get("CHAINRULE_DATA", SHARED))
    if not (folder / "mnist").is_dir():
        pytest.skip(f"needs the big data sets in {folder} (set CHAINRULE_DATA)")
    return folder
