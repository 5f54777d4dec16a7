"""Claim: permuting the hidden units of a network does not change its output (J 2.2).

    W₂ φ(W₁x + b₁) + b₂  =  (W₂P⁻¹) φ(PW₁x + Pb₁) + b₂       for every permutation matrix P ∈ ℝᵐˣᵐ

Measured: over random permutations of both hidden layers and all activations, the largest change of
the outputs, relative to their size.
Bound: 1e-13; sums of 50 products in another order.
The footnote in J asks only that rows and columns of P sum to one. That is not enough: P must
contain only zeros and ones, or φ(Pz) ≠ Pφ(z). P also has as many rows as the layer has units, m.
"""

from copy import deepcopy
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import ACTIVATIONS

ROUNDING = 1e-13


def check(permutations: int = 30, width: int = 50, seed: int = 0) -> Verdict:
    """Permutation matrices.

    Args:
        permutations: Random networks and permutations.
        width: Units of each hidden layer.
    """
    return verdict(permutations, width, seed, spread=0.0)


def broken() -> Verdict:
    """Rows and columns still sum to one, but every entry is mixed with the others."""
    return verdict(4, 50, 0, spread=0.1)


def near() -> Near:
    """Rows and columns sum to one, but the entries are not quite zeros and ones."""
    return {
        f"entries mixed by {spread}": partial(verdict, 4, 50, 0, spread=spread)
        for spread in (1e-3, 1e-6)
    }


def verdict(permutations: int, width: int, seed: int, spread: float) -> Verdict:
    """Changes of the output when a layer is permuted, with the next one and without."""
    generator = torch.Generator().manual_seed(seed)
    whole: list[float] = []
    half: list[float] = []
    names = list(ACTIVATIONS)
    for trial in range(permutations):
        with torch.random.fork_rng():
            torch.manual_seed(seed * permutations + trial)
            model = MLP(5, [width, width], 3, names[trial % len(names)]).double()
        x = torch.randn(20, 5, generator=generator, dtype=torch.float64)
        P = torch.eye(width, dtype=torch.float64)[torch.randperm(width, generator=generator)]
        P = (1 - spread) * P + spread / width
        with torch.no_grad():
            f = model(x)
            for changes, follow in ((whole, True), (half, False)):
                changed = permuted(model, P, follow)(x)
                changes.append(((changed - f).norm() / f.norm()).item())
    trials = [float(trial + 1) for trial in range(permutations)]
    return Verdict(
        quantity="largest relative change of the output",
        measured=max(whole),
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Hidden units may be permuted if their outgoing weights are permuted with them",
            x_label="number of the random permutation",
            y_label="relative change of the output",
            points={
                "with the outgoing weights": (trials, whole),
                "without": (trials, half),
            },
            bounds={"rounding": ([trials[0], trials[-1]], [ROUNDING] * 2)},
            log="y",
        ),
        details={"smallest change without": min(half)},
    )


def permuted(model: MLP, P: Tensor, follow: bool) -> MLP:
    """W₁ → PW₁, b₁ → Pb₁ and W₂ → W₂P⁻¹ for both hidden layers."""
    model = deepcopy(model)
    for layer, following in zip(model.layers[:-1], model.layers[1:], strict=True):
        layer.weight.copy_(P @ layer.weight)  # type: ignore[operator]
        layer.bias.copy_(P @ layer.bias)  # type: ignore[operator]
        if follow:
            following.weight.copy_(following.weight @ torch.linalg.inv(P))  # type: ignore[operator]
    return model
