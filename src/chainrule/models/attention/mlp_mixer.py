"""MLP-Mixer: patches are mixed by a network instead of attention.

    h ← W x + b                            each patch
    h ← h + (F_1(N(h)ᵀ))ᵀ                  across patches, the same for every channel
    h ← h + F_2(N(h))                      across channels, the same for every patch
    f(x) = V mean_t N(h_t) + v

F_1 and F_2 are W_2 φ(W_1 · + b_1) + b_2 with the GELU. The weights of a transformer's mixing are
computed from the image; these are learned once and for all. Default sizes are Mixer-B/16's.

Tolstikhin et al. (2021), NeurIPS. Notes: L "Transformers: Properties" (less inductive bias).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.initialization import initialize
from chainrule.nn.patches import check_images, grid, patches
from chainrule.nn.transformer_block import FeedForward, Skip


class MLPMixer(nn.Module):
    """Images of one size → the logits of their classes."""

    def __init__(
        self,
        image: tuple[int, int] = (224, 224),
        patch: int = 16,
        channels: int = 3,
        classes: int = 1000,
        width: int = 768,
        depth: int = 12,
        hidden: tuple[int, int] = (384, 3072),
        dropout: float = 0.0,
    ):
        """hidden: the width of F_1, across patches, and of F_2, across channels."""
        super().__init__()
        if min(channels, classes, width, depth, *hidden) < 1:
            raise InputError(
                f"expected all sizes to be 1 or more, got {channels} channels, {classes} classes, "
                f"a width of {width}, {depth} blocks and {hidden} hidden units"
            )
        self.image, self.patch, self.channels = image, patch, channels
        rows, columns = grid(image, patch)
        self.embedding = initialize(nn.Linear(channels * patch**2, width), "lecun")
        self.blocks = nn.ModuleList(
            MixerBlock(rows * columns, width, hidden, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        self.head = initialize(nn.Linear(width, classes), "lecun")

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        check_images(x, self.channels, self.image)
        h = self.embedding(patches(x, self.patch))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h).mean(1))


class MixerBlock(nn.Module):
    """F_1 across patches, F_2 across channels."""

    def __init__(self, patches: int, width: int, hidden: tuple[int, int], dropout: float):
        super().__init__()
        self.norm_1 = Skip(width, "pre", dropout)
        self.across_patches = FeedForward(patches, hidden[0], F.gelu)
        self.norm_2 = Skip(width, "pre", dropout)
        self.across_channels = FeedForward(width, hidden[1], F.gelu)

    def forward(
        self, h: Float[Tensor, "batch patches width"]
    ) -> Float[Tensor, "batch patches width"]:
        h = self.norm_1.after(h, self.across_patches(self.norm_1.before(h).mT).mT)
        return self.norm_2.after(h, self.across_channels(self.norm_2.before(h)))


def example() -> tuple[MLPMixer, Tensor]:
    """Color images of 8×8 in four patches, two blocks, three classes."""
    model = MLPMixer((8, 8), patch=4, classes=3, width=8, depth=2, hidden=(6, 16))
    return model, torch.randn(4, 3, 8, 8)
