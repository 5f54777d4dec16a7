"""Vision transformer: an image is worth a few dozen words.

    h_0 = c,   h_t = W x_t + b                          [CLS], then the patches x_t, row by row
    h   ← h + p                                         learned positions
    h   ← h + A(N(h)),   h ← h + F(N(h))                L pre-norm blocks
    f(x) = V N(h)_0 + v

No weight knows that neighboring patches are neighbors: less inductive bias than a convolution,
so more must be learned from data. φ is the GELU, F four times as wide as h. Matrices begin with
variances that follow their sizes, as in the authors' code: a fixed 0.02² is too little for narrow
networks. Default sizes are ViT-Base/16's, whose published weights `load_published` reads.

    rollout    R = Π_l (½ I + ½ mean over heads A_l)    how much of each patch reaches [CLS]

Dosovitskiy et al. (2021), ICLR; Abnar and Zuidema (2020), ACL, for the rollout. Notes: J 6.6.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.attention import attention_maps
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.patches import check_images, grid, patches
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.transformer_block import Block
from chainrule.pretrained.loading import load_published as fit
from chainrule.pretrained.state_dict_rules import opened, stacked, without

EPS = 1e-12


class ViT(nn.Module):
    """Images of one size → the logits of their classes."""

    def __init__(
        self,
        image: tuple[int, int] = (224, 224),
        patch: int = 16,
        channels: int = 3,
        classes: int = 1000,
        width: int = 768,
        depth: int = 12,
        heads: int = 12,
        dropout: float = 0.0,
    ):
        super().__init__()
        if min(channels, classes, depth) < 1:
            raise InputError(
                f"expected a channel, a class and a block or more, got {channels}, {classes} and "
                f"{depth}"
            )
        self.image, self.patch, self.channels, self.rate = image, patch, channels, dropout
        self.grid = grid(image, patch)
        self.embedding = initialize(nn.Linear(channels * patch**2, width), "lecun")
        self.blocks = nn.ModuleList(
            Block(width, heads, 4 * width, "pre", F.gelu, dropout, EPS) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width, eps=EPS)
        self.head = initialize(nn.Linear(width, classes), "xavier-uniform")
        self.cls = nn.Parameter(0.02 * torch.randn(width))
        self.positions = LearnedPositions(1 + self.grid[0] * self.grid[1], width)

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        check_images(x, self.channels, self.image)
        h = self.embedding(patches(x, self.patch))
        h = torch.cat([self.cls.expand(len(h), 1, -1), h], 1)
        h = dropped(h + self.positions(h.shape[1]), self.rate, self.training)
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h[:, 0]))

    def seen(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch rows columns"]:
        """The share of each patch in what [CLS] ends up with, by the rollout."""
        R = rollout(list(attention_maps(self, x).values()))
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


RULES = (
    (r"vit\.", ""),
    (r"embeddings\.cls_token$", "cls"),
    (r"embeddings\.position_embeddings$", "positions.weight"),
    (r"embeddings\.patch_embeddings\.projection\.", "embedding."),
    (r"(encoder\.layer|layers)\.(\d+)\.", r"blocks.\2."),  # in files, and in memory since 5.0
    (r"(blocks\.\d+)\.attention\.attention\.", r"\1.attention."),
    (r"(blocks\.\d+\.attention)\.q_proj\.", r"\1.query."),
    (r"(blocks\.\d+\.attention)\.k_proj\.", r"\1.key."),
    (r"(blocks\.\d+\.attention)\.v_proj\.", r"\1.value."),
    (r"(blocks\.\d+)\.attention\.(output\.dense|o_proj)\.", r"\1.attention.output."),
    (r"(blocks\.\d+)\.(intermediate\.dense|mlp\.fc1)\.", r"\1.feed_forward.inner."),
    (r"(blocks\.\d+)\.(output\.dense|mlp\.fc2)\.", r"\1.feed_forward.outer."),
    (r"(blocks\.\d+)\.layernorm_before\.", r"\1.norm_1."),
    (r"(blocks\.\d+)\.layernorm_after\.", r"\1.norm_2."),
    (r"layernorm\.", "norm."),
    (r"classifier\.", "head."),
)


def load_published(
    model: ViT, weights: str | Path | Mapping[str, Tensor], head: bool = True
) -> None:
    """ViT's weights under their public names, from a safetensors file or a state dict.

    Without the `head`, V and v keep their initial values: for another number of classes.
    """
    state = stacked(opened(weights, RULES), ("query", "key", "value"), "projection")
    state = without(state, r"pooler\..*")  # of files without a classifier; not part of the paper
    shapes = {"cls": (0, 2), "positions.weight": (0, 1), "embedding.weight": (1, 3)}
    for name, (first, last) in shapes.items():  # theirs have axes of one, and kernels
        if name in state and state[name].ndim > last:
            state[name] = state[name].flatten(first, last)
    fit(model, state, () if head else ("head",))


def example() -> tuple[ViT, Tensor]:
    """Color images of 8×8 in four patches, two blocks of two heads, three classes."""
    model = ViT((8, 8), patch=4, channels=3, classes=3, width=8, depth=2, heads=2)
    return model, torch.randn(4, 3, 8, 8)
