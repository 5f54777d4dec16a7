"""An image as a sequence: square patches, row by row, each a vector."""

from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError


def patches(
    x: Float[Tensor, "batch channels height width"], side: int
) -> Float[Tensor, "batch patches values"]:
    """Patches of side × side pixels; a patch holds its channels one after the other, each by rows.

    So W · patch is what a convolution with kernels W and the stride `side` computes there.
    """
    batch, channels, height, width = x.shape
    x = x.reshape(batch, channels, height // side, side, width // side, side)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def grid(image: tuple[int, int], side: int) -> tuple[int, int]:
    """Rows and columns of patches."""
    height, width = image
    if side < 1 or height % side or width % side or min(image) < side:
        raise InputError(
            f"expected images that patches of {side}×{side} pixels cover exactly, got images of "
            f"{height}×{width}"
        )
    return height // side, width // side


def check_images(x: Tensor, channels: int, image: tuple[int, int]) -> None:
    """Images of the size that the network was made for."""
    if x.ndim != 4 or tuple(x.shape[1:]) != (channels, *image):
        wanted = " × ".join(map(str, (channels, *image)))
        raise InputError(
            f"expected images of {wanted} (channels, height, width), got {tuple(x.shape[1:])}"
        )
