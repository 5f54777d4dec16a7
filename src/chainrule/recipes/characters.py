"""What the Shakespeare recipes share: the text, the budget, and how a language model is trained.

All have about 720,000 parameters and 15 minutes on one thread of the machine that recorded them:
the number of epochs is what each cell's speed makes of that time.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F

from chainrule.data import tiny_shakespeare
from chainrule.data.splits import Splits
from chainrule.data.text import Vocabulary
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.recipes.base import SPLITS, Experiment, Facts, Figures, Published, Task
from chainrule.recipes.writing import written
from chainrule.training import Progress, Settings
from chainrule.training.streams import fit_stream, stream_loss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROMPT = "\n"
WRITTEN = 1500  # characters of each sample
TEMPERATURES = (0.5, 0.8, 1.0)
READ = 480  # characters of the test text whose surprise is drawn
BEFORE = 2000  # characters read before them


@dataclass(frozen=True, kw_only=True)
class Characters(Settings, Experiment[LanguageModel]):
    """A million characters of Shakespeare → the next one."""

    notes: ClassVar[str] = "J 5 (autoregressive), J 5.2"
    published: ClassVar[tuple[Published, ...]] = (
        Published("validation last_tenth", 1.548, "Feng et al. (2024), minGRU"),
    )
    cell: ClassVar[str]

    width: int
    """Units of each layer."""
    depth: int = 1
    """Layers, one behind another."""
    embedding: int = 64
    """Numbers that stand for a character."""
    dropout: float = 0.2
    """Share of the units dropped between layers in each step."""
    piece: int = 128
    """Characters through which the gradient reaches back."""
    batch_size: int = 32
    """Streams in which the text is read at once."""
    optimiser: str = "adamw"
    learning_rate: float = 3e-3
    schedule: str = "one-cycle"
    weight_decay: float = 0.01
    clip: float = 1.0

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

    def facts(self, data: Splits) -> Facts:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        return Facts(Task((len(data.classes),)), examples, data.notes, data.encoder)

    def model(self, task: Task) -> LanguageModel:
        (symbols,) = task.shape
        return LanguageModel(
            symbols, self.cell, self.width, self.depth, self.embedding, self.dropout
        )

    def learn(
        self, model: LanguageModel, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        train, validation = tuple(data.train), tuple(data.validation)
        return fit_stream(model, train, validation, self, self.piece, folder, device)

    def measure(self, model: LanguageModel, data: Splits) -> Figures:
        """Losses; `last_tenth` is of validation and test together, what others report."""
        loss = {name: stream_loss(model, tuple(getattr(data, name))) for name in SPLITS}
        figures = {name: {"loss": value} for name, value in loss.items()}
        figures["validation"]["last_tenth"] = (loss["validation"] + loss["test"]) / 2
        return figures

    def texts(self, model: LanguageModel, data: Splits) -> dict[str, str]:
        """Samples at three temperatures."""
        assert isinstance(data.encoder, Vocabulary)
        found = [
            f"temperature {t:g}\n{'=' * 15}\n"
            + written(model, data.encoder, PROMPT, WRITTEN, t, seed=self.seed)
            for t in TEMPERATURES
        ]
        return {"samples": "\n\n".join(found)}

    def pictures(self, model: LanguageModel, data: Splits) -> "dict[str, Figure]":
        """How surprising each character of a passage is to the model."""
        from chainrule.report.text import surprise

        shown = slice(-READ, None)
        x, y = (t[: BEFORE + READ] for t in data.test)
        with torch.no_grad():
            nats = F.cross_entropy(model.eval()(x[None])[0], y, reduction="none")[shown]
        text = "".join(data.classes[number] for number in y[shown].tolist())
        return {"surprise": surprise(text, (nats / torch.tensor(2.0).log()).numpy())}
