"""Claim: a loss corrected by the true Π learns the clean classifier from noisy labels (J 8.8).

    P(ỹ | x) = Σ_k p_k(x) Π_kỹ   ⇒   argmin_f E -log Σ_k softmax(f)_k Π_kỹ = f*,    softmax(f*) = p

while the plain cross-entropy is smallest for the noisy probabilities Πᵀ p. J smooths the labels by
Π e_y, with one column for each label; the correction needs the Π that made the noise, its rows (or
columns, by name) the noisy labels of a class.
Measured: a softmax regression whose true weights are known, on a fixed set of inputs; the expected
loss over all noisy labels is minimized, last by Newton's method; the largest error of a weight.
Bound: 1e-8: Newton's method ends at rounding, times the condition number of the Hessian, < 10⁶.
Patrini et al. (2017).
"""

import torch
from torch import Tensor
from torch.autograd.functional import hessian
from torch.func import grad

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.losses import Loss, cross_entropy
from chainrule.learning.soft_labels import forward_correction

BOUND = 1e-8
CLASSES, INPUTS = 3, 3
NOISE = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.05, 0.7]], dtype=torch.float64)


def check(examples: int = 60, seed: int = 0) -> Verdict:
    """The Π that made the noise.

    Args:
        examples: Inputs.
    """
    return verdict(examples, seed, forward_correction(NOISE))


def broken() -> Verdict:
    """The plain cross-entropy."""
    return verdict(60, 0, cross_entropy)


def near() -> Near:
    """Rows taken for columns, and noise rates that are off by 10 %."""
    balanced = NOISE / NOISE.sum(0)

    def other(factor: float) -> Verdict:
        less = NOISE * factor
        return verdict(60, 0, forward_correction(less.fill_diagonal_(0) + diagonal(less)))

    return {
        "columns for rows": lambda: verdict(60, 0, forward_correction(balanced, "columns")),
        **ten_percent("rate of noise", other),
    }


def diagonal(noise: Tensor) -> Tensor:
    """What is left to the true class."""
    return torch.diag(1 - noise.sum(1))


def verdict(examples: int, seed: int, loss: Loss) -> Verdict:
    """Weights learned from the distribution of noisy labels."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples, INPUTS, dtype=torch.float64, generator=generator)
    W = centered(1.5 * torch.randn(INPUTS, CLASSES, dtype=torch.float64, generator=generator))
    p = (x @ W).softmax(1)
    learned, plain = (minimizer(x, p @ NOISE, chosen) for chosen in (loss, cross_entropy))
    return Verdict(
        quantity="largest |weight - true weight|",
        measured=(learned - W).abs().max().item(),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Corrected by the true Π, noisy labels teach the clean classifier",
            x_label="true probability of a class",
            y_label="probability learned from noisy labels",
            points={
                "corrected": (flat(p), flat((x @ learned).softmax(1))),
                "plain cross-entropy": (flat(p), flat((x @ plain).softmax(1))),
            },
            bounds={"equal": ([0.0, 1.0], [0.0, 1.0])},
        ),
        details={"plain cross-entropy, largest |weight - true|": (plain - W).abs().max().item()},
    )


def minimizer(x: Tensor, noisy: Tensor, loss: Loss) -> Tensor:
    """argmin_W of the expected loss, by L-BFGS and then by Newton's method."""

    def expected(W: Tensor) -> Tensor:
        each = [loss(x @ W, torch.full((len(x),), k)) for k in range(CLASSES)]
        return (torch.stack(each, 1) * noisy).sum(1).mean()

    W = torch.zeros(INPUTS, CLASSES, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([W], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        descent.zero_grad()
        value = expected(W)
        value.backward()
        return value

    descent.step(closure)
    found = W.detach()
    for _ in range(5):
        H = hessian(expected, found).reshape(found.numel(), -1)
        step = torch.linalg.lstsq(H, grad(expected)(found).reshape(-1, 1), driver="gelsd").solution
        found = found - step.view_as(found)
    return centered(found)


def centered(W: Tensor) -> Tensor:
    """Weights that add up to 0 over the classes: the softmax does not see their mean."""
    return W - W.mean(1, keepdim=True)


def flat(p: Tensor) -> list[float]:
    return p.flatten().tolist()
