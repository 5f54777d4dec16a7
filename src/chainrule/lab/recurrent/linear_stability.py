"""Claim: no linear recurrence of the library can explode, for any weights and inputs (J 5.2).

    h_t = a_t ⊙ h_{t-1} + b_t
    S4D  |a| = exp(-Δ exp α) < 1      Mamba  a = exp(-Δ_t exp A) < 1      LRU  |a| = exp(-exp ν) < 1
    minGRU  a = σ(G x_t + g) < 1      minLSTM  a = f_t / (f_t + i_t) < 1

Measured: two runs of a layer on the same inputs from different states; their difference is
multiplied by a_t, the eigenvalues of a diagonal recurrence. The largest product of two |a| over
layers with random weights, far from their initial ones, and strong inputs.
Bound: 1 + 1e-9; the difference has an error of 1.1e-16 of the states, which are below 10⁶.
Where 1 - |a| is smaller than that, |a| itself rounds to 1, never to more. Gu et al. (2022) for S4D,
Gu and Dao (2023) for Mamba, Orvieto et al. (2023) for LRU, Feng et al. (2024) for the others.
L "RNN: Training".
"""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent import LRU, MinGRU, MinLSTM, Selective, StateSpace
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.nn.kernels.scan import scan

BOUND = 1 + 1e-9
INPUTS, WIDTH = 4, 16
LAYERS: Mapping[str, Callable[[int, int], Recurrent]] = {
    "S4D": StateSpace,
    "Mamba": Selective,
    "LRU": LRU,
    "minGRU": MinGRU,
    "minLSTM": MinLSTM,
}


class Free(Recurrent):
    """h_t = w ⊙ h_{t-1} + (V x_t)_i with any w: linear, and w may exceed 1."""

    def __init__(self, inputs: int, width: int, largest: float = 1.1):
        super().__init__(inputs, width)
        self.w = torch.nn.Parameter(torch.linspace(0.9, largest, width))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        states = scan(self.w, x.mean(2, keepdim=True).expand(-1, -1, self.hidden_size), *state)
        return states, (states,)


def check(trials: int = 10, seed: int = 0) -> Verdict:
    """All layers computed by a scan.

    Args:
        trials: Random layers of each kind.
    """
    return verdict(LAYERS, trials, seed)


def broken() -> Verdict:
    """A layer whose eigenvalues are free weights."""
    return verdict({**LAYERS, "free": Free}, 1, 0)


def near() -> Near:
    """Free weights that exceed 1 by little."""

    def up_to(largest: float) -> Verdict:
        return verdict({"free": partial(Free, largest=largest)}, 1, 0)

    return {f"free eigenvalues up to {most}": partial(up_to, most) for most in (1.01, 1.000001)}


def verdict(
    layers: Mapping[str, Callable[[int, int], Recurrent]], trials: int, seed: int
) -> Verdict:
    """Factors of random layers, and the memory of new ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        largest = max(
            left(disturbed(make), 2, strength=3.0).amax().item()
            for make in layers.values()
            for _ in range(trials)
        )
        courses = {name: left(make(INPUTS, WIDTH), 1000, 1.0) for name, make in layers.items()}
    times = [1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000]
    steps = [float(t) for t in times]
    return Verdict(
        quantity="largest product of two |a|",
        measured=largest,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Every linear layer forgets: some units in a few steps, some in thousands",
            x_label="steps t",
            y_label="fraction of the initial state left, mean over units",
            points={
                name: (steps, [course[t - 1].mean().item() for t in times])
                for name, course in courses.items()
            },
            bounds={"nothing forgotten": ([1.0, 1000.0], [1.0, 1.0])},
            log="x",
        ),
    )


def disturbed(make: Callable[[int, int], Recurrent]) -> Recurrent:
    """A layer whose weights are perturbed by Gaussian noise of size 1."""
    layer = make(INPUTS, WIDTH)
    if not isinstance(layer, Free):
        for weights in layer.parameters():
            weights.data += torch.randn_like(weights)
    return layer


@torch.no_grad()
def left(layer: Recurrent, steps: int, strength: float) -> Tensor:
    """(steps, …): |∏ a| up to each step, from two runs whose first states differ by 1."""
    layer = layer.double()
    x = strength * torch.randn(1, steps, INPUTS, dtype=torch.float64)
    (zero,) = layer.starting_state(x, None)
    one, other = (layer.unroll(x, start)[1][0] for start in (zero + 1, zero))
    return (one - other).abs()[0]
