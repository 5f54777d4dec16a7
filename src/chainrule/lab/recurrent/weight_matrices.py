"""Claim: J's LSTM has five weight matrices, its GRU three (J 5.1).

    LSTM   V, F, G, H ∈ ℝ^{m × (m + n)},  U ∈ ℝ^{m × m}      parameters = 4 m (m + n) + m²
    GRU    G, H, V ∈ ℝ^{m × (m + n)}                         parameters = 3 m (m + n)

Measured: the matrices and parameters of the library's layers for hidden sizes m = 4 …
`max_hidden_size`: J's forms, the standard ones of four and three matrices with two biases each,
Elman's [U, V], and minGRU's two that do not see the state. The largest difference from the
formulas.
Bound: exactly 0; these are counts.
Cho et al. (2014), EMNLP; Feng et al. (2024) for minGRU.
"""

from collections.abc import Callable, Mapping

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent import GRU, LSTM, Elman, MinGRU
from chainrule.models.recurrent.notes_gru import NotesGRU
from chainrule.models.recurrent.notes_lstm import NotesLSTM
from chainrule.models.recurrent.recurrent import Recurrent

INPUTS = 10
Formula = Callable[[int, int], int]
LAYERS: Mapping[str, tuple[type[Recurrent], Formula]] = {
    "LSTM, J's form": (NotesLSTM, lambda n, m: 4 * m * (m + n) + m * m),
    "LSTM": (LSTM, lambda n, m: 4 * m * (m + n) + 8 * m),
    "GRU, J's form": (NotesGRU, lambda n, m: 3 * m * (m + n)),
    "GRU": (GRU, lambda n, m: 3 * m * (m + n) + 6 * m),
    "Elman": (Elman, lambda n, m: m * (m + n) + m),
    "minGRU": (MinGRU, lambda n, m: 2 * m * (n + 1)),
}
SHOWN = ("LSTM, J's form", "GRU, J's form", "Elman", "minGRU")
MATRICES = {NotesLSTM: 5, NotesGRU: 3}


def check(max_hidden_size: int = 128) -> Verdict:
    """J's numbers of matrices.

    Args:
        max_hidden_size: Largest hidden size m.
    """
    return verdict(max_hidden_size, MATRICES)


def broken() -> Verdict:
    """Four matrices, those of the standard form, for J's LSTM."""
    return verdict(16, {**MATRICES, NotesLSTM: 4})


def near() -> Near:
    """One matrix more or less."""
    return {
        "six matrices in J's LSTM": lambda: verdict(16, {**MATRICES, NotesLSTM: 6}),
        "two matrices in J's GRU": lambda: verdict(16, {**MATRICES, NotesGRU: 2}),
    }


def verdict(widest: int, matrices: Mapping[type[Recurrent], int]) -> Verdict:
    """Counted against the formulas."""
    widths = [m for m in (4, 8, 16, 32, 64) if widest > m] + [widest]
    counts = {
        name: [sum(p.numel() for p in built(kind, m)) for m in widths]
        for name, (kind, _) in LAYERS.items()
    }
    gaps = [
        abs(found - formula(INPUTS, m))
        for name, (_, formula) in LAYERS.items()
        for found, m in zip(counts[name], widths, strict=True)
    ]
    gaps += [abs(sum(p.ndim == 2 for p in built(kind, 4)) - k) for kind, k in matrices.items()]
    sizes = [float(m) for m in widths]
    return Verdict(
        quantity="|parameters counted - formula|",
        measured=float(max(gaps)),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="LSTM: five matrices, GRU: three, Elman: one, minGRU: two",
            x_label=f"units m, for n = {INPUTS} inputs",
            y_label="parameters",
            curves={
                name: (sizes, [float(LAYERS[name][1](INPUTS, m)) for m in widths]) for name in SHOWN
            },
            points={name: (sizes, [float(k) for k in counts[name]]) for name in SHOWN},
            log="xy",
        ),
    )


def built(kind: type[Recurrent], width: int) -> list[nn.Parameter]:
    """The parameters of a layer of that hidden size."""
    with torch.random.fork_rng(devices=[]):
        return list(kind(INPUTS, width).parameters())
