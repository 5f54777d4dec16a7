"""Claim: co-states give autograd's gradients for any chain of layers (L, J 3.1).

    x_{l+1} = g_l(x_l, W_l),    p_L = ∂ℓ/∂x_L
    p_l = [∂g_l/∂x_l]ᵀ p_{l+1},    ∂ℓ/∂W_l = [∂g_l/∂W_l]ᵀ p_{l+1}

Measured: p_l and ∂ℓ/∂W_l of the library's recursion through 1 … `num_layers` layers, alternating
dense layers with tanh and x + W tanh x, against autograd; the largest difference, relative to the
largest entry.
Bound: 1e-12: the same products in double precision in different orders, and at most three digits
lost by cancellation.
J's recursion lacks the ∂ of ∂h^{l+1}/∂h^l; L's prose has x_{l+1} for x_{L+1}. LeCun (1988).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from chainrule.autodiff import Block, Layer, automatic, costates, dense, states
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent

BOUND = 1e-12


def check(width: int = 8, num_layers: int = 10, seed: int = 0) -> Verdict:
    """Each layer's own vector-Jacobian product.

    Args:
        width: Units of every layer.
        num_layers: Layers of the deepest chain.
    """
    return verdict(lambda block: block, width, num_layers, seed)


def broken() -> Verdict:
    """A layer that passes p on unchanged, as if ∂g/∂x were the identity."""

    def unchanged(block: Block) -> Block:
        return Block(block.g, lambda x, W, p: (p, block.pull(x, W, p)[1]))

    return verdict(unchanged, 8, 5, 0)


def near() -> Near:
    """Layers whose ∂g/∂x is off by 10 %."""

    def passed(factor: float) -> Verdict:
        def turn(block: Block) -> Block:
            def pull(x: Tensor, W: Any, p: Tensor) -> tuple[Tensor, Any]:
                back, gradient = block.pull(x, W, p)
                return factor * back, gradient

            return Block(block.g, pull)

        return verdict(turn, 8, 5, 0)

    return ten_percent("∂g/∂x", passed)


def verdict(turn: Callable[[Block], Block], width: int, depth: int, seed: int) -> Verdict:
    """Differences from autograd by the number of layers."""
    generator = torch.Generator().manual_seed(seed)
    depths = range(1, depth + 1)
    worst = [difference(turn, width, layers, generator) for layers in depths]
    x = list(map(float, depths))
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=max(worst),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Co-states, propagated backward through any layers, are autograd's gradients",
            x_label="layers",
            y_label="largest relative difference",
            points={"alternating dense and residual layers": (x, [max(w, 1e-17) for w in worst])},
            bounds={"bound": (x, [BOUND] * len(x))},
            log="y",
        ),
    )


def difference(
    turn: Callable[[Block], Block], width: int, depth: int, generator: torch.Generator
) -> float:
    """All p and all gradients of ½ ‖x_L‖² against autograd's."""
    kinds = [dense("tanh"), automatic(lambda x, W: x + x.tanh() @ W.T)]
    blocks = [kinds[k % 2] for k in range(depth)]
    shapes: list[list[tuple[int, ...]]] = [[(width, width), (width,)], [(width, width)]]
    drawn = [[draw(shape, generator) for shape in shapes[k % 2]] for k in range(depth)]
    weights = [Layer(*each) if len(each) == 2 else each[0] for each in drawn]
    x = states(blocks, weights, draw((4, width), generator))
    leaves = [t for each in drawn for t in each]
    automatically = torch.autograd.grad(0.5 * x[-1].square().sum(), [*x[:-1], *leaves])
    p, gradients = costates([turn(block) for block in blocks], weights, x, x[-1].detach())
    flat = [t for g in gradients for t in (g if isinstance(g, tuple) else (g,))]
    pairs = zip([*p[:-1], *flat], automatically, strict=True)
    return max(((a - b).abs().max() / b.abs().max()).item() for a, b in pairs)


def draw(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Of variance 1/n, requiring a gradient."""
    t = torch.randn(shape, dtype=torch.float64, generator=generator) / shape[-1] ** 0.5
    return t.requires_grad_()
