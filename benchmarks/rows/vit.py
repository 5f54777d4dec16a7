"""A vision transformer, 6 blocks of width 192, on 64 patches of 3 × 4 × 4, batch 64, Adam."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import images

PATCH, HEADS = 4, 3


class Block(nn.Module):
    """Pre-norm attention and a feed-forward network of four times the width."""

    def __init__(self, width: int):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], 3, HEADS, -1)
        q, k, v = self.qkv(self.norm_1(x)).view(shape).permute(2, 0, 3, 1, 4)
        h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.out(h)
        return x + self.mlp(self.norm_2(x))


class Plain(nn.Module):
    """Patches by a strided convolution, as timm writes it, whose kernel is a matrix here."""

    def __init__(self, width: int, depth: int):
        super().__init__()
        self.embedding = nn.Linear(3 * PATCH**2, width)
        self.cls = nn.Parameter(0.02 * torch.randn(width))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + (32 // PATCH) ** 2, width))
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.trunc_normal_(part.weight, std=0.02)
                nn.init.zeros_(part.bias)

    def forward(self, x: Tensor) -> Tensor:
        patches = F.unfold(x, PATCH, stride=PATCH).transpose(1, 2)
        h = torch.cat([self.cls.expand(len(x), 1, -1), self.embedding(patches)], 1)
        return self.head(self.norm(self.blocks(h + self.positions)[:, 0]))


def build(count: int, learned: int, batch: int, width: int, depth: int) -> Classifier:
    data = images(learned, (3, 32, 32), noise=1.0)
    return Classifier(
        data,
        count,
        lambda: ours(width, depth),
        lambda: Plain(width, depth),
        batch=batch,
        studied=batch // 2,
    )


def ours(width: int, depth: int) -> nn.Module:
    from chainrule.models.attention.vit import ViT

    return ViT((32, 32), PATCH, 3, 10, width, depth, HEADS)


ROW = Race(
    unit="64 images",
    contenders=classifiers.contenders(build, without=("Keras",)),
    cases={"": {"count": 64, "learned": 256, "batch": 64, "width": 192, "depth": 6}},
    tiny={"count": 8, "learned": 8, "batch": 4, "width": 12, "depth": 1},
    quality=Quality("cross-entropy of held images after 8 steps, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)
