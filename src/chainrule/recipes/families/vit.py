"""What the ViT recipes share: patches, and pictures of where the network looks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from chainrule.data.splits import Splits
from chainrule.models.attention.vit import ViT, rollout
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.nn.attention import attention_maps
from chainrule.runs.recipe import Task, Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKED_AT = 8  # test images whose rollout is drawn


@dataclass(frozen=True, kw_only=True)
class Looking(Trained):
    """Patches of an image and [CLS] → blocks of attention → what [CLS] has become → a class."""

    patch: int = 4
    """Pixels along each side of a patch."""
    width: int = 64
    """Numbers that stand for a patch in every layer."""
    depth: int = 4
    """Blocks of attention and a small network."""
    heads: int = 4
    """Heads of each attention."""
    dropout: float = 0.0
    """Share of the embeddings and of every sublayer's outputs dropped in each step."""
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    weight_decay: float = 0.05
    clip: float = 1.0

    def model(self, task: Task) -> nn.Module:
        channels, height, width = task.shape
        sizes = self.width, self.depth, self.heads
        return ViT((height, width), self.patch, channels, task.outputs, *sizes, self.dropout)

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        """Besides the usual ones: what reaches [CLS], where its heads look, positions."""
        from chainrule.plots.attention import (
            attention_heads,
            attention_rollout,
            positional_encoding,
        )
        from chainrule.runs.pictures import images

        one = model.members[0] if isinstance(model, Ensemble) else model
        vit = next(part for part in one.modules() if isinstance(part, ViT))
        rows = firsts(data.test.y)
        x = data.test.x[rows]
        maps = list(attention_maps(one, x).values())
        looked = rollout(maps)[:, 0, 1:].unflatten(1, vit.grid)
        heads = torch.stack([A[0, :, 0, 1:].unflatten(1, vit.grid) for A in maps])
        named = [data.classes[k] for k in data.test.y[rows].tolist()]
        return super().pictures(model, data) | {
            "rollout": attention_rollout(images(x), looked.numpy(), named),
            "heads": attention_heads(images(x)[0], heads.numpy()),
            "positions": positional_encoding(
                vit.positions.weight.numpy(force=True), "[CLS], then patches"
            ),
        }


def firsts(y: Tensor) -> list[int]:
    """The first example of each of some classes."""
    return [int((y == k).nonzero()[0]) for k in y.unique().tolist()[:LOOKED_AT]]
