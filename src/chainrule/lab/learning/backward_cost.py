"""Claim: all gradients together cost at most two forward passes (L, J 3.1).

    forward    h ↦ W h               n m multiply-adds per layer
    backward   δ ↦ Wᵀ δ and δ hᵀ     2 n m, but n m in the first layer, which passes nothing on
    backward / forward  =  2 - first layer / all layers  ≤  2

Measured: multiply-adds, counted while models of the library run forward and backward; the largest
ratio.
Bound: 2; for MLPs the ratio must equal the formula exactly, since counts do not round.
Finite differences would cost a forward pass per weight. "Cost independent of the number of
parameters" (L "Backprop as Reverse-Mode Differentiation") is true of the ratio only. Baur and
Strassen (1983): f and all its derivatives take at most 3 times the multiplications of f, for any f.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.multiply_adds import torch_multiply_adds
from chainrule.models.feedforward.mlp import MLP
from chainrule.registry import find

HIDDEN = ((4,), (8, 8), (32,), (32, 32, 32), (128, 64), (256,) * 3, (512,) * 4, (1024,) * 2)
OTHERS = ("gcn", "elman", "vit", "transformer", "unet", "lenet", "resnet", "pointnet")
Sweep = Callable[[nn.Module, Tensor], None]


def check() -> Verdict:
    """One backward pass of autograd."""
    return verdict(backward, HIDDEN, OTHERS)


def broken() -> Verdict:
    """One finite difference per weight."""
    return verdict(differences, HIDDEN[:2], ())


def near() -> Near:
    """The first layer passes its error on to the input as well, or saves 10 % less or more."""

    def to_the_input(model: nn.Module, x: Tensor) -> None:
        model(x.clone().requires_grad_()).sum().backward()

    def formula_off(factor: float) -> Verdict:
        return verdict(backward, HIDDEN[:3], (), saved=factor)

    return {
        "∂ℓ/∂x computed too": lambda: verdict(to_the_input, HIDDEN[:3], ()),
        **ten_percent("first layer / all layers", formula_off),
    }


def verdict(
    sweep: Sweep, hidden: tuple[tuple[int, ...], ...], others: tuple[str, ...], saved: float = 1.0
) -> Verdict:
    """Costs in forward passes; dense networks have 10 inputs and outputs."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dense = [cost(sweep, MLP(10, widths, 10), torch.randn(2, 10)) for widths in hidden]
        rest = [cost(sweep, *find("models", name).load().example()) for name in others]
    off = max(abs(d[1] - formula([10, *w, 10], saved)) for d, w in zip(dense, hidden, strict=True))
    largest = max(ratio for _, ratio in dense + rest)
    weights = [number for number, _ in dense + rest]
    span = [min(weights), max(weights)]
    return Verdict(
        quantity="largest cost, backward / forward",
        measured=largest,
        relation="≤",
        bound=2.0,
        conditions={"MLPs match 2 - first layer / all layers": off == 0},
        picture=Picture(
            title="The whole gradient costs two forward passes, however many weights there are",
            x_label="number of weights",
            y_label="cost of the gradient, in forward passes",
            points={
                "MLPs": ([n for n, _ in dense], [ratio for _, ratio in dense]),
                "other models": ([n for n, _ in rest], [ratio for _, ratio in rest]),
            },
            bounds={"bound": (span, [2.0, 2.0]), "one difference per weight": (span, span)},
            log="xy",
        ),
        details={"difference from the formula": off},
    )


def formula(sizes: list[int], saved: float) -> float:
    """(2 Σ n m - n_1 m_1) / Σ n m, with n_1 m_1 times `saved`."""
    products = [n * m for n, m in pairwise(sizes)]
    return (2 * sum(products) - saved * products[0]) / sum(products)


def cost(sweep: Sweep, model: nn.Module, x: Tensor) -> tuple[float, float]:
    """Number of weights, and the sweep's multiply-adds per multiply-add of a forward pass."""
    once = torch_multiply_adds(model, x)
    both = torch_multiply_adds(lambda: sweep(model, x))
    return float(sum(p.numel() for p in model.parameters())), (both - once) / once


def backward(model: nn.Module, x: Tensor) -> None:
    """Forward, then all gradients at once."""
    model(x).sum().backward()


def differences(model: nn.Module, x: Tensor) -> None:
    """Forward, then once more for every perturbed weight."""
    model(x)
    for p in model.parameters():
        for place in range(p.numel()):
            with torch.no_grad():
                p.view(-1)[place] += 1e-4
                model(x)
                p.view(-1)[place] -= 1e-4
