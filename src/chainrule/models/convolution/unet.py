"""U-Net: a class for every pixel, from the picture seen at several scales.

    e_0 = C_0(x),   e_{s+1} = C_{s+1}(pool e_s)          down: half the size, twice the channels
    d_S = e_S,      d_s     = D_s(e_s, U_s d_{s+1})      up again, beside what was there on the way
    f(x)_ij = W (d_0)_ij + b                             one score per class and pixel

C and D are two convolutions h ↦ φ(N(w ∗ h)), pool the maximum of 2×2 pixels, U a transposed
convolution that doubles the size. The paper's form crops, since its convolutions are unpadded, and
has no N; here the output has the size of the input. A side that is odd loses its last line to the
pool, and gets zeros for it on the way up.

Ronneberger, Fischer and Brox (2015), MICCAI. Notes: A 3.1 (a heading).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.initialization import initialize


class UNet(nn.Module):
    """`depth` halvings of the image; `width` channels at full size, 2ˢ times as many at scale s."""

    def __init__(self, channels: int, classes: int, width: int = 64, depth: int = 4):
        super().__init__()
        if min(channels, classes, width) < 1 or depth < 0:
            raise InputError(
                "expected at least one channel, class and filter, and no negative depth, got "
                f"{channels}, {classes}, {width} and {depth}"
            )
        widths = [width * 2**scale for scale in range(depth + 1)]
        self.down = nn.ModuleList(
            twice(m, n) for m, n in zip([channels, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(
            # One term per filter reaches each pixel: "kaiming" gives 1/n here, which keeps E h².
            initialize(nn.ConvTranspose2d(2 * n, n, 2, stride=2), "kaiming")
            for n in widths[:-1]
        )
        self.join = nn.ModuleList(twice(2 * n, n) for n in widths[:-1])
        self.output = initialize(nn.Conv2d(width, classes, 1), "lecun")

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes height width"]:
        if min(x.shape[2:]) < 2 ** len(self.up):
            raise InputError(
                f"images of {x.shape[2]}×{x.shape[3]} vanish when halved {len(self.up)} times; "
                f"give at least {2 ** len(self.up)}×{2 ** len(self.up)}, or a smaller depth"
            )
        first, *deeper = self.down
        seen = [first(x)]
        for block in deeper:
            seen.append(block(F.max_pool2d(seen[-1], 2)))
        h = seen.pop()
        for block, up in zip(reversed(self.join), reversed(self.up), strict=True):
            e = seen.pop()
            h = block(torch.cat([e, fitted(up(h), e)], dim=1))
        return self.output(h)


def fitted(h: Tensor, e: Tensor) -> Tensor:
    """h with zeros for the last line where e has one more."""
    (rows, columns), (height, width) = h.shape[2:], e.shape[2:]
    return F.pad(h, (0, width - columns, 0, height - rows))


def twice(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions h ↦ φ(N(w ∗ h)) with 3×3 kernels."""
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        convolution = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        layers += [
            initialize(convolution, "kaiming"),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers)


def example() -> tuple[UNet, Tensor]:
    """Two scales below the first, and three images with odd sides."""
    return UNet(1, classes=3, width=4, depth=2), torch.randn(3, 1, 9, 11)
