"""Claim: one hidden layer approximates any function, unless φ is a polynomial (J 2.4, J 2.5, L 10).

    d_K(f, g) = sup_{x ∈ K} |f(x) - g(x)|,     g(x) = c + Σ_{i≤m} v_i φ(w_iᵀx + b_i)
    φ not a polynomial:             d_K(f, g) → 0 as m → ∞
    φ a polynomial of degree k:     g is one too, so d_K stays where the best fit of degree k is

K = [-1, 1]ⁿ, n = 1 and 2. The hidden units are random and v, c solved by least squares with a tiny
penalty, for every activation of the library.
Measured: d_K of `width` units, divided by that of the identity, which no number of units improves;
the largest over the other activations and n.
Bound: ½; the theorem promises any number above 0, and does not say for which width. Units that are
polynomials of degree k (here 1, 2 and 3) must also agree with the least-squares polynomial of that
degree within 1e-3, whatever the width. And training the hidden units too must reduce the squared
error of every activation that has a gradient.
J's theorem 2.5 asks for a smooth φ. L's theorem 1 asks only that σ has the limits 0 and 1; it also
needs a measurable and bounded σ. Cybenko (1989); Leshno et al. (1993), Neural Networks 6.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.ridge_regression import RidgeRegression
from chainrule.nn.activations import ACTIVATIONS, Activation
from chainrule.nn.sup_norm import lattice, sup_distance

BOUND = 0.5
SAME = 1e-3
SIDES = {1: 401, 2: 51}  # points along each side of the grid that is fitted
POLYNOMIALS: dict[str, Activation] = {
    "identity": ACTIVATIONS["identity"],
    "z²": torch.square,
    "z³": lambda z: z**3,
}
UNIVERSAL = {name: phi for name, phi in ACTIVATIONS.items() if name != "identity"}
STEPS = 40


def check(width: int = 256, seed: int = 0) -> Verdict:
    """All activations of the library.

    Args:
        width: Hidden units of the widest networks, at least 16.
    """
    return verdict(UNIVERSAL, width, seed)


def broken() -> Verdict:
    """A polynomial among the activations."""
    return verdict({"z³": POLYNOMIALS["z³"]}, 64, 0)


def near() -> Near:
    """Polynomials that are almost enough, and a sigmoidal σ that is neither smooth nor bounded."""

    def rough(z: Tensor) -> Tensor:
        """0 and 1 at the ends; in between, the last digits of z."""
        return torch.where(z.abs() < 4, 1e3 * torch.sin(1e12 * z), (z > 0).to(z))

    return {
        "z⁴": partial(verdict, {"z⁴": lambda z: z**4}, 64, 0),
        "a Taylor polynomial of the sigmoid": partial(
            verdict, {"Taylor": lambda z: 0.5 + z / 4 - z**3 / 48}, 64, 0
        ),
        "sigmoidal, but noise in between": partial(verdict, {"rough": rough}, 64, 0),
    }


def verdict(activations: dict[str, Activation], width: int, seed: int) -> Verdict:
    """Distances by activation, dimension and width."""
    widths = [m for m in (8, 16, 32, 64, 128, 256, 512, 1024) if m < width] + [width]
    relative: dict[tuple[str, int], list[float]] = {}
    plateau, agree, learns = {}, True, True
    for n in SIDES:
        x = grid(n)
        plateau[n] = distance(polynomial(x, 1), n)
        for name, phi in activations.items():
            shown = widths if n == 2 else widths[-1:]
            networks = [fitted(phi, m, x, seed) for m in shown]
            relative[name, n] = [distance(network, n) / plateau[n] for network in networks]
            learns &= name == "step" or trained_better(fitted(phi, 16, x, seed), x)
        for k, phi in enumerate(POLYNOMIALS.values(), 1):
            best = polynomial(x, k)(x)
            found = [fitted(phi, m, x, seed)(x)[:, 0] for m in (64, 128)]
            agree &= all((g - best).abs().max().item() <= SAME for g in found)
    last = {key: found[-1] for key, found in relative.items()}
    return Verdict(
        quantity="largest d_K(f, g) / that of any number of identity units",
        measured=max(last.values()),
        relation="≤",
        bound=BOUND,
        conditions={
            "a polynomial φ is the best fit of its degree": agree,
            "training the hidden units helps": learns,
        },
        picture=picture({name: relative[name, 2] for name in activations}, widths),
        details={f"{name}, n = {n}": value for (name, n), value in last.items()},
    )


def picture(relative: dict[str, list[float]], widths: Sequence[int]) -> Picture:
    m = [float(width) for width in widths]
    return Picture(
        title="The largest error goes to zero as units are added, unless φ is a polynomial",
        x_label="hidden units m",
        y_label="largest error on [-1, 1]², identity = 1",
        points={name: (m, found) for name, found in relative.items()},
        bounds={"identity, any m": ([m[0], m[-1]], [1.0, 1.0])},
        log="xy",
    )


def f(x: Tensor) -> Tensor:
    """A function with hills and valleys."""
    return (math.pi * x.sum(1) / x.shape[1] ** 0.5).sin() + 0.5 * (2 * math.pi * x[:, 0]).cos()


def grid(n: int) -> Tensor:
    """A regular grid of [-1, 1]ⁿ."""
    return 2 * lattice(n, SIDES[n]).double() / (SIDES[n] - 1) - 1


def distance(g: Callable[[Tensor], Tensor], n: int) -> float:
    """d_K(f, g)."""
    one = torch.ones(n, dtype=torch.float64)
    return sup_distance(f, g, -one, one, points={1: 501, 2: 71}[n], refinements=12)


@torch.random.fork_rng()
@torch.no_grad()
def fitted(phi: Activation, m: int, x: Tensor, seed: int) -> MLP:
    """Random hidden units whose planes w_iᵀx + b_i = 0 cross the box, and the best v and c."""
    n = x.shape[1]
    generator = torch.Generator().manual_seed(seed)
    W = torch.randn(m, n, generator=generator, dtype=torch.float64)
    W = 3 * W / W.norm(dim=1, keepdim=True)
    b = W.abs().sum(1) * (2 * torch.rand(m, generator=generator, dtype=torch.float64) - 1)
    network = MLP(n, [m], 1, initialization="zero").double()
    network.activation = phi
    hidden, output = network.layers
    hidden.weight.copy_(W)  # type: ignore[operator]
    hidden.bias.copy_(b)  # type: ignore[operator]
    ridge = RidgeRegression(m, penalty=1e-6 * len(x)).double()
    features = phi(hidden(x))
    scale = features.square().mean().sqrt()
    ridge.solve(features / scale, f(x)[:, None])
    output.weight.copy_(ridge.weight / scale)  # type: ignore[operator]
    output.bias.copy_(ridge.bias)  # type: ignore[operator, arg-type]
    return network


def polynomial(x: Tensor, k: int) -> Callable[[Tensor], Tensor]:
    """The least-squares polynomial of degree k, as a function of a batch of points."""

    def monomials(x: Tensor) -> Tensor:
        powers = lattice(x.shape[1], k + 1)
        powers = powers[powers.sum(1) <= k]
        return (x[:, None] ** powers).prod(2)

    a = torch.linalg.lstsq(monomials(x), f(x)[:, None]).solution[:, 0]
    return lambda x: monomials(x) @ a


def trained_better(network: MLP, x: Tensor) -> bool:
    """Whether steps of Adam on all weights reduce the mean squared error."""
    descent = optimizer("adam", network.parameters(), learning_rate=1e-4)
    errors = []
    for _ in range(STEPS):
        descent.zero_grad()
        error = losses.squared(network(x)[:, 0], f(x)).mean()
        error.backward()
        descent.step()
        errors.append(error.item())
    return errors[-1] < errors[0]
