"""The learning-rate finder on a recipe, and its figure."""

from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.runs.configuration import Configuration
from chainrule.runs.recipe import BaseRecipe, training_data
from chainrule.runs.run import initial_model
from chainrule.training.rate_finder import RateSearch, find_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def search_rates(
    recipe: BaseRecipe, folder: Path | None, lowest: float, highest: float, steps: int
) -> RateSearch:
    """Search on the recipe's data and initial model."""
    data = recipe.data(folder)
    model = initial_model(Configuration(recipe), recipe.summarize(data), data)
    network, task = recipe.network(model, data), recipe.task(data)
    source = recipe.source(training_data(data))
    return find_rate(network, source, recipe.settings, task, lowest, highest, steps)


def rates_figure(search: RateSearch, name: str) -> "Figure":
    """Loss against rate, with the suggestion marked."""
    from chainrule.plots.claims import claim_figure

    return claim_figure(
        f"Learning rates for {name}",
        "learning rate η",
        "loss, smoothed",
        curves={"loss": (search.rates, search.losses)},
        marks={f"try {search.suggestion:.2g}": search.suggestion},
        log="x",
    )
