"""Helpers of the toy problems in the plane: argument checks and splits."""

from chainrule.data.readers.encoders import VectorEncoder
from chainrule.data.splits import About, Split, Splits, three_way_split
from chainrule.errors import InputError

PLANE = VectorEncoder(("x1", "x2"))
SAMPLE_SEED = 0  # a constant: the user's seed only splits the points


def about(citation: str, shapes: str = "x (n, 2); y 2 classes; 60 / 20 / 20 %") -> About:
    return About("classification", "generated", "none needed", citation, shapes)


def check(num_samples: int, noise: float = 0.0) -> None:
    if num_samples < 20:
        raise InputError(f"num_samples must be at least 20, got {num_samples}")
    if noise < 0:
        raise InputError(f"noise must not be negative, got {noise}")


def toy_splits(
    points: Split, classes: tuple[str, ...], seed: int, encoder: VectorEncoder = PLANE
) -> Splits:
    """60 % training, 20 % validation, 20 % test."""
    fifth = len(points.y) // 5
    parts = three_way_split(points.x, points.y, fifth, fifth, seed)
    return Splits(*parts, classes=classes, encoder=encoder)
