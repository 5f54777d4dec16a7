"""A U-Net of three scales, 16 to 64 filters, that labels the pixels of 1 × 64 × 64, batch 16."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import HELD, Labeled

CLASSES = 3


def double(inputs: int, outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class Plain(nn.Module):
    """As its many implementations write it, with transposed convolutions."""

    def __init__(self, base: int, depth: int):
        super().__init__()
        widths = [base * 2**scale for scale in range(depth + 1)]
        self.down = nn.ModuleList(double(m, n) for m, n in pairwise([1, *widths]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * n, n, 2, stride=2) for n in widths[:-1])
        self.join = nn.ModuleList(double(2 * n, n) for n in widths[:-1])
        self.output = nn.Conv2d(base, CLASSES, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for place, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if place else x)
            kept.append(x)
        x = kept.pop()
        for up, join in zip(reversed(self.up), reversed(self.join), strict=True):
            x = join(torch.cat([kept.pop(), up(x)], 1))
        return self.output(x)


def blobs(count: int, side: int) -> Labeled:
    """Smooth fields cut at two heights, under noise."""
    generator = torch.Generator().manual_seed(0)
    total = count + min(count, HELD // 20)
    coarse = torch.randn(total, 1, side // 8, side // 8, generator=generator)
    field = F.interpolate(coarse, size=(side, side), mode="bicubic")
    y = (field[:, 0] > -0.4).long() + (field[:, 0] > 0.4).long()
    x = field + torch.randn(field.shape, generator=generator)
    return Labeled(x[:count], y[:count], x[count:], y[count:])


def build(count: int, learned: int, batch: int, side: int, base: int, depth: int) -> Classifier:
    def ours() -> nn.Module:
        from chainrule.models.convolution.unet import UNet

        return UNet(1, CLASSES, base, depth)

    return Classifier(
        blobs(learned, side),
        count,
        ours,
        lambda: Plain(base, depth),
        batch=batch,
        studied=batch // 2,
    )


ROW = Race(
    unit="32 images",
    contenders=classifiers.contenders(build, without=("Keras", "skorch")),
    cases={"": {"count": 32, "learned": 64, "batch": 16, "side": 64, "base": 16, "depth": 2}},
    tiny={"count": 4, "learned": 4, "batch": 4, "side": 16, "base": 2, "depth": 1},
    quality=Quality("cross-entropy of held pixels after 8 steps, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)
