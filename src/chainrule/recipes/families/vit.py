"""Shared by the ViT recipes: sizes, and figures of the attention."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chainrule.models.attention.vit import ViT, rollout
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.nn.attention import attention_maps
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGES = 8  # test images whose rollout is drawn


@dataclass(frozen=True, kw_only=True)
class ViTRecipe(BaseRecipe):
    """Patches of an image and [CLS] → blocks of attention → the last vector of [CLS] → a class."""

    patch_size: int = 4
    """Pixels along each side of a patch."""
    hidden_size: int = 64
    """Size of a patch's hidden vector."""
    num_layers: int = 4
    """Number of transformer blocks."""
    num_heads: int = 4
    """Attention heads of each layer."""
    dropout: float = 0.0
    """Dropout rate of the embeddings and of every sublayer's outputs."""
    settings: Settings = Settings(
        optimizer="adamw", schedule="one-cycle", weight_decay=0.05, clip_norm=1.0
    )

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        sizes = self.hidden_size, self.num_layers, self.num_heads
        return ViT(
            (height, width), self.patch_size, channels, summary.outputs, *sizes, self.dropout
        )

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        """Besides the usual ones: attention rollout, the heads of [CLS], positions."""
        from chainrule.plots.attention import (
            attention_heads,
            attention_rollout,
            positional_encoding,
        )
        from chainrule.runs.pictures import images

        model, data = predictions.model, predictions.data
        one = model.members[0] if isinstance(model, Ensemble) else model
        vit = next(part for part in one.modules() if isinstance(part, ViT))
        rows = first_of_each(data.test.y)
        x = data.test.x[rows]
        maps = list(attention_maps(one, x).values())
        attended = rollout(maps)[:, 0, 1:].unflatten(1, vit.grid)
        heads = torch.stack([A[0, :, 0, 1:].unflatten(1, vit.grid) for A in maps])
        named = [data.classes[k] for k in data.test.y[rows].tolist()]
        return super().figures(predictions) | {
            "rollout": attention_rollout(images(x), attended.numpy(), named),
            "heads": attention_heads(images(x)[0], heads.numpy()),
            "positions": positional_encoding(
                vit.positions.weight.numpy(force=True), "[CLS], then patches"
            ),
        }


def first_of_each(y: Tensor) -> list[int]:
    """The first example of each of some classes."""
    return [int((y == k).nonzero()[0]) for k in y.unique().tolist()[:IMAGES]]
