"""Perceptron: a threshold unit that learns from its mistakes.

    f(x) = sgn(wᵀ x + b)                          x ∈ ℝⁿ, y ∈ {-1, +1}, sgn(0) = 0
    γ(x, y) = y (wᵀ x + b) / ‖w‖                  signed distance; margin γ(S) = min over S
    V(S) = {(w, b) | y (wᵀ x + b) > 0 on S}       version space
    on a mistake, y (wᵀ x + b) ≤ 0:
        w ← w + y x,   b ← b + y                  algorithm 1, until a pass has no mistake

Without bias, data of margin γ and radius R = max ‖x‖ cost at most ⌊R²/γ²⌋ mistakes (Novikoff 1962;
theorem J 1.3 prints "less than ⌈R²/γ²⌉", its proof gives the floor). On data that no hyperplane
separates the algorithm would never end; here a linear program detects this and ends the run. Where
floating-point numbers leave a doubt, rational arithmetic decides.

Rosenblatt (1958), Psychological Review 65. Notes: J 1.2.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.nn.separation import TOLERANCE, convex_weights, is_exact, separate


@checked
class Perceptron(nn.Module):
    """A linear threshold unit that learns from its mistakes, in double precision.

        f(x) = sgn(wᵀ x + b)
        w ← w + y x,   b ← b + y        where y (wᵀ x + b) ≤ 0

    Args:
        inputs: Size of x.
        bias: Whether there is a b; without it the hyperplane passes through the origin.

    Example:
        >>> import torch
        >>> x = torch.tensor([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, 0.0]])
        >>> y = torch.tensor([1.0, 1.0, -1.0, -1.0])
        >>> model = Perceptron(2)
        >>> model.fit(x, y).reason
        'pass 2 made no mistake'
        >>> model(x).tolist()
        [1.0, 1.0, -1.0, -1.0]
    """

    w: Float[Tensor, " n"]
    b: Float[Tensor, ""]

    def __init__(self, inputs: Count, bias: bool = True):
        super().__init__()
        self.bias = bias
        self.register_buffer("w", torch.zeros(inputs, dtype=torch.float64))
        self.register_buffer("b", torch.zeros((), dtype=torch.float64))

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, " batch"]:
        """sgn(wᵀ x + b), one of -1, 0, +1."""
        return (x.double() @ self.w + self.b).sign().to(x.dtype)

    def fit(
        self, x: Float[Tensor, "batch n"], y: Float[Tensor, " batch"], passes: Count = 1000
    ) -> "PerceptronResult":
        """Run algorithm 1 and keep its final weights."""
        result = perceptron_algorithm(x, y, passes, bias=self.bias)
        self.w.copy_(result.w)
        self.b.copy_(result.b)
        return result


@dataclass(frozen=True)
class PerceptronResult:
    """Weights and course of a run; `history` holds (w, b) after 0, 1, … mistakes, if requested.

    `separable` is None if it was not decided whether a hyperplane separates the data.
    """

    w: Float[Tensor, " n"]
    b: Float[Tensor, ""]
    mistakes: int
    passes: int
    converged: bool
    separable: bool | None
    reason: str
    history: Float[Tensor, "steps weights"] | None = None


def signed_distance(
    w: Float[Tensor, " n"],
    b: Float[Tensor, ""],
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, " batch"],
) -> Float[Tensor, " batch"]:
    """γ(x, y) = y (wᵀ x + b) / ‖w‖; positive where the unit is right."""
    return y * (x @ w + b) / w.norm()


def margin(
    w: Float[Tensor, " n"],
    b: Float[Tensor, ""],
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """γ(S) = min γ(x, y)."""
    return signed_distance(w, b, x, y).min()


def in_version_space(
    w: Float[Tensor, " n"],
    b: Float[Tensor, ""],
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, " batch"],
) -> bool:
    """Whether y (wᵀ x + b) > 0 for every example."""
    return bool((y * (x @ w + b) > 0).all())


@checked
def perceptron_algorithm(
    x: Float[Tensor, "batch n"],
    y: Float[Tensor, " batch"],
    passes: Count = 1000,
    bias: bool = True,
    patience: Count | None = 10,
    history: bool = False,
) -> PerceptronResult:
    """Algorithm 1.

    Args:
        x: Inputs, one per row.
        y: Labels -1 and +1.
        passes: Largest number of passes over the data.
        bias: Whether b is learned; otherwise it stays 0.
        patience: After this many passes with mistakes a linear program decides whether the data are
            separable. None skips it, as for very many examples it is slower than more passes.
        history: Whether to return (w, b) after every mistake.
    """
    # With z = y (x, 1) and v = (w, b) a mistake is vᵀ z ≤ 0 and its update v ← v + z.
    z = _signed(x, y, bias)
    trace = [torch.zeros_like(z[0])]
    v, mistakes, known, reason = trace[0], 0, None, f"reached the limit of {passes} passes"
    for number in range(1, passes + 1):
        before, i = mistakes, _next_mistake(z, v, 0)
        while i is not None:
            v, mistakes = v + z[i], mistakes + 1
            if history:
                trace.append(v)
            i = _next_mistake(z, v, i + 1)
        if mistakes == before:
            known, reason = True, f"pass {number} made no mistake"
            break
        if patience is not None and number == min(patience, passes):
            known = separating_hyperplane(x, y, bias) is not None
            if not known:
                reason = "no hyperplane separates the data"
                if not is_exact(z.numpy()):
                    reason += f" by more than {TOLERANCE:g} of their size"
                break
    if known and mistakes > before:
        reason += ", but the data are separable: allow more"
    w, b = _parts(v, bias)
    steps = torch.stack(trace) if history else None
    return PerceptronResult(w, b, mistakes, number, mistakes == before, known, reason, steps)


def separating_hyperplane(
    x: Float[Tensor, "batch n"], y: Float[Tensor, " batch"], bias: bool = True
) -> tuple[Float[Tensor, " n"], Float[Tensor, ""]] | None:
    """Some (w, b) of the version space, or None if it is empty.

    Exact for up to 10 inputs and 100,000 numbers in x, but (w, b) is rounded. Larger data with a
    gap below about 2e-9 of their size may be taken for inseparable.
    """
    v = separate(_signed(x, y, bias).numpy())
    return None if v is None else _parts(torch.from_numpy(v), bias)


def maximal_margin(
    x: Float[Tensor, "batch n"], y: Float[Tensor, " batch"]
) -> tuple[Float[Tensor, " n"], float] | None:
    """The unit vector w with the largest margin min y wᵀ x, and that margin γ; None if none is > 0.

    min ‖w‖ subject to y wᵀ x ≥ 1 is the dual of a non-negative least squares problem (Lawson and
    Hanson 1974, chapter 23), which an active-set method solves in finitely many steps.
    """
    z = _signed(x, y, bias=False).numpy()
    r = z.T @ convex_weights(z)
    if not r.any():
        return None
    w = torch.from_numpy(r / np.linalg.norm(r))
    gamma = float((torch.from_numpy(z) @ w).min())
    return (w, gamma) if gamma > 0 else None


def _signed(
    x: Float[Tensor, "batch n"], y: Float[Tensor, " batch"], bias: bool
) -> Float[Tensor, "batch weights"]:
    """y (x, 1), or y x without bias, in double precision."""
    if not y.abs().eq(1).all():
        raise InputError("labels must be -1 and +1; map 0/1 labels by 2 y - 1")
    if not x.isfinite().all():
        raise InputError("x must be finite; remove or impute missing values")
    x = x.double()
    z = torch.cat([x, x.new_ones(len(x), 1)], dim=1) if bias else x
    return z * y.double()[:, None]


def _parts(
    v: Float[Tensor, " weights"], bias: bool
) -> tuple[Float[Tensor, " n"], Float[Tensor, ""]]:
    """(w, b) of v, with b = 0 where there is no bias."""
    return (v[:-1], v[-1]) if bias else (v, v.new_zeros(()))


def _next_mistake(
    z: Float[Tensor, "batch weights"], v: Float[Tensor, " weights"], start: int
) -> int | None:
    """The first i ≥ start with vᵀ z_i ≤ 0, searched in blocks of doubling size."""
    block = 64
    while start < len(z):
        wrong = (z[start : start + block] @ v <= 0).nonzero()
        if len(wrong):
            return start + int(wrong[0])
        start, block = start + block, 2 * block
    return None


def example() -> tuple[Perceptron, Tensor]:
    """A perceptron fitted to two separable clouds of points, and those points."""
    x = torch.randn(20, 2)
    y = torch.where(torch.arange(20) < 10, 1.0, -1.0)
    model, x = Perceptron(2), x + 3 * y[:, None]
    model.fit(x, y)
    return model, x
