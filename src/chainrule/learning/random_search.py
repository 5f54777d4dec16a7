"""Random search: perturb the weights, keep the change if the loss has fallen.

    θ' = θ + s u,  ‖u‖ = 1 at random,       θ ← θ' if h(θ') < h(θ), else θ

It needs no derivative, but about n evaluations for what one gradient step achieves in n dimensions.
Rastrigin (1963). Notes: A 1.3.6, L "Non-Convex Functions and GD".
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Positive, checked


@checked
def random_search(
    h: Callable[[Tensor], Tensor],
    start: Float[Tensor, "searches n"],
    steps: int,
    length: Positive,
    seed: int = 0,
) -> Float[Tensor, "points searches n"]:
    """θ_0, θ_1, … of independent searches.

    Args:
        h: The loss of each row of θ.
        start: A row for every search.
        steps: Perturbations tried, each of which costs one evaluation of h.
        length: s, the size of a perturbation.
        seed: Of the directions.
    """
    generator = torch.Generator().manual_seed(seed)
    path, height = [start.detach()], h(start.detach())
    for _ in range(steps):
        u = torch.randn(start.shape, generator=generator, dtype=start.dtype).to(start.device)
        tried = path[-1] + length * u / u.norm(dim=1, keepdim=True)
        found = h(tried)
        better = found < height
        path.append(torch.where(better[:, None], tried, path[-1]))
        height = torch.where(better, found, height)
    return torch.stack(path)
