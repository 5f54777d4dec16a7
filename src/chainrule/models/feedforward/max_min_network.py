"""Max-min network: a piecewise linear function of several variables, exactly, in log depth.

    f(x) = max_j min_{i ∈ S_j} (a_i ᵀ x + b_i)     for every continuous piecewise linear f, with
    S_j  = {i | a_i ᵀ x + b_i ≥ f(x) wherever f has piece j}
    max(u, v) = ½ (u + v + |u - v|),     min(u, v) = -max(-u, -v)
              = ½ ((u + v)₊ - (-u - v)₊ + (u - v)₊ + (v - u)₊)       four ReLUs

A tree of pairwise minima and then of pairwise maxima takes ⌈log₂ s⌉ + ⌈log₂ k⌉ hidden layers; the
affine pieces and the ½ (…) merge with the linear maps between them. With one variable, J 2.5 needs
one hidden layer only; in n dimensions ⌈log₂(n + 1)⌉ layers are always enough, but the pieces must
then be written in another way. Where s and k are powers of two, the depth is ⌈log₂(s k)⌉ + 1 linear
maps.

Tarela and Martínez (1999), Math. Comput. Modelling 30; Arora et al. (2018), ICLR, theorem 2.1.
Notes: J 2.5, theorems 2.10 to 2.12 in more dimensions.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError


@checked
class MaxMinNetwork(nn.Module):
    """max_j min_i (a_ji ᵀ x + b_ji) as a ReLU network that can be trained further.

        max(u, v) = ½ ((u + v)₊ - (-u - v)₊ + (u - v)₊ + (v - u)₊)

    `layers` are its linear maps in order, with a ReLU between every two.

    Args:
        slopes: a_ji, for every group j its s affine pieces.
        offsets: b_ji.

    Example:
        >>> import torch
        >>> slopes = torch.tensor([[[1.0, 0.0]], [[-1.0, 0.0]]])
        >>> absolute = MaxMinNetwork(slopes, torch.zeros(2, 1))
        >>> absolute(torch.tensor([[-3.0, 5.0], [2.0, 5.0]])).flatten().tolist()
        [3.0, 2.0]
    """

    def __init__(self, slopes: Float[Tensor, "k s n"], offsets: Float[Tensor, "k s"]):
        super().__init__()
        if slopes.shape[:2] != offsets.shape or not offsets.numel():
            raise InputError(
                "`slopes` and `offsets` must describe the same pieces, shapes (k, s, n) and "
                f"(k, s), got {tuple(slopes.shape)} and {tuple(offsets.shape)}"
            )
        k, s, _ = slopes.shape
        steps = [*pairings(s, repeats=k, sign=-1.0), *pairings(k, repeats=1, sign=1.0)]
        read, shift = slopes.flatten(0, 1), offsets.flatten()
        self.layers = nn.ModuleList()
        for into, out in steps:
            self.layers.append(linear(into.to(read) @ read, into.to(read) @ shift))
            read, shift = out.to(read), torch.zeros(len(out)).to(read)
        self.layers.append(linear(read, shift))

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch 1"]:
        """The linear maps with a ReLU between every two."""
        *hidden, last = self.layers
        for layer in hidden:
            x = layer(x).relu()
        return last(x)


@checked
def max_min(
    slopes: Float[Tensor, "k s n"], offsets: Float[Tensor, "k s"], x: Float[Tensor, "batch n"]
) -> Float[Tensor, " batch"]:
    """max_j min_i (a_ji ᵀ x + b_ji), by its definition."""
    return (torch.einsum("ksn,bn->bks", slopes, x) + offsets).amin(2).amax(1)


@checked
def lattice(
    slopes: Float[Tensor, "r n"], offsets: Float[Tensor, " r"], corners: Sequence[Tensor]
) -> tuple[Float[Tensor, "r s n"], Float[Tensor, "r s"]]:
    """a_ji and b_ji, i ∈ S_j, of a continuous function with r affine pieces on convex polytopes.

    An affine function lies above another on a polytope if it does at its corners. Shorter S_j are
    filled up with j itself, which changes no minimum.

    Args:
        slopes: a_j of each piece.
        offsets: b_j of each piece.
        corners: The corners of each piece's polytope, one per row.
    """
    chosen = []
    for j, points in enumerate(corners):
        heights = points @ slopes.T + offsets
        rounding = 1e-12 * (1 + heights.abs().max())
        above = (heights >= heights[:, j : j + 1] - rounding).all(0)
        chosen.append(above.nonzero().flatten().tolist())
    s = max(map(len, chosen))
    S = torch.tensor([[*S_j, *[j] * (s - len(S_j))] for j, S_j in enumerate(chosen)])
    return slopes[S], offsets[S]


def pairings(number: int, repeats: int, sign: float) -> list[tuple[Tensor, Tensor]]:
    """The layers that reduce each of `repeats` groups of `number` values to its extreme.

    A layer is a pair (into, out): h = out (into u)₊ holds the larger of every two values for
    sign 1, the smaller for sign -1; an odd one is passed on as u₊ - (-u)₊.
    """
    layers = []
    while number > 1:
        pairs, odd = divmod(number, 2)
        into = [torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])] * pairs
        out = [torch.tensor([[0.5, -0.5, 0.5 * sign, 0.5 * sign]])] * pairs
        into += [torch.tensor([[1.0], [-1.0]])] * odd
        out += [torch.tensor([[1.0, -1.0]])] * odd
        layers.append((torch.block_diag(*into * repeats), torch.block_diag(*out * repeats)))
        number = pairs + odd
    return layers


@torch.no_grad()
def linear(W: Float[Tensor, "m n"], b: Float[Tensor, " m"]) -> nn.Linear:
    """h ↦ W h + b."""
    layer = nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    layer.weight.copy_(W)
    layer.bias.copy_(b)
    return layer


def example() -> tuple[MaxMinNetwork, Tensor]:
    """The largest of three minima of two affine functions of two variables, and ten inputs."""
    generator = torch.Generator().manual_seed(0)
    slopes, offsets = torch.randn(3, 2, 2, generator=generator), torch.zeros(3, 2)
    return MaxMinNetwork(slopes, offsets), torch.randn(10, 2, generator=generator)
