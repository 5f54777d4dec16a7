"""MLP-Mixer: an MLP mixes the patches in place of attention.

    x ← W u + b                            each patch u
    x ← x + (F_1(N(x)ᵀ))ᵀ                  across patches, the same for every channel
    x ← x + F_2(N(x))                      across channels, the same for every patch
    f(u) = V mean_t N(x_t) + v

F_1 and F_2 are W_2 φ(W_1 · + b_1) + b_2 with the GELU. A transformer computes its mixing weights
from the image; here they are parameters. The default sizes are Mixer-B/16's.

Tolstikhin et al. (2021), NeurIPS. Notes: L "Transformers: Properties" (less inductive bias).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.patches import check_images, patch_grid, patches
from chainrule.nn.transformer_block import FeedForward


@checked
class MLPMixer(nn.Module):
    """An MLP-Mixer: images of one size → the logits of their classes.

        x ← x + (F_1(N(x)ᵀ))ᵀ,   x ← x + F_2(N(x))          L blocks
        f(u) = V mean_t N(x_t) + v

    Args:
        image_size: Height and width of the images in pixels.
        patch_size: Height and width of a patch, a divisor of both.
        channels: Number of channels of the images.
        classes: Number of classes.
        hidden_size: Size of the vector x_t of a patch.
        num_layers: Number of blocks, L.
        feed_forward_sizes: Sizes of the layers inside F_1 and F_2.
        dropout: Dropout probability of F_1(·) and F_2(·).

    Example:
        >>> import torch
        >>> from chainrule.models.attention import MLPMixer
        >>> model = MLPMixer((28, 28), patch_size=7, channels=1, classes=10,
        ...                  hidden_size=32, num_layers=2, feed_forward_sizes=(16, 64))
        >>> model(torch.randn(3, 1, 28, 28)).shape
        torch.Size([3, 10])
    """

    def __init__(
        self,
        image_size: tuple[Count, Count] = (224, 224),
        patch_size: Count = 16,
        channels: Count = 3,
        classes: Count = 1000,
        hidden_size: Count = 768,
        num_layers: Count = 12,
        feed_forward_sizes: tuple[Count, Count] = (384, 3072),
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.image_size, self.patch_size, self.channels = image_size, patch_size, channels
        rows, columns = patch_grid(image_size, patch_size)
        self.embedding = initialize(nn.Linear(channels * patch_size**2, hidden_size), "lecun")
        self.blocks = nn.ModuleList(
            MixerBlock(rows * columns, hidden_size, feed_forward_sizes, dropout)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size)
        self.head = initialize(nn.Linear(hidden_size, classes), "lecun")

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        check_images(images, self.channels, self.image_size)
        x = self.embedding(patches(images, self.patch_size))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


@checked
class MixerBlock(nn.Module):
    """x ← x + (F_1(N(x)ᵀ))ᵀ,   x ← x + F_2(N(x)).

    Args:
        num_patches: Number of patches of an image.
        hidden_size: Size of the vector of a patch.
        feed_forward_sizes: Sizes of the layers inside F_1 and F_2.
        dropout: Dropout probability of F_1(·) and F_2(·).
    """

    def __init__(
        self,
        num_patches: Count,
        hidden_size: Count,
        feed_forward_sizes: tuple[Count, Count],
        dropout: Rate,
    ):
        super().__init__()
        self.dropout = dropout
        self.norm_1 = nn.LayerNorm(hidden_size)
        self.across_patches = FeedForward(num_patches, feed_forward_sizes[0], F.gelu)
        self.norm_2 = nn.LayerNorm(hidden_size)
        self.across_channels = FeedForward(hidden_size, feed_forward_sizes[1], F.gelu)

    def forward(
        self, x: Float[Tensor, "batch patches hidden"]
    ) -> Float[Tensor, "batch patches hidden"]:
        x = x + self.drop(self.across_patches(self.norm_1(x).mT).mT)
        return x + self.drop(self.across_channels(self.norm_2(x)))

    def drop(self, x: Tensor) -> Tensor:
        return dropped(x, self.dropout, self.training)


def example() -> tuple[MLPMixer, Tensor]:
    """Color images of 8×8 in four patches, two blocks, three classes."""
    model = MLPMixer(
        (8, 8), patch_size=4, classes=3, hidden_size=8, num_layers=2, feed_forward_sizes=(6, 16)
    )
    return model, torch.randn(4, 3, 8, 8)
