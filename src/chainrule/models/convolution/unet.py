"""U-Net: a class for every pixel, from the image at several scales.

    e_0 = C_0(x),   e_{s+1} = C_{s+1}(pool e_s)          down: half the size, twice the channels
    d_S = e_S,      d_s     = D_s(e_s, U_s d_{s+1})      up: joined with e_s of the same size
    f(x)_ij = W (d_0)_ij + b                             one score per class and pixel

C and D are two convolutions h ↦ φ(N(w ∗ h)), pool the maximum of 2×2 pixels, U a transposed
convolution that doubles the size. The paper's convolutions are unpadded, so it crops, and it has no
N; here the output has the size of the input. Pooling drops the last row or column of an odd side,
which is padded with zeros on the way up.

Ronneberger, Fischer and Brox (2015), MICCAI. Notes: A 3.1 (a heading).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError
from chainrule.nn.initialization import initialize


@checked
class UNet(nn.Module):
    """An encoder that halves the image step by step, and a decoder joined to it at every scale.

        e_{s+1} = C_{s+1}(pool e_s),     d_s = D_s(e_s, U_s d_{s+1}),     f(x)_ij = W (d_0)_ij + b

    Args:
        channels: Channels of an image.
        classes: Scores per pixel.
        base_channels: Channels at full size; scale s has 2ˢ times as many.
        depth: How many times the image is halved.

    Example:
        >>> import torch
        >>> model = UNet(channels=1, classes=3, base_channels=4, depth=2)
        >>> model(torch.zeros(2, 1, 9, 11)).shape
        torch.Size([2, 3, 9, 11])
    """

    def __init__(
        self, channels: Count, classes: Count, base_channels: Count = 64, depth: Natural = 4
    ):
        super().__init__()
        widths = [base_channels * 2**scale for scale in range(depth + 1)]
        self.down = nn.ModuleList(
            double_convolution(m, n) for m, n in zip([channels, *widths], widths, strict=False)
        )
        self.up = nn.ModuleList(
            # Each pixel sums one term per filter: "kaiming" is variance 1/n here, which keeps E h².
            initialize(nn.ConvTranspose2d(2 * n, n, 2, stride=2), "kaiming")
            for n in widths[:-1]
        )
        self.join = nn.ModuleList(double_convolution(2 * n, n) for n in widths[:-1])
        self.output = initialize(nn.Conv2d(base_channels, classes, 1), "lecun")

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes height width"]:
        if min(x.shape[2:]) < 2 ** len(self.up):
            raise InputError(
                f"images of {x.shape[2]}×{x.shape[3]} are too small to be halved {len(self.up)} "
                f"times; use at least {2 ** len(self.up)}×{2 ** len(self.up)}, or a smaller depth"
            )
        first, *deeper = self.down
        encoded = [first(x)]
        for block in deeper:
            encoded.append(block(F.max_pool2d(encoded[-1], 2)))
        h = encoded.pop()
        for block, up in zip(reversed(self.join), reversed(self.up), strict=True):
            e = encoded.pop()
            h = block(torch.cat([e, padded_to(up(h), e)], dim=1))
        return self.output(h)


def padded_to(h: Tensor, e: Tensor) -> Tensor:
    """h, padded with zeros to the height and width of e."""
    (rows, columns), (height, width) = h.shape[2:], e.shape[2:]
    return F.pad(h, (0, width - columns, 0, height - rows))


def double_convolution(inputs: int, outputs: int) -> nn.Sequential:
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
    return UNet(1, classes=3, base_channels=4, depth=2), torch.randn(3, 1, 9, 11)
