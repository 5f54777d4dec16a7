"""Learning rates for a recipe: the search on its data and model, and the picture of it."""

from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.runs.recipe import Trained, arrays, task_of
from chainrule.runs.run import build
from chainrule.training.rate_finder import Trial, find_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def rates_of(
    recipe: Trained, data: Path | None, lowest: float, highest: float, steps: int
) -> Trial:
    """Try the rates on the recipe's fresh model."""
    splits = recipe.data(data)
    model = build(recipe, task_of(splits))
    train, objective = arrays(splits.train), recipe.objective(splits)
    return find_rate(model, train, recipe, objective, lowest, highest, steps)


def rates_picture(trial: Trial, name: str) -> "Figure":
    """Loss against rate, with the suggestion marked."""
    from chainrule.plots.claims import claim_figure

    return claim_figure(
        f"Learning rates for {name}",
        "learning rate η",
        "loss, smoothed",
        curves={"loss": (trial.rates, trial.losses)},
        marks={f"try {trial.suggestion:.2g}": trial.suggestion},
        log="x",
    )
