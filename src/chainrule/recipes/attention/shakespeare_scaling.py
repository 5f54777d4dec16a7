"""The scaling law of small GPTs on Shakespeare: loss against parameters and tokens.

    L(N, D) = E + A / N^α + B / D^β        N weights outside the embeddings, D characters read

One GPT is trained for every width and every number of steps, each with its own cosine schedule, and
the five constants are fitted to the test losses by least squares on log L. Over so narrow a range E
cannot be told from 0, which is where the fit ends, and both exponents depend on it: the fitted law
describes this grid, no more.
Kaplan et al. (2020); Hoffmann et al. (2022). Notes: L "Transformer Impact" (scaling).
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import nn

from chainrule.data.datasets import tiny_shakespeare
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import LANGUAGE_MODELING
from chainrule.models.attention.gpt import GPT
from chainrule.recipes.families import language_model as lm
from chainrule.recipes.families.in_turn import Turn, in_turn
from chainrule.runs.recipe import EVERYTHING, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Progress, Record, Settings, iterate
from chainrule.training.sources import RandomWindows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONSTANTS = ("E", "log A", "α", "log B", "β")
START = (1.0, 2.0, 0.5, 4.0, 0.5)


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """64 characters → 2 blocks of 4 heads, of every width → their next ones."""

    reference: ClassVar[str] = "L 'Transformer Impact'"
    unsupported: ClassVar[Mapping[str, str]] = {
        **lm.UNSUPPORTED,
        **dict.fromkeys(
            (*EVERYTHING, "predict"), "it trains one network for every width and number of steps"
        ),
    }

    widths: tuple[int, ...] = (16, 32, 64, 128)
    """Sizes of a character's hidden vector."""
    steps: tuple[int, ...] = (125, 250, 500, 1000)
    """Numbers of updates; a network for each width and each of them."""
    context_length: int = 64
    """Characters of context."""
    num_layers: int = 2
    """Number of transformer blocks."""
    num_heads: int = 4
    """Attention heads of each layer."""
    settings: Settings = Settings(
        batch_size=16,
        epochs=1,
        optimizer="adamw",
        learning_rate=4e-3,
        schedule="warm-up-cosine",
        weight_decay=0.1,
        clip_norm=1.0,
        beta2=0.99,
    )

    def __post_init__(self) -> None:
        if not self.widths or not self.steps:
            raise InputError("expected at least one of `widths` and one of `steps`")

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

    def summarize(self, data: Splits) -> DataSummary:
        return lm.summarize(data)

    def grid(self) -> list[tuple[int, int]]:
        """Every width with every number of steps."""
        return [(width, steps) for width in self.widths for steps in self.steps]

    def model(self, summary: DataSummary) -> nn.ModuleDict:
        """All networks; those of one width have the same initial weights."""
        networks = nn.ModuleDict()
        for width, steps in self.grid():
            torch.manual_seed(self.seed)
            sizes = self.context_length, width, self.num_layers, self.num_heads
            networks[name(width, steps)] = GPT(summary.vocab_size, *sizes)
        return networks

    def windows(self, split: Split, steps: int) -> RandomWindows:
        return RandomWindows(tuple(split), self.context_length, steps)

    def fit(
        self, model: nn.ModuleDict, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        def turn(width: int, steps: int) -> Turn:
            start = partial(
                iterate,
                model[name(width, steps)],
                self.windows(data.train, steps),
                self.windows(data.validation, steps),
                task=LANGUAGE_MODELING,
                settings=self.settings,
                folder=folder and folder / name(width, steps),
                device=device,
            )
            return Turn(start, self.settings.epochs, {"width": width, "steps": steps})

        return in_turn([turn(*each) for each in self.grid()])

    def tested(self, predictions: Predictions) -> dict[tuple[int, int], float]:
        """The test loss of every network."""
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleDict)
        return predictions.once(
            "tested",
            lambda: {
                (width, steps): self.windows(data.test, steps).evaluate(
                    model[name(width, steps)], LANGUAGE_MODELING
                )["loss"]
                for width, steps in self.grid()
            },
        )

    def evaluate(self, predictions: Predictions) -> Metrics:
        """The smallest test loss, the fitted constants, and the fit's relative error."""
        found = self.tested(predictions)
        law = self.law(predictions)
        return {"test": {"loss": min(found.values())} | law}

    def law(self, predictions: Predictions) -> dict[str, float]:
        """The constants of L(N, D), or none if the grid has too few networks."""
        found = self.tested(predictions)
        if len(found) <= len(CONSTANTS):
            return {}
        N, D = self.sizes(predictions)
        return fitted(N, D, np.array(list(found.values())))

    def sizes(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
        """N and D of every network."""
        model = predictions.model
        assert isinstance(model, nn.ModuleDict)
        read = self.settings.batch_size * self.settings.epochs * self.context_length
        return (
            np.array([float(weights(model[name(*pair)])) for pair in self.grid()]),
            np.array([float(steps * read) for _, steps in self.grid()]),
        )

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        found = self.tested(predictions)
        return {
            f"width {w}": {"test": {f"{n} steps: loss": found[w, n] for n in self.steps}}
            for w in self.widths
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.claims import claim_figure

        law, (N, D) = self.law(predictions), self.sizes(predictions)
        rows = dict(
            zip(self.grid(), zip(N, D, self.tested(predictions).values(), strict=True), strict=True)
        )
        points = {
            f"{int(rows[self.widths[0], steps][1]):,} characters": (
                [rows[w, steps][0] for w in self.widths],
                [rows[w, steps][2] for w in self.widths],
            )
            for steps in self.steps
        }
        curves = {
            label: (x, list(predicted(law, np.array(x), rows[self.widths[0], steps][1])))
            for (label, (x, _)), steps in zip(points.items(), self.steps, strict=True)
            if law
        }
        title = "Loss falls as a power of parameters and of characters read"
        labels = "weights outside the embeddings, N", "test loss per character"
        return {"scaling": claim_figure(title, *labels, curves, points, log="x")}

    def curves(self, history: Sequence[Record]) -> "Figure":
        from chainrule.plots.claims import claim_figure

        points = {
            f"width {w}": (
                [float(r["steps"]) for r in history if r["width"] == w],
                [float(r["validation_loss"]) for r in history if r["width"] == w],
            )
            for w in self.widths
            if any(r["width"] == w for r in history)
        }
        return claim_figure("Validation loss by steps", "steps", "loss", points=points, log="x")


def name(width: int, steps: int) -> str:
    """As a part of the model: 32-wide-250."""
    return f"{width}-wide-{steps}"


def weights(model: nn.Module) -> int:
    """Parameters outside the embeddings of tokens and positions."""
    embedded = {"embedding.weight", "positions.weight"}
    return sum(p.numel() for name, p in model.named_parameters() if name not in embedded)


def predicted(law: Mapping[str, float], N: np.ndarray, D: np.ndarray | float) -> np.ndarray:
    """E + A / N^α + B / D^β."""
    return np.asarray(
        law["E"]
        + np.exp(law["log A"] - law["α"] * np.log(N))
        + np.exp(law["log B"] - law["β"] * np.log(D))
    )


def fitted(N: np.ndarray, D: np.ndarray, loss: np.ndarray) -> dict[str, float]:
    """The constants by least squares on log L, and the root mean squared relative error."""
    from scipy.optimize import least_squares

    def residuals(values: np.ndarray) -> np.ndarray:
        law = dict(zip(CONSTANTS, values, strict=True))
        return np.log(predicted(law, N, D)) - np.log(loss)

    found = least_squares(residuals, START, bounds=([0, -10, 0, -10, 0], [10, 20, 3, 30, 3]))
    law = {key: float(value) for key, value in zip(CONSTANTS, found.x, strict=True)}
    return law | {"relative error of the fit": float(np.sqrt(np.mean(found.fun**2)))}
