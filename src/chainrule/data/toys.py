"""Shared by the toy problems in the plane: checks of their settings, and their splits."""

from chainrule.data.readers.encoders import VectorEncoder
from chainrule.data.splits import About, Split, Splits, three_way
from chainrule.errors import InputError

PLANE = VectorEncoder(("x1", "x2"))
SAMPLE_SEED = 0  # a constant: the points are always the same, the user's seed only splits them


def about(citation: str, shapes: str = "x (n, 2); y 2 classes; 60 / 20 / 20 %") -> About:
    return About("classification", "generated", "none needed", citation, shapes)


def check(number: int, noise: float = 0.0) -> None:
    if number < 20:
        raise InputError(f"expected a number of points of at least 20, got {number}")
    if noise < 0:
        raise InputError(f"expected a noise of 0 or more, got {noise}")


def toy_splits(
    points: Split, classes: tuple[str, ...], seed: int, encoder: VectorEncoder = PLANE
) -> Splits:
    """60 % training, 20 % validation, 20 % test."""
    fifth = len(points.y) // 5
    parts = three_way(points.x, points.y, fifth, fifth, seed)
    return Splits(*parts, classes=classes, encoder=encoder)
