"""The loss on a plane through weight space: two directions, and where paths of training cross it.

    h(θ + a d_1 + b d_2)       d random, each row of a weight matrix scaled to the row's own length
                               (biases stay), or d_1, d_2 the principal axes of a path

Without that scaling a network looks flat merely because its weights are large.
Li et al. (2018), NeurIPS. Notes: A 1.3.10, figure 1.8.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.autodiff.curvature import Function


@checked
def filter_normalized(model: nn.Module, seed: int = 0) -> Float[Tensor, " n"]:
    """A random direction of all parameters, in the order of `flattened`.

    Args:
        model: A network, whose weights set the lengths.
        seed: Draws the direction.

    >>> import torch
    >>> filter_normalized(torch.nn.Linear(3, 2)).shape
    torch.Size([8])
    """
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for parameter in model.parameters():
        d = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        if parameter.ndim < 2:
            parts.append(torch.zeros(parameter.numel(), dtype=parameter.dtype))
            continue
        rows, filters = d.flatten(1), parameter.detach().flatten(1)
        scale = filters.norm(dim=1, keepdim=True) / rows.norm(dim=1, keepdim=True)
        parts.append((rows * scale).flatten())
    return torch.cat(parts)


@checked
def principal_directions(path: Float[Tensor, "points n"]) -> Float[Tensor, "2 n"]:
    """The two axes along which the path varies most around its end, of length 1.

    Args:
        path: Points on the way, the end last.

    >>> import torch
    >>> path = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    >>> principal_directions(path).norm(dim=1)
    tensor([1., 1.])
    """
    return torch.linalg.svd(path - path[-1], full_matrices=False).Vh[:2]


@checked
def plane(
    h: Function,
    center: Float[Tensor, " n"],
    directions: Float[Tensor, "2 n"],
    a: Float[Tensor, " columns"],
    b: Float[Tensor, " rows"],
) -> Float[Tensor, "rows columns"]:
    """h(center + a d_1 + b d_2) for all a and b.

    Args:
        h: A function of a vector with one value.
        center: Where a = b = 0.
        directions: d_1 and d_2.
        a: Values of the columns.
        b: Values of the rows.

    >>> import torch
    >>> a, b = torch.arange(3.0), torch.zeros(1)
    >>> plane(lambda w: (w**2).sum(), torch.zeros(2), torch.eye(2), a, b)
    tensor([[0., 1., 4.]])
    """
    evaluate: Callable[[Tensor], Tensor] = torch.func.vmap(h, chunk_size=64)
    offsets = torch.cartesian_prod(b, a).flip(1) @ directions
    return evaluate(center + offsets).view(len(b), len(a))
