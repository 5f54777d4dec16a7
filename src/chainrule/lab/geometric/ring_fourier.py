"""Claim: the graph Fourier transform of a ring is the discrete Fourier transform (J 7.5).

    L e_k = λ_k e_k,   e_k(m) = exp(2πi km/n) / √n,   λ_k = 2 - 2 cos(2πk/n) = 4 sin²(πk/n)

Measured: on rings of several lengths, the largest difference between the library's frequencies and
the sorted λ_k, and between the energies of random signals in each eigenspace by the graph's basis
and by the FFT, relative to the total.
Bound: 1e-10, rounding of an eigendecomposition in double precision.
k and n - k share a frequency, so the real basis consists of cosines and sines up to rotation.
Shuman et al. (2013).
"""

import networkx
import torch
from torch import Tensor

from chainrule.graphs import Graph, from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.laplacian import fourier_basis, laplacian

ROUNDING = 1e-10
LENGTHS = (3, 4, 8, 15, 24, 64)
SHOWN = 24


def check(signals: int = 20, seed: int = 0) -> Verdict:
    """Closed rings.

    Args:
        signals: Random signals on each ring.
    """
    return verdict(signals, seed, closed=True)


def broken() -> Verdict:
    """A ring with one edge cut: a path, whose transform is the cosine transform."""
    return verdict(20, 0, closed=False)


def near() -> Near:
    """Frequencies off by 10 %."""
    return ten_percent("λ_k", lambda factor: verdict(5, 0, closed=True, scale=factor))


def verdict(signals: int, seed: int, closed: bool, scale: float = 1.0) -> Verdict:
    """Frequencies and energies."""
    generator = torch.Generator().manual_seed(seed)
    worst, found = 0.0, {}
    for n in LENGTHS:
        shape = networkx.cycle_graph(n) if closed else networkx.path_graph(n)
        x = torch.randn(n, signals, generator=generator, dtype=torch.float64)
        graph = from_networkx(shape, x)
        basis = fourier_basis(laplacian(Graph(graph.x, graph.edge_index)))
        lam = scale * formula(torch.arange(n), n)
        worst = max(worst, (basis.frequencies - lam.sort().values).abs().max().item())
        by_graph = energies((basis.U.T @ x).square(), n, lam.argsort())
        by_fft = energies(torch.fft.fft(x, dim=0).abs().square() / n, n, torch.arange(n))
        worst = max(worst, ((by_graph - by_fft).abs() / x.square().sum(0)).max().item())
        found[n] = basis.frequencies, by_graph, by_fft
    number = torch.arange(SHOWN).minimum(SHOWN - torch.arange(SHOWN))
    fine = torch.linspace(0, SHOWN / 2, 100, dtype=torch.float64)
    return Verdict(
        quantity="largest |λ - formula|, |energy - FFT|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title=f"The frequencies of a ring of {SHOWN} nodes are those of the DFT",
            x_label="waves around the ring, k",
            y_label="eigenvalue of the Laplacian",
            curves={"2 - 2 cos(2πk/n)": (fine.tolist(), formula(fine, SHOWN).tolist())},
            points={
                "eigenvalues of L": (
                    number.double().sort().values.tolist(),
                    found[SHOWN][0].tolist(),
                )
            },
        ),
    )


def formula(k: Tensor, n: int) -> Tensor:
    """2 - 2 cos(2πk/n)."""
    return 2 - 2 * (2 * torch.pi * k.double() / n).cos()


def energies(power: Tensor, n: int, numbers: Tensor) -> Tensor:
    """Power of each signal by number of waves, k and n - k together; rows have these numbers."""
    waves = numbers.minimum(n - numbers)
    return power.new_zeros(n // 2 + 1, power.shape[1]).index_add(0, waves, power)
