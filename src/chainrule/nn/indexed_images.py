"""A network behind a table of images: its inputs are places in the table.

    f(p) = g(images[p])        a place of -1 is empty, which g is told by its mask

The table is no part of what is learned and is not saved.
"""

from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn


class IndexedImages(nn.Module):
    """Places (batch, size) to g(pictures in [0, 1], mask); g is a network of sets of pictures."""

    images: UInt8[Tensor, "pictures height width"]

    def __init__(self, inner: nn.Module, images: UInt8[Tensor, "pictures height width"]):
        super().__init__()
        self.inner = inner
        self.register_buffer("images", images, persistent=False)

    def forward(self, places: Int[Tensor, "batch size"]) -> Float[Tensor, "batch *outputs"]:
        shown = self.images[places.clamp_min(0)].unsqueeze(2)
        return self.inner(shown.to(next(self.inner.parameters()).dtype) / 255, places >= 0)
