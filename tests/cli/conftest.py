"""Shared by the tests of the commands."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MY_RECIPE = '''
"""My own recipe: two clusters."""

from dataclasses import dataclass

from torch import nn

from chainrule.data.datasets import moons
from chainrule.runs.recipe import BaseRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    units: int = 4
    """Units of the hidden layer."""
    settings: Settings = Settings(epochs=2)

    def data(self, folder):
        return moons.load(folder, self.seed, num_samples=60)

    def model(self, summary):
        return nn.Sequential(nn.Linear(2, self.units), nn.Tanh(), nn.Linear(self.units, 2))
'''


@pytest.fixture
def my_recipe(tmp_path: Path) -> Iterator[Path]:
    """A recipe in a user's own file."""
    path = tmp_path / "my_recipe.py"
    path.write_text(MY_RECIPE.lstrip())
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if name.startswith("chainrule_file_"):
            del sys.modules[name]
