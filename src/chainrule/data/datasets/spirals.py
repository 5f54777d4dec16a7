"""Two intertwined spirals: a long thin boundary that rewards depth.

    x = r (cos(θ + π y), sin(θ + π y)),   r = θ / θ_max,   θ = θ_max √u,   u uniform in [0, 1]

so the points are spread evenly along the arms, which turn by θ_max = 2π · turns. The points never
change; the seed draws the validation split.
"""

import math
from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("Lang and Witbrock (1988), Learning to tell two spirals apart")


def sample(num_samples: int, noise: float, seed: int, turns: float = 1.5) -> Split:
    check(num_samples, noise)
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(num_samples) % 2
    r = torch.rand(num_samples, generator=generator).sqrt()
    angle = 2 * math.pi * turns * r + math.pi * y
    x = r[:, None] * torch.stack([angle.cos(), angle.sin()], dim=1)
    return Split(x + noise * torch.randn(num_samples, 2, generator=generator), y)


def load(
    folder: Path | None = None,
    seed: int = 0,
    num_samples: int = 1_000,
    noise: float = 0.02,
    turns: float = 1.5,
) -> Splits:
    """num_samples: points in all three splits.
    noise: standard deviation of the noise on each coordinate.
    turns: how often each arm winds around the origin.
    """
    points = sample(num_samples, noise, SAMPLE_SEED, turns)
    return toy_splits(points, ("first", "second"), seed)
