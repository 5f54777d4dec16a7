"""Claim: a GRU mixes its state with the candidate, not with the reset gate (J 5.1).

    s = σ(G [z_{t-1}, x_t]),   ζ = σ(H [z_{t-1}, x_t]),   z̃ = tanh(V [ζ ⊙ z_{t-1}, x_t])
    z_t = s ⊙ z_{t-1} + (1 - s) ⊙ z̃                      as printed in J: (1 - s) ⊙ ζ

Measured: the largest difference between the library's layer and this recurrence over random
sequences.
Bound: 1e-12; a contraction passes on rounding errors of 1.1e-16, and each step adds few.
As printed the state could never be negative, since 0 < ζ < 1, and V would have no effect. Cho et
al. (2014), EMNLP.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent.notes_gru import NotesGRU

BOUND = 1e-12
Mix = Callable[[Tensor, Tensor], Tensor]
INPUTS, BATCH = 2, 8


def check(steps: int = 60, hidden_size: int = 8, seed: int = 0) -> Verdict:
    """The candidate z̃ is mixed in.

    Args:
        steps: Length of the sequences.
        hidden_size: Units of the layer.
    """
    return verdict(steps, hidden_size, seed, candidate_only)


def broken() -> Verdict:
    """ζ mixed in, as printed."""
    return verdict(60, 8, 0, as_printed)


def near() -> Near:
    """A little of ζ mixed in with the candidate."""

    def mixed(share: float) -> Verdict:
        return verdict(60, 8, 0, lambda candidate, zeta: torch.lerp(candidate, zeta, share))

    return {f"{share} ζ + {1 - share} z̃": partial(mixed, share) for share in (0.1, 0.001)}


def candidate_only(candidate: Tensor, zeta: Tensor) -> Tensor:
    """z̃."""
    return candidate


def as_printed(candidate: Tensor, zeta: Tensor) -> Tensor:
    """ζ."""
    return zeta


def verdict(steps: int, width: int, seed: int, mix: Mix) -> Verdict:
    """The layer against the recurrence."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = NotesGRU(INPUTS, width).double()
        x = 2 * torch.randn(BATCH, steps, INPUTS, dtype=torch.float64)
    with torch.no_grad():
        z, _ = layer(x)
        right, wrong = (recurrence(layer, x, other) for other in (mix, as_printed))
    worst = (z - right).abs().max().item()
    times = [float(t + 1) for t in range(steps)]
    return Verdict(
        quantity="largest |layer - recurrence|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Mixed with the candidate a unit takes both signs, with the gate it cannot",
            x_label="step t",
            y_label="state of one unit",
            curves={
                "mixed with the candidate": (times, right[0, :, 0].tolist()),
                "mixed with the reset gate, as printed": (times, wrong[0, :, 0].tolist()),
            },
            points={"the library's layer": (times, z[0, :, 0].tolist())},
        ),
        details={
            "smallest state": z.min().item(),
            "smallest state, as printed": wrong.min().item(),
        },
    )


def recurrence(layer: NotesGRU, x: Tensor, mix: Mix) -> Tensor:
    """z_1 … z_T, with what `mix` makes of the candidate and the reset gate."""
    z, states = x.new_zeros(len(x), layer.hidden_size), []
    for x_t in x.unbind(1):
        seen = torch.cat([z, x_t], 1)
        s, zeta = torch.sigmoid(seen @ layer.G.T), torch.sigmoid(seen @ layer.H.T)
        candidate = torch.tanh(torch.cat([zeta * z, x_t], 1) @ layer.V.T)
        z = s * z + (1 - s) * mix(candidate, zeta)
        states.append(z)
    return torch.stack(states, 1)
