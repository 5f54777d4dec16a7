"""What recipes of language models share: figures, samples, and the surprise at a passage."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.runs.generate import Writer, beginning, written
from chainrule.runs.recipe import SPLITS, Experiment, Facts, Figures, M, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRITTEN = 1500  # characters of each sample
TEMPERATURES = (0.5, 0.8, 1.0)
READ = 480  # characters of the test text whose surprise is drawn
BEFORE = 2000  # characters before them


class Language(Experiment[M]):
    """A text → the next character, at every place of it."""

    @abstractmethod
    def loss(self, model: M, text: Split) -> float:
        """Mean loss per character."""

    @abstractmethod
    def nats(
        self, model: M, x: Int[Tensor, " length"], y: Int[Tensor, " length"]
    ) -> Float[Tensor, " some"]:
        """-log p of the last characters of y, each after those of x before it."""

    def facts(self, data: Splits) -> Facts:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        return Facts(Task((len(data.classes),)), examples, data.notes, data.encoder)

    def measure(self, model: M, data: Splits) -> Figures:
        return {name: {"loss": self.loss(model, getattr(data, name))} for name in SPLITS}

    def texts(self, model: M, data: Splits) -> dict[str, str]:
        """Samples at three temperatures."""
        assert isinstance(data.encoder, Vocabulary) and isinstance(model, Writer)
        prompt = beginning(data.encoder)
        found = [
            f"temperature {t:g}\n{'=' * 15}\n"
            + written(model, data.encoder, prompt, WRITTEN, t, seed=self.seed)
            for t in TEMPERATURES
        ]
        return {"samples": "\n\n".join(found)}

    def pictures(self, model: M, data: Splits) -> "dict[str, Figure]":
        """How surprising each character of a passage is to the model."""
        from chainrule.plots.text import surprisal

        x, y = (t[: BEFORE + READ] for t in data.test)
        with torch.no_grad():
            nats = self.nats(model.eval(), x, y)[-READ:]
        text = "".join(data.classes[number] for number in y[-len(nats) :].tolist())
        return {"surprise": surprisal(text, (nats / torch.tensor(2.0).log()).numpy())}


def with_last_tenth(figures: Figures) -> Figures:
    """`last_tenth` is of validation and test together, equally long: what others report."""
    both = [figures[name]["loss"] for name in ("validation", "test")]
    figures["validation"]["last_tenth"] = sum(both) / 2
    return figures
