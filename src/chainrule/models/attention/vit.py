"""Vision transformer: an image as a sequence of patches.

    x_0 = c,   x_t = W u_t + b                          [CLS], then the patches u_t, row by row
    x   ← x + p                                         learned positions
    x   ← x + A(N(x)),   x ← x + F(N(x))                L pre-norm blocks
    f(u) = V N(x)_0 + v

Nothing in the network says which patches are neighbors: it has less inductive bias than a
convolution and needs more data. φ is the GELU and F four times as wide as x. The variances of the
initial weights follow the layer sizes, as in the authors' code; a fixed 0.02² is too small for
narrow networks. The default sizes are ViT-Base/16's, and `chainrule.pretrained.load` reads its
published weights.

    rollout    R = Π_l (½ I + ½ mean over heads A_l)    how much of each patch reaches [CLS]

Dosovitskiy et al. (2021), ICLR; Abnar and Zuidema (2020), ACL, for the rollout. Notes: J 6.6.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.nn.attention import attention_maps
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.patches import check_images, patch_grid, patches
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.transformer_block import PreNormBlock

EPS = 1e-12


@checked
class ViT(nn.Module):
    """A vision transformer: images of one size → the logits of their classes.

        x ← [c, W u_1 + b, …, W u_n + b] + p                [CLS] and the patches
        x ← x + A(N(x)),   x ← x + F(N(x))                  L pre-norm blocks
        f(u) = V N(x)_0 + v

    Args:
        image_size: Height and width of the images in pixels.
        patch_size: Height and width of a patch, a divisor of both.
        channels: Number of channels of the images.
        classes: Number of classes.
        hidden_size: Size of the vector x_t of a patch.
        num_layers: Number of blocks, L.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        dropout: Dropout probability of the embeddings and of A(·) and F(·).

    Example:
        >>> import torch
        >>> from chainrule.models.attention import ViT
        >>> model = ViT((28, 28), patch_size=7, channels=1, classes=10,
        ...             hidden_size=32, num_layers=2, num_heads=4)
        >>> images = torch.randn(3, 1, 28, 28)
        >>> model(images).shape
        torch.Size([3, 10])
        >>> model.attention_rollout(images).shape
        torch.Size([3, 4, 4])
    """

    def __init__(
        self,
        image_size: tuple[Count, Count] = (224, 224),
        patch_size: Count = 16,
        channels: Count = 3,
        classes: Count = 1000,
        hidden_size: Count = 768,
        num_layers: Count = 12,
        num_heads: Count = 12,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.image_size, self.patch_size = image_size, patch_size
        self.channels, self.dropout = channels, dropout
        self.grid = patch_grid(image_size, patch_size)
        self.embedding = initialize(nn.Linear(channels * patch_size**2, hidden_size), "lecun")
        self.blocks = nn.ModuleList(
            PreNormBlock(hidden_size, num_heads, 4 * hidden_size, F.gelu, dropout, EPS)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(hidden_size, eps=EPS)
        self.head = initialize(nn.Linear(hidden_size, classes), "xavier-uniform")
        self.cls = nn.Parameter(0.02 * torch.randn(hidden_size))
        self.positions = LearnedPositions(1 + self.grid[0] * self.grid[1], hidden_size)

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        check_images(images, self.channels, self.image_size)
        x = self.embedding(patches(images, self.patch_size))
        x = torch.cat([self.cls.expand(x.shape[0], 1, -1), x], 1)
        x = dropped(x + self.positions(x.shape[1]), self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))

    def attention_rollout(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch rows columns"]:
        """The share of each patch in the final vector of [CLS]."""
        R = rollout(list(attention_maps(self, images).values()))
        return R[:, 0, 1:].unflatten(1, self.grid)


def rollout(
    maps: Sequence[Float[Tensor, "batch heads steps steps"]],
) -> Float[Tensor, "batch steps steps"]:
    """R = Π_l (½ I + ½ mean_heads A_l), the last layer leftmost; its rows sum to one."""
    identity = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype, device=maps[0].device)
    R = identity
    for A in maps:
        R = (identity + A.mean(1)) / 2 @ R
    return R


def example() -> tuple[ViT, Tensor]:
    """Color images of 8×8 in four patches, two blocks of two heads, three classes."""
    model = ViT((8, 8), patch_size=4, classes=3, hidden_size=8, num_layers=2, num_heads=2)
    return model, torch.randn(4, 3, 8, 8)
