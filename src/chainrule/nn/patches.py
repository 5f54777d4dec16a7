"""An image as a sequence of square patches, row by row."""

from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError


@checked
def patches(
    x: Float[Tensor, "batch channels height width"], patch_size: int
) -> Float[Tensor, "batch patches values"]:
    """Each patch as a vector: its channels one after the other, each row by row.

    So a linear map of the patches is a convolution with kernel and stride `patch_size`.
    """
    batch, channels, height, width = x.shape
    rows, columns = height // patch_size, width // patch_size
    x = x.reshape(batch, channels, rows, patch_size, columns, patch_size)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


@checked
def patch_grid(image_size: tuple[int, int], patch_size: int) -> tuple[int, int]:
    """The numbers of rows and columns of patches."""
    height, width = image_size
    if patch_size < 1 or height % patch_size or width % patch_size or min(image_size) < patch_size:
        raise InputError(
            f"image_size must be a positive multiple of patch_size, got images of {height}×{width} "
            f"and patches of {patch_size}×{patch_size} pixels"
        )
    return height // patch_size, width // patch_size


@checked
def check_images(x: Tensor, channels: int, image_size: tuple[int, int]) -> None:
    """Raise unless the images have the size that the network was built for."""
    if x.ndim != 4 or tuple(x.shape[1:]) != (channels, *image_size):
        expected = " × ".join(map(str, (channels, *image_size)))
        raise InputError(
            f"expected images of {expected} (channels, height, width), got {tuple(x.shape[1:])}"
        )
