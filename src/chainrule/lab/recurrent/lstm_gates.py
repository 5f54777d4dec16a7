"""Claim: in J's LSTM the gates are F, G and H; V computes what they let in (J 5.1).

    z_t = σ(F x̃_t) ⊙ z_{t-1} + σ(G x̃_t) ⊙ tanh(V x̃_t),     ζ_t = σ(H x̃_t) ⊙ tanh(U z_t)
    G closed, F open  ⇒  z_T = z_0         F closed  ⇒  z_T forgets z_0         H closed  ⇒  ζ_T = 0

Measured: the largest deviation from these three over random weights and sequences; a constant input
of ±60 closes or opens a gate.
Bound: 1e-12; closed gates pass at most e⁻⁵⁰, and rounding is 1.1e-16 per step.
The notes call tanh(V x̃) the input gate and σ(G x̃) the gate gate: at its low end, tanh(V x̃) = -1
lets in more than before, with a sign. Hochreiter and Schmidhuber (1997); forget gate: Gers,
Schmidhuber and Cummins (2000).
"""

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent.notes_lstm import NotesLSTM

BOUND = 1e-12
INPUTS, WIDTH, BATCH = 3, 6, 4
FAR = 60.0


def check(steps: int = 40, seed: int = 0) -> Verdict:
    """G is the input gate.

    Args:
        steps: Length of the sequences.
    """
    return verdict(steps, seed, gate="G")


def broken() -> Verdict:
    """V is the input gate, as printed."""
    return verdict(40, 0, gate="V")


def near() -> Near:
    """Gates that are not quite closed."""
    return {
        f"gates pushed by {far:g}": partial(verdict, 40, 0, gate="G", far=far)
        for far in (20.0, 10.0)
    }


def verdict(steps: int, seed: int, gate: str, far: float = FAR) -> Verdict:
    """What remains when gates are closed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = NotesLSTM(INPUTS, WIDTH).double()
        x = torch.randn(BATCH, steps, INPUTS, dtype=torch.float64).clamp(-3, 3)
        z_0, other = torch.randn(2, BATCH, WIDTH, dtype=torch.float64)
    x[..., -1] = 1  # the constant input that sets the gates
    _, kept = run(layer, x, z_0, {"F": far, gate: -far})
    once, twice = (run(layer, x, start, {"F": -far})[1] for start in (z_0, other))
    hidden, _ = run(layer, x, z_0, {"H": -far})
    deviations = {
        "input gate closed": (kept - z_0[:, None]).abs().max().item(),
        "forget gate closed": (once - twice).abs().max().item(),
        "output gate closed": hidden.abs().max().item(),
    }
    worst = max(deviations.values())
    times = [float(t + 1) for t in range(steps)]
    shut = {"σ(G x̃) closed": "G", "tanh(V x̃) at its low end": "V"}
    return Verdict(
        quantity="largest deviation with closed gates",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Closing σ(G x̃) preserves a cell; tanh(V x̃) is not a gate",
            x_label="step t",
            y_label="state of one cell",
            curves={"the cell at the start": (times, [z_0[0, 0].item()] * steps)},
            points={
                name: (times, run(layer, x, z_0, {"F": FAR, W: -FAR})[1][0, :, 0].tolist())
                for name, W in shut.items()
            },
        ),
        details=deviations,
    )


def run(
    layer: NotesLSTM, x: Tensor, z_0: Tensor, pushed: Mapping[str, float]
) -> tuple[Tensor, Tensor]:
    """ζ and z over time, when the named matrices get these weights for the constant input."""
    before = {name: getattr(layer, name).detach().clone() for name in pushed}
    with torch.no_grad():
        for name, weight in pushed.items():
            getattr(layer, name)[:, -1] = weight
        outputs, (_, zs) = layer.unroll(x, torch.zeros_like(z_0), z_0)
        for name, weights in before.items():
            getattr(layer, name).copy_(weights)
    return outputs, zs
