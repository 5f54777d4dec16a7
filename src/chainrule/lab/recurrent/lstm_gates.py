"""Claim: in J's LSTM F, G and H are the gates, and V makes what they let in (J 5.1).

    z_t = σ(F x̃_t) ⊙ z_{t-1} + σ(G x̃_t) ⊙ tanh(V x̃_t),     ζ_t = σ(H x̃_t) ⊙ tanh(U z_t)
    G shut, F open  ⇒  z_T = z_0         F shut  ⇒  z_T forgets z_0         H shut  ⇒  ζ_T = 0

Measured: the largest deviation from these three over random weights and sequences, a gate being
shut or open by -60 or 60 from a constant input. Bound: 1e-12; the gates stop all but e⁻⁵⁰, rounding
is 1.1e-16 a step. The notes call tanh(V x̃) the input gate and σ(G x̃) the gate gate: driven to its
low end, tanh(V x̃) = -1 lets more in than before, with a sign. Hochreiter and Schmidhuber (1997);
forget gate: Gers, Schmidhuber and Cummins (2000).
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.recurrent.notes_lstm import NotesLSTM

BOUND = 1e-12
INPUTS, WIDTH, BATCH = 3, 6, 4
FAR = 60.0


def check(steps: int = 40, seed: int = 0) -> Verdict:
    """G is the input gate."""
    return verdict(steps, seed, gate="G")


def broken() -> Verdict:
    """V is the input gate, as printed."""
    return verdict(40, 0, gate="V")


def verdict(steps: int, seed: int, gate: str) -> Verdict:
    """What is left when gates are shut."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = NotesLSTM(INPUTS, WIDTH).double()
        x = torch.randn(BATCH, steps, INPUTS, dtype=torch.float64).clamp(-3, 3)
        z_0, other = torch.randn(2, BATCH, WIDTH, dtype=torch.float64)
    x[..., -1] = 1  # by which gates are set
    _, kept = run(layer, x, z_0, {"F": FAR, gate: -FAR})
    once, twice = (run(layer, x, start, {"F": -FAR})[1] for start in (z_0, other))
    hidden, _ = run(layer, x, z_0, {"H": -FAR})
    deviations = {
        "input gate shut": (kept - z_0[:, None]).abs().max().item(),
        "forget gate shut": (once - twice).abs().max().item(),
        "output gate shut": hidden.abs().max().item(),
    }
    worst = max(deviations.values())
    times = [float(t + 1) for t in range(steps)]
    shut = {"σ(G x̃) shut": "G", "tanh(V x̃) at its low end": "V"}
    return Verdict(
        predicted=f"deviation of shut gates ≤ {BOUND:g}",
        measured=worst,
        bound=BOUND,
        holds=worst <= BOUND,
        picture=Picture(
            title="Shutting σ(G x̃) keeps a cell; tanh(V x̃) is no gate",
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
        zetas, (_, zs) = layer.unroll(x, torch.zeros_like(z_0), z_0)
        for name, weights in before.items():
            getattr(layer, name).copy_(weights)
    return zetas, zs
