"""Claim: scaling each weight by π_i gives J's ensemble mean up to a second-order term (J 8.4).

    p̄ = Σ_b p(b) softmax((b ⊙ W) x + c),    p(b) = Π_i π_i^{b_i} (1 - π_i)^{1 - b_i}
    p̄_y - q_y = ½ q_y [Σ_k (δ_ky - q_k)² v_k - Σ_k q_k (1 - q_k) v_k] + O(‖W‖³)
    q = softmax((π ⊙ W) x + c),             v_k = Σ_i π_ki (1 - π_ki) w_ki² x_i²

q, the network with scaled weights, is the geometric mean exactly. J's sum is the arithmetic mean,
from which q differs by the curvature of the softmax times the variance v of the logits.
Measured: the library's DropConnect layer with a π for every weight, and all its masks; the largest
distance of p̄ - q from the formula, as a share of Σ_k v_k, for weights of size 10⁻⁵.
Bound: 8/3 D, D = max_k Σ_i |w_ki x_i|: Taylor's remainder, since the third derivative of a softmax
along Δ is at most 16 ‖Δ‖³ and no logit moves farther than D.
J calls π the dropout probability; it is the probability to be kept. Wan et al. (2013), Baldi and
Sadowski (2013).
"""

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.masks import every_mask
from chainrule.nn.dropout import DropConnect

INPUTS, CLASSES = 4, 3
SIZE = 1e-5
SIZES = torch.logspace(-2, 1, 13, dtype=torch.float64)
EXACT = 1e-12


def check(inputs: int = 10, seed: int = 0) -> Verdict:
    """Weights scaled by the probability to be kept.

    Args:
        inputs: Random inputs.
    """
    return verdict(inputs, seed)


def broken() -> Verdict:
    """Weights scaled by 1 - π, the probability to be dropped."""
    return verdict(10, 0, dropped=True)


def near() -> Near:
    """Another second-order term, or other weights of the masks."""
    return {
        **ten_percent("½", lambda factor: verdict(4, 0, half=0.5 * factor)),
        **ten_percent("π", lambda factor: verdict(4, 0, keep=factor)),
        "no second-order term": lambda: verdict(4, 0, half=0.0),
    }


@torch.no_grad()
def verdict(
    inputs: int, seed: int, half: float = 0.5, keep: float = 1.0, dropped: bool = False
) -> Verdict:
    """All subnetworks against the network with scaled weights."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(inputs, INPUTS, dtype=torch.float64, generator=generator)
    W = torch.randn(CLASSES, INPUTS, dtype=torch.float64, generator=generator)
    pi = 0.2 + 0.6 * torch.rand(W.shape, dtype=torch.float64, generator=generator)
    masks = every_mask(W.numel()).view(-1, *W.shape)
    p_b = torch.where(masks > 0, keep * pi, 1 - keep * pi).flatten(1).prod(1)

    def means(size: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        layer = nn.Linear(INPUTS, CLASSES).double()
        layer.weight.copy_(size * W)
        layer.bias.copy_(torch.arange(CLASSES) / 2)
        model = DropConnect(layer, 1 - pi if dropped else pi).eval()
        q = model(x).softmax(1)
        f = torch.stack([model.masked(x_i.expand(len(masks), -1), masks) for x_i in x])
        arithmetic = torch.einsum("b,xbk->xk", p_b, f.softmax(2))
        geometric = torch.einsum("b,xbk->xk", p_b, f.log_softmax(2)).softmax(1)
        v = x.square() @ (pi * (1 - pi) * (size * W).square()).T
        return q, arithmetic, geometric, second_order(q, v, half)

    q, arithmetic, _, predicted = means(SIZE)
    variance = x.square() @ (pi * (1 - pi) * (SIZE * W).square()).sum(0)
    off = ((arithmetic - q - predicted).abs().amax(1) / variance).max().item()
    bound = 8 / 3 * SIZE * (x.abs() @ W.abs().T).max().item()
    each = [means(size.item()) for size in SIZES]
    exact = max((g - p).abs().max().item() for p, _, g, _ in each)
    gaps = [(a - p).abs().max().item() for p, a, _, _ in each]
    return Verdict(
        quantity="largest error of the second-order term, share of Σ v",
        measured=off,
        relation="≤",
        bound=bound,
        conditions={"the geometric mean is q, within 1e-12": exact <= EXACT},
        picture=Picture(
            title="Scaled weights give the mean of all subnetworks up to second order",
            x_label="size of the weights",
            y_label="largest difference from scaled weights",
            curves={
                "½ curvature × variance": (
                    SIZES.tolist(),
                    [second.abs().max().item() for *_, second in each],
                )
            },
            points={"arithmetic mean, J's ensemble": (SIZES.tolist(), gaps)},
            log="xy",
        ),
        details={
            "difference of p̄ and q for weights of size 1": gaps[len(SIZES) // 3 * 2],
            "geometric mean, largest error": exact,
            "share of the bound": off / bound,
            "second-order term, share of Σ v": (predicted.abs().amax(1) / variance).max().item(),
        },
    )


def second_order(q: Tensor, v: Tensor, half: float) -> Tensor:
    """½ q_y [Σ_k (δ_ky - q_k)² v_k - Σ_k q_k (1 - q_k) v_k]."""
    deviations = (torch.eye(CLASSES, dtype=q.dtype) - q[:, None]).square()  # (x, y, k)
    own = (deviations * v[:, None]).sum(2)
    return half * q * (own - (q * (1 - q) * v).sum(1, keepdim=True))
