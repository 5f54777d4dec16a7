"""A network on sets of images that are given by their indices in a table.

    f(i) = g(images[i], i ≥ 0)        an index of -1 marks an empty place

The table belongs to the data: it is neither learned nor saved.
"""

from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from chainrule.arguments import checked


@checked
class IndexedImages(nn.Module):
    """f(i) = g(images[i], i ≥ 0).

    Args:
        network: g, called with sets of images in [0, 1], (batch, size, 1, height, width), and
            their mask (batch, size), True where there is an image.
        images: The table, (images, height, width).

    >>> import torch
    >>> from chainrule.models.geometric import DeepSets
    >>> network = DeepSets(nn.Sequential(nn.Flatten(), nn.Linear(16, 4)), nn.Linear(4, 1))
    >>> images = torch.zeros(10, 4, 4, dtype=torch.uint8)
    >>> IndexedImages(network, images)(torch.tensor([[3, 7, -1]])).shape
    torch.Size([1, 1])
    """

    images: UInt8[Tensor, "images height width"]

    def __init__(self, network: nn.Module, images: UInt8[Tensor, "images height width"]):
        super().__init__()
        self.network = network
        self.register_buffer("images", images, persistent=False)

    def forward(self, indices: Int[Tensor, "batch size"]) -> Float[Tensor, "batch *outputs"]:
        x = self.images[indices.clamp_min(0)].unsqueeze(2)
        return self.network(x.to(next(self.network.parameters()).dtype) / 255, indices >= 0)
