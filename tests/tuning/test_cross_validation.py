"""Cross-validation of models other than plain classifiers of rows."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from chainrule.data.splits import Split, Splits
from chainrule.registry import entries
from chainrule.runs.configuration import flags
from chainrule.runs.options import CAPABILITIES, OPTION_OF
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings
from chainrule.training.batched.run import k_folds
from chainrule.tuning import cross_validation as cv


class MeanOfPoints(nn.Module):
    """A class for a cloud of any number of points."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).mean(1)


@dataclass(frozen=True, kw_only=True)
class Clouds(BaseRecipe):
    """Clouds of six points, of which training sees three."""

    settings: Settings = Settings(epochs=2, batch_size=8)

    def data(self, folder: Path | None) -> Splits:
        torch.manual_seed(0)
        y = torch.arange(60) % 2
        x = torch.randn(60, 6, 2) + 2 * y[:, None, None]
        parts = (Split(x[a:b], y[a:b]) for a, b in ((0, 40), (40, 50), (50, 60)))
        return Splits(*parts, classes=("near", "far"))

    def model(self, summary: DataSummary) -> nn.Module:
        return MeanOfPoints()

    def augmentation(self) -> Any:
        return lambda x: x[:, torch.randperm(6)[:3]]


def scores(recipe: BaseRecipe, together: bool) -> list[list[float]]:
    pool = cv.pool_of(recipe, None)
    metric, remarks = cv.default_metric(recipe.task(pool.data)), []
    if not together:
        rows = k_folds(len(pool.data.train.x), 2, recipe.seed)
        steps = cv.one_by_one([recipe], pool, rows, metric)
    else:
        steps = cv.cross_validate([recipe], pool, 2, metric, remarks)
    *_, last = steps
    assert not remarks
    assert last.values is not None
    return last.values


def test_an_augmentation_may_drop_points() -> None:
    recipe = Clouds(settings=replace(Clouds().settings, epochs=10, learning_rate=0.05))
    together, alone = scores(recipe, together=True), scores(recipe, together=False)
    assert together[0] == pytest.approx(alone[0], abs=0.041)  # one example of 25 may tip
    assert max(together[0]) < 0.4


def test_what_a_recipe_does_not_support_has_a_reason_and_no_flag() -> None:
    """Of every recipe: declared names are known ones, and what it refuses is no setting of it."""
    for entry in entries("recipes"):
        kind = entry.load().Recipe
        assert all(kind.unsupported.values())
        options = {name for name, what in OPTION_OF.items() if what in kind.unsupported}
        settings = set(vars(Settings())) | set(OPTION_OF) | set(CAPABILITIES)
        assert set(kind.unsupported) <= settings, entry.name
        own = {field for field in kind.__dataclass_fields__ if field != "settings"}
        assert not (options - own) & {flag.name for flag in flags(kind)}


def test_the_summary_of_a_pool_counts_no_test_rows() -> None:
    pool = cv.pool_of(Clouds(), None)
    assert len(pool.data.train.x) == 50
    assert len(pool.data.test.x) == 0
