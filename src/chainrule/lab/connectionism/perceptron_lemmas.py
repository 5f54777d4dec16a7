"""Claim: after t mistakes the perceptron has uᵀw ≥ tγ and ‖w‖ ≤ R√t (J 1.2).

    uᵀ w_t ≥ t γ   (lemma 1.1),    ‖w_t‖ ≤ R √t   (lemma 1.2),     ‖u‖ = 1, y uᵀx ≥ γ, R = max ‖x‖

Measured: along runs on random separable data, the largest of (tγ - uᵀw_t) / R and (‖w_t‖ - R√t) /
R.
Bound: 0 by the lemmas, plus 1e-9 for sums of up to 10⁵ rounded numbers.
"""

import torch
from torch import Tensor

from chainrule.data.datasets.blobs import sample
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.perceptron import maximal_margin, perceptron_algorithm

ROUNDING = 1e-9


def check(runs: int = 30, examples: int = 60, seed: int = 0) -> Verdict:
    """Run algorithm 1 on data of 2 to 10 dimensions.

    Args:
        runs: Random separable data sets.
        examples: Examples per data set.
    """
    return verdict([data(examples, seed * runs + run) for run in range(runs)], mistaken=True)


def broken() -> Verdict:
    """Updates on every example, right or wrong: lemma 1.2 needs the mistake."""
    return verdict([data(60, 0)], mistaken=False)


def near() -> Near:
    """A margin slightly too large, a radius slightly too small."""
    few = [data(60, run) for run in range(10)]
    sets = [(x[:3], y[:3]) for x, y in few]  # so that all lie at the margin
    return {
        "γ × 1.1": lambda: verdict(sets, mistaken=True, margin=1.1),
        "R × 0.9": lambda: verdict(sets, mistaken=True, radius=0.9),
    }


def data(number: int, seed: int) -> tuple[Tensor, Tensor]:
    """Points and signs with a margin."""
    generator = torch.Generator().manual_seed(seed)
    dimension = int(torch.randint(2, 11, (), generator=generator))
    (x, labels), _ = sample(number, dimension, 0.05, seed)
    return x.double(), 2.0 * labels.double() - 1


def verdict(
    sets: list[tuple[Tensor, Tensor]], mistaken: bool, margin: float = 1.0, radius: float = 1.0
) -> Verdict:
    """The largest violation over all runs; the picture is the longest run."""
    traces = [trace(x, y, mistaken) for x, y in sets]
    worst = max(
        torch.maximum(t * g * margin - along, norm - radius * t.sqrt()).max()
        for t, along, norm, g in traces
    )
    t, along, norm, gamma = max(traces, key=lambda found: len(found[0]))
    steps = t.tolist()
    return Verdict(
        quantity="largest violation of either lemma, in units of R",
        measured=worst.item(),
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="The weight vector's length stays between tγ and R√t",
            x_label="mistakes t",
            y_label="in units of R",
            points={"‖w‖": (steps, norm.tolist()), "uᵀw": (steps, along.tolist())},
            bounds={"√t": (steps, t.sqrt().tolist()), "t γ / R": (steps, (t * gamma).tolist())},
        ),
        details={"runs": float(len(sets)), "most mistakes": float(len(steps) - 1)},
    )


def trace(x: Tensor, y: Tensor, mistaken: bool) -> tuple[Tensor, Tensor, Tensor, float]:
    """(t, uᵀw_t, ‖w_t‖, γ) in units of R."""
    best = maximal_margin(x, y)
    assert best is not None
    (u, margin), radius = best[:2], x.norm(dim=1).max().item()
    if mistaken:
        w = perceptron_algorithm(
            x, y, passes=100_000, bias=False, patience=None, history=True
        ).history
        assert w is not None
    else:
        w = torch.cat([torch.zeros_like(x[:1]), (y[:, None] * x).cumsum(0)])
    t = torch.arange(len(w), dtype=torch.float64)
    return t, w @ u / radius, w.norm(dim=1) / radius, margin / radius
