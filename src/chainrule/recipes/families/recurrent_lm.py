"""What the recurrent Shakespeare recipes share: the text, the budget, truncated backpropagation.

All have about 720,000 parameters and 15 minutes on one thread of the machine that recorded them:
the number of epochs is what each cell's speed makes of that time.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor

from chainrule.data.datasets import tiny_shakespeare
from chainrule.data.splits import Split, Splits
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.recipes.families.language_model import Language, with_last_tenth
from chainrule.runs.recipe import Figures, Published, Task
from chainrule.training import Progress, Settings
from chainrule.training.tbptt import fit_stream, stream_loss


@dataclass(frozen=True, kw_only=True)
class Characters(Settings, Language[LanguageModel]):
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
    optimizer: str = "adamw"
    learning_rate: float = 3e-3
    schedule: str = "one-cycle"
    weight_decay: float = 0.01
    clip: float = 1.0

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

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

    def loss(self, model: LanguageModel, text: Split) -> float:
        return stream_loss(model, tuple(text))

    def measure(self, model: LanguageModel, data: Splits) -> Figures:
        return with_last_tenth(super().measure(model, data))

    def nats(self, model: LanguageModel, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(model(x[None])[0], y, reduction="none")
