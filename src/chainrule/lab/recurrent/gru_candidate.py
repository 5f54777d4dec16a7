"""Claim: a GRU mixes its state with the candidate, not with the reset gate (J 5.1).

    s = σ(G [z_{t-1}, x_t]),   ζ = σ(H [z_{t-1}, x_t]),   z̃ = tanh(V [ζ ⊙ z_{t-1}, x_t])
    z_t = s ⊙ z_{t-1} + (1 - s) ⊙ z̃                      as printed in J: (1 - s) ⊙ ζ

Measured: the largest difference between the library's layer in J's form and torch.nn.GRU over
random sequences. torch resets after the product, r ⊙ (U_n h), and J before it, U_n (ζ ⊙ z); both
are the same if U_n, V's part for the state, is diagonal, as it is here.
Bound: 1e-12; a contraction passes on rounding errors of 1.1e-16, and each step adds few.
With ζ, as printed, the state could never be negative, and V would have no effect: the states must
take both signs, and the gradient for V must not be zero. Cho et al. (2014), EMNLP.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.notes_gru import NotesGRU, notes_gru_step

BOUND = 1e-12
INPUTS, BATCH = 2, 8


class Mixed(NotesGRU):
    """J's GRU with a share of the reset gate in what is mixed in, and that scaled."""

    def __init__(self, inputs: int, width: int, share: float, scale: float = 1.0):
        super().__init__(inputs, width)
        self.share, self.scale = share, scale

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,), states = state, []
        W = torch.cat([self.G, self.H, self.V])
        for x_t in x.unbind(1):
            seen = torch.cat([z, x_t], 1)
            s, zeta = torch.sigmoid(seen @ self.G.T), torch.sigmoid(seen @ self.H.T)
            new = notes_gru_step(x_t, z, W) - s * z  # (1 - s) ⊙ z̃
            z = s * z + self.scale * torch.lerp(new, (1 - s) * zeta, self.share)
            states.append(z)
        zs = torch.stack(states, 1)
        return zs, (zs,)


def check(steps: int = 60, hidden_size: int = 8, seed: int = 0) -> Verdict:
    """The candidate z̃ is mixed in.

    Args:
        steps: Length of the sequences.
        hidden_size: Units of the layer.
    """
    return verdict(partial(NotesGRU, INPUTS, hidden_size), steps, seed)


def broken() -> Verdict:
    """ζ mixed in, as printed."""
    return verdict(partial(Mixed, INPUTS, 8, share=1.0), 60, 0)


def near() -> Near:
    """A little of ζ mixed in with the candidate; weights that do not sum to 1."""

    def layer(share: float, scale: float = 1.0) -> Verdict:
        return verdict(partial(Mixed, INPUTS, 8, share=share, scale=scale), 60, 0)

    return {
        **{f"{share} ζ + {1 - share} z̃": partial(layer, share) for share in (0.1, 0.001)},
        **ten_percent("1 - s", lambda factor: layer(0.0, factor)),
    }


def verdict(make: Callable[[], NotesGRU], steps: int, seed: int) -> Verdict:
    """The layer against torch's."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = make().double()
        x = 2 * torch.randn(BATCH, steps, INPUTS, dtype=torch.float64)
        printed = Mixed(INPUTS, layer.hidden_size, share=1.0).double()
    m = layer.hidden_size
    layer.V.data[:, :m] = layer.V.data[:, :m].diag().diag()
    printed.load_state_dict(layer.state_dict())
    z, _ = layer(x)
    (grad_V,) = torch.autograd.grad(z.sum(), layer.V)
    with torch.no_grad():
        right, wrong = of_torch(layer)(x)[0], printed(x)[0]
    z = z.detach()
    times = [float(t + 1) for t in range(steps)]
    return Verdict(
        quantity="largest |layer - torch.nn.GRU|",
        measured=(z - right).abs().max().item(),
        relation="≤",
        bound=BOUND,
        conditions={
            "states of both signs": bool((z.amin() < 0) & (z.amax() > 0)),
            "V has an effect": bool(grad_V.abs().max() > 1e-3),
        },
        picture=Picture(
            title="Mixed with the candidate a unit takes both signs, with the gate it cannot",
            x_label="step t",
            y_label="state of one unit",
            curves={
                "torch.nn.GRU": (times, right[0, :, 0].tolist()),
                "mixed with the reset gate, as printed": (times, wrong[0, :, 0].tolist()),
            },
            points={"J's form with the candidate": (times, z[0, :, 0].tolist())},
        ),
        details={
            "smallest state": z.min().item(),
            "smallest state, as printed": wrong.min().item(),
        },
    )


def of_torch(layer: NotesGRU) -> nn.GRU:
    """torch's GRU with the same weights; its gates are r = ζ, z = s and n = z̃."""
    m = layer.hidden_size
    theirs = nn.GRU(INPUTS, m, bias=False, batch_first=True).double()
    rows = torch.cat([layer.H, layer.G, layer.V]).detach()
    theirs.weight_hh_l0.data, theirs.weight_ih_l0.data = rows[:, :m], rows[:, m:]
    theirs.flatten_parameters()
    return theirs
