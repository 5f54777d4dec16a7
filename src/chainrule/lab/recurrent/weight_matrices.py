"""Claim: J's LSTM has five independent weight matrices, its GRU three (J 5.1).

    LSTM   V, F, G, H ∈ ℝ^{m × (m + n)},  U ∈ ℝ^{m × m}      dimension = 4 m (m + n) + m²
    GRU    G, H, V ∈ ℝ^{m × (m + n)}                         dimension = 3 m (m + n)

Counting parameters does not show that all of them matter: torch's layers have two bias vectors per
gate where one would do. Here a layer is a family of functions, and its dimension is the rank of the
derivative of its outputs with respect to all its weights.
Measured: this rank at random weights, for more outputs on random sequences than there are weights,
of J's layers, torch's, Elman's and minGRU for m = 2 … `max_hidden_size`; the largest difference
from the formulas.
Bound: exactly 0. Ranks count singular values above 1e-9 of the largest; the next ones must be below
1e-12 of it, so that no value is in doubt.
The standard LSTM has dimension 4 m (m + n) + 4 m: four matrices and biases, so that U is what J's
form adds. Cho et al. (2014), EMNLP; Feng et al. (2024) for minGRU.
"""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent import GRU, LSTM, Elman, MinGRU
from chainrule.models.recurrent.notes_gru import NotesGRU
from chainrule.models.recurrent.notes_lstm import NotesLSTM
from chainrule.models.recurrent.recurrent import Recurrent

INPUTS, STEPS = 2, 6
KEPT, LOST = 1e-9, 1e-12
Formula = Callable[[int, int], int]
LAYERS: Mapping[str, type[Recurrent]] = {
    "LSTM, J's form": NotesLSTM,
    "LSTM": LSTM,
    "GRU, J's form": NotesGRU,
    "GRU": GRU,
    "Elman": Elman,
    "minGRU": MinGRU,
}
FORMULAS: Mapping[str, Formula] = {
    "LSTM, J's form": lambda n, m: 4 * m * (m + n) + m * m,
    "LSTM": lambda n, m: 4 * m * (m + n) + 4 * m,  # of 8 m biases
    "GRU, J's form": lambda n, m: 3 * m * (m + n),
    "GRU": lambda n, m: 3 * m * (m + n) + 4 * m,  # of 6 m: the candidate needs both of its own
    "Elman": lambda n, m: m * (m + n) + m,
    "minGRU": lambda n, m: 2 * m * (n + 1),
}


def check(max_hidden_size: int = 4, seed: int = 0) -> Verdict:
    """The dimensions of six layers.

    Args:
        max_hidden_size: Largest hidden size m.
    """
    return verdict(max_hidden_size, seed, FORMULAS)


def broken() -> Verdict:
    """Four matrices, those of the standard form, for J's LSTM."""
    return verdict(3, 0, {**FORMULAS, "LSTM, J's form": lambda n, m: 4 * m * (m + n)})


def near() -> Near:
    """One matrix more or less, and every parameter counted as a dimension."""

    def other(name: str, formula: Formula) -> Verdict:
        return verdict(3, 0, {name: formula})

    matrices = {
        "six matrices in J's LSTM": ("LSTM, J's form", lambda n, m: 4 * m * (m + n) + 2 * m * m),
        "two matrices in J's GRU": ("GRU, J's form", lambda n, m: 2 * m * (m + n)),
        "U of size m × (m + n)": ("LSTM, J's form", lambda n, m: 5 * m * (m + n)),
        "both biases of an LSTM": ("LSTM", lambda n, m: 4 * m * (m + n) + 8 * m),
        "one bias per gate of a GRU": ("GRU", lambda n, m: 3 * m * (m + n) + 3 * m),
    }
    return {name: partial(other, *what) for name, what in matrices.items()}


def verdict(widest: int, seed: int, formulas: Mapping[str, Formula]) -> Verdict:
    """Ranks against the formulas."""
    widths = list(range(2, max(2, widest) + 1))
    spectra = {name: [spectrum(LAYERS[name], m, seed) for m in widths] for name in formulas}
    ranks = {name: [int((s > KEPT).sum()) for s in found] for name, found in spectra.items()}
    gaps = [
        abs(rank - formulas[name](INPUTS, m))
        for name, found in ranks.items()
        for rank, m in zip(found, widths, strict=True)
    ]
    values = torch.cat([s for found in spectra.values() for s in found])
    kept, doubtful = values[values > KEPT], (values > LOST) & (values <= KEPT)
    sizes = [float(m) for m in widths]
    return Verdict(
        quantity="|dimension - formula|",
        measured=float(max(gaps)),
        relation="=",
        bound=0.0,
        conditions={"no singular value in doubt": not doubtful.any()},
        picture=Picture(
            title="Independent weights of recurrent layers",
            x_label=f"units m, for n = {INPUTS} inputs",
            y_label="rank of the derivative for all weights",
            curves={
                name: (sizes, [float(formulas[name](INPUTS, m)) for m in widths])
                for name in formulas
            },
            points={name: (sizes, [float(k) for k in found]) for name, found in ranks.items()},
        ),
        details={"smallest singular value kept": kept.min().item()},
    )


def spectrum(kind: type[Recurrent], width: int, seed: int) -> Tensor:
    """The singular values of ∂ outputs / ∂ weights, largest 1."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = kind(INPUTS, width).double()
        weights = list(layer.parameters())
        for w in weights:
            w.data.normal_()
        count = sum(w.numel() for w in weights)
        x = torch.randn(2 * count // (STEPS * width) + 2, STEPS, INPUTS, dtype=torch.float64)
    outputs = layer(x)[0].flatten()
    rows = [torch.autograd.grad(y, weights, retain_graph=True) for y in outputs]
    jacobian = torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])
    values = torch.linalg.svdvals(jacobian)
    return values / values[0]
