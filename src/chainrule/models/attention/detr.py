"""DETR: object detection by a transformer, without anchors and without suppression of duplicates.

    ξ ← backbone(u) + p                                   one vector for each place, by convolutions
    ξ ← ξ + A(N(ξ)),   ξ ← ξ + F(N(ξ))                    L encoder blocks
    y ← q                                                 learned object queries
    y ← y + A(N(y)),   y ← y + C(N(y), ξ),   y ← y + F(N(y))         L decoder blocks
    f(u)_q = [V N(y_q) + v,   σ(MLP(N(y_q)))]             class or "no object", and a box

Every query looks for one object; all are decoded at once, as self-attention of the queries is not
causal. Positions p are sinusoidal, one half of the entries for the row, the other for the column.
`chainrule.learning.detection` matches queries to objects and computes the loss. The blocks are
pre-norm, and p is added once, to the encoder's input, where the paper adds it to every layer.

Carion et al. (2020), ECCV. Notes: L "Transformer Impact, Extensions and Limitations".
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.nn.initialization import initialize
from chainrule.nn.positions import sinusoidal
from chainrule.nn.transformer_block import PreNormBlock, PreNormDecoderBlock


@checked
class DETR(nn.Module):
    """Images → for each query the logits of the classes and of "no object", and a box.

        ξ = encoder(backbone(u) + p),     y = decoder(q, ξ)
        f(u)_q = [V N(y_q) + v,   σ(MLP(N(y_q)))]

    A box is (c_x, c_y, w, h), center and size in units of the image.

    Args:
        channels: Number of channels of the images.
        classes: Number of classes, "no object" not counted.
        filters: Filters of the strided convolutions of the backbone; each halves the image.
        hidden_size: Size of the vectors of places and queries, a multiple of 4.
        num_queries: Number of object queries, at least the number of objects in an image.
        num_layers: Number of blocks of the encoder and of the decoder, L.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        dropout: Dropout probability of A(·), C(·, ξ) and F(·).

    Example:
        >>> import torch
        >>> from chainrule.models.attention import DETR
        >>> model = DETR(channels=1, classes=10, filters=(8, 16), hidden_size=32,
        ...              num_queries=5, num_layers=1, num_heads=2)
        >>> model(torch.randn(3, 1, 32, 32)).shape
        torch.Size([3, 5, 15])
    """

    def __init__(
        self,
        channels: Count = 3,
        classes: Count = 91,
        filters: tuple[Count, ...] = (64, 128, 256, 512),
        hidden_size: Count = 256,
        num_queries: Count = 100,
        num_layers: Count = 6,
        num_heads: Count = 8,
        dropout: Rate = 0.1,
    ):
        super().__init__()
        if hidden_size % 4:
            raise InputError(f"hidden_size must be a multiple of 4, got {hidden_size}")
        self.backbone = nn.Sequential(*(halving(m, n) for m, n in pairwise((channels, *filters))))
        self.embedding = initialize(nn.Linear(filters[-1], hidden_size), "lecun")
        sizes = hidden_size, num_heads, 4 * hidden_size, F.relu, dropout
        self.encoder = nn.ModuleList(PreNormBlock(*sizes) for _ in range(num_layers))
        self.decoder = nn.ModuleList(PreNormDecoderBlock(*sizes) for _ in range(num_layers))
        self.encoder_norm, self.norm = nn.LayerNorm(hidden_size), nn.LayerNorm(hidden_size)
        self.queries = nn.Parameter(torch.randn(num_queries, hidden_size))
        self.classes = initialize(nn.Linear(hidden_size, classes + 1), "lecun")
        self.boxes = nn.Sequential(
            initialize(nn.Linear(hidden_size, hidden_size), "kaiming"),
            nn.ReLU(),
            initialize(nn.Linear(hidden_size, 4), "lecun"),
        )

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch queries outputs"]:
        """[logits, box] of every query; `outputs` is classes + 1 + 4."""
        features = self.backbone(images)
        xi = self.embedding(features.flatten(2).mT)
        xi = xi + grid_positions(features.shape[2], features.shape[3], xi)
        for block in self.encoder:
            xi = block(xi)
        xi = self.encoder_norm(xi)
        y = self.queries.expand(len(images), -1, -1)
        for block in self.decoder:
            y = block(y, block.cross_attention.project_source(xi), causal=False)  # type: ignore[union-attr, operator]
        y = self.norm(y)
        return torch.cat([self.classes(y), self.boxes(y).sigmoid()], 2)


def halving(inputs: int, outputs: int) -> nn.Module:
    """ReLU(N(w ∗ h)), of half the height and width."""
    layer = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False)
    return nn.Sequential(initialize(layer, "kaiming"), nn.BatchNorm2d(outputs), nn.ReLU())


def grid_positions(rows: int, columns: int, like: Tensor) -> Float[Tensor, "places hidden"]:
    """[p_row, p_column] of each place, row by row."""
    half = like.shape[-1] // 2
    down, across = (sinusoidal(n, half, like=like) for n in (rows, columns))
    both = down[:, None].expand(-1, columns, -1), across.expand(rows, -1, -1)
    return torch.cat(both, 2).flatten(0, 1)


def example() -> tuple[DETR, Tensor]:
    """Gray images of 16×16, three queries, two classes."""
    model = DETR(1, 2, (4, 8), hidden_size=8, num_queries=3, num_layers=1, num_heads=2)
    return model, torch.randn(4, 1, 16, 16)
