"""What every figure asks of its arrays, answered in one sentence when it is not so."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from chainrule.errors import InputError


def array(name: str, value: ArrayLike, *shape: int | str) -> np.ndarray:
    """`value` as an array of the given shape; a letter stands for any length."""
    found = np.asarray(value)
    fits = len(found.shape) == len(shape) and all(
        isinstance(asked, str) or asked == length
        for asked, length in zip(shape, found.shape, strict=True)
    )
    if not fits:
        raise InputError(f"expected {name} of shape {_written(shape)}, got {_written(found.shape)}")
    return found


def same_lengths(**arrays: Sequence[object] | np.ndarray) -> None:
    """Refuses arrays that should run side by side and do not."""
    if len({len(values) for values in arrays.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in arrays.items())
        raise InputError(f"expected as many of each, got {lengths}")


def labels(name: str, value: ArrayLike, classes: Sequence[str]) -> np.ndarray:
    """`value` as class numbers 0 … K-1, one for each example."""
    found = array(name, value, "N")
    whole = np.issubdtype(found.dtype, np.integer)
    if found.size and not (whole and found.min() >= 0 and found.max() < len(classes)):
        raise InputError(
            f"expected {name} to hold class numbers 0 to {len(classes) - 1}, "
            f"got {found.dtype} values from {found.min()} to {found.max()}"
        )
    return found.astype(int)


def _written(shape: Sequence[int | str]) -> str:
    return f"({', '.join(str(length) for length in shape)}{',' if len(shape) == 1 else ''})"
