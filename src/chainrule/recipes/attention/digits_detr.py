"""Digits found in scenes by DETR: a set of boxes, predicted at once.

One to three MNIST digits lie anywhere on a canvas. Six object queries look for them; each true
digit is matched to one query, and the others must answer that there is no object, so nothing is
found twice. Average precision is that of the boxes with at least half the true one in common.
Carion et al. (2020), DETR. Notes: L "Transformer Impact, Extensions and Limitations".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn

from chainrule.data.datasets import digit_boxes
from chainrule.data.splits import Splits
from chainrule.learning.detection import average_precision, detection_loss
from chainrule.learning.metrics import METRICS
from chainrule.learning.tasks import Task
from chainrule.models.attention.detr import DETR
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, one_label
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AP = METRICS["average_precision"].computed_by(average_precision)
DRAWN = 12  # test scenes
Scene = list[list[float]]
"""A row (class, c_x, c_y, w, h) for each object."""
SEVERAL = "a scene holds several objects"


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Three convolutions → 36 places → 2 blocks read, 2 blocks search → 6 boxes and classes."""

    reference: ClassVar[str] = "L 'Transformer Impact, Extensions and Limitations'"
    unsupported: ClassVar[Mapping[str, str]] = {**one_label(SEVERAL), "members": SEVERAL}

    filters: tuple[int, ...] = (16, 32, 64)
    """Filters of the convolutions, each of which halves the image."""
    hidden_size: int = 64
    """Size of the hidden vectors of places and queries."""
    num_queries: int = 6
    """Number of object queries."""
    num_layers: int = 2
    """Number of layers of the encoder and of the decoder."""
    num_heads: int = 4
    """Attention heads of each layer."""
    dropout: float = 0.0
    """Dropout rate of every sublayer's outputs."""
    settings: Settings = Settings(
        epochs=40,
        batch_size=32,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=1e-3,
        weight_decay=0.01,
        clip_norm=1.0,
    )

    def data(self, folder: Path | None) -> Splits:
        return digit_boxes.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        sizes = self.hidden_size, self.num_queries, self.num_layers, self.num_heads
        return DETR(summary.shape[0], summary.outputs, self.filters, *sizes, self.dropout)

    def task(self, data: Splits) -> Task:
        return Task("detection", detection_loss, (AP,))

    def decode(self, output: Tensor, summary: DataSummary) -> list[dict[str, Any]]:
        """The objects of each image, from left to right."""
        return [
            {
                "prediction": ", ".join(summary.classes[int(k)] for k, *_ in scene) or "nothing",
                "boxes": [box for _, *box in scene],
            }
            for scene in objects(output)
        ]

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.detection import Box, detected_boxes

        def boxes(scenes: list[Scene]) -> list[list[Box]]:
            return [[Box(int(k), *box) for k, *box in scene] for scene in scenes]

        data = predictions.data
        truth = [[row for row in scene if row[0] >= 0] for scene in data.test.y[:DRAWN].tolist()]
        found = objects(predictions.outputs("test")[:DRAWN])
        images = data.test.x[:DRAWN, 0].numpy()
        return {"boxes": detected_boxes(images, boxes(truth), boxes(found), data.classes)}


def objects(output: Tensor) -> list[Scene]:
    """(class, c_x, c_y, w, h) of every query that finds an object, from left to right."""
    logits, boxes = output[..., :-4], output[..., -4:]
    found, nothing = logits.argmax(2), logits.shape[2] - 1
    scenes = []
    for classes, each in zip(found.tolist(), boxes.tolist(), strict=True):
        queries = zip(classes, each, strict=True)
        kept = [[float(k), *box] for k, box in queries if k < nothing]
        scenes.append(sorted(kept, key=lambda row: row[1]))
    return scenes
