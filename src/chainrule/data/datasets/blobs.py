"""Two classes that a hyperplane through the origin separates with margin γ.

    y = 1 where wᵀx ≥ γ,   y = 0 where wᵀx ≤ -γ,   ‖w‖ = 1

No point lies between, so the perceptron's bound (R / γ)² applies. The points never change; the seed
draws the validation split.
"""

from pathlib import Path

import torch
from torch import Tensor

from chainrule.data.readers.encoders import VectorEncoder
from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits
from chainrule.errors import InputError

ABOUT = about(
    "Novikoff (1962), On convergence proofs on perceptrons",
    "x (n, dimension), 2 by default; y 2 classes; 60 / 20 / 20 %",
)


def sample(num_samples: int, dimension: int, margin: float, seed: int) -> tuple[Split, Tensor]:
    """(points, w): the points and the unit normal of the hyperplane that separates them."""
    check(num_samples)
    if dimension < 1:
        raise InputError(f"dimension must be at least 1, got {dimension}")
    if not 0 < margin <= 1e3:
        raise InputError(f"margin must be above 0 and at most 1000, got {margin}")
    generator = torch.Generator().manual_seed(seed)
    w = torch.nn.functional.normalize(
        torch.randn(dimension, generator=generator, dtype=torch.float64), dim=0
    ).float()
    y = torch.arange(num_samples) % 2
    # Rounding to float32 must not move a point across the margin.
    slack = 1e-5 * (1 + margin)
    distance = margin + slack + torch.rand(num_samples, generator=generator, dtype=torch.float64)
    x = torch.randn(num_samples, dimension, generator=generator, dtype=torch.float64)
    unit = w.double() / w.double().norm()
    x = x + ((2 * y - 1) * distance - x @ unit)[:, None] * unit
    return Split(x.float(), y), w


def load(
    folder: Path | None = None,
    seed: int = 0,
    num_samples: int = 500,
    dimension: int = 2,
    margin: float = 0.1,
) -> Splits:
    """num_samples: points in all three splits.
    dimension: coordinates of a point.
    margin: the smallest distance of a point from the hyperplane.
    """
    points, _ = sample(num_samples, dimension, margin, SAMPLE_SEED)
    columns = VectorEncoder(tuple(f"x{i}" for i in range(1, dimension + 1)))
    return toy_splits(points, ("negative", "positive"), seed, columns)
