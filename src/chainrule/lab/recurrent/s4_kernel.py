"""Claim: S4 as a convolution gives the outputs of its recurrence (L "RNN").

    h_t = Ā h_{t-1} + B̄ u_t,   y_t = Re(C h_t)       =       y = K * u,   K_k = Re(C Ā^k B̄)

The kernel is never computed by powers of Ā: its Fourier transform is a rational function of z, and
A = Λ - p p* reduces its inverse matrices to sums over the diagonal.
Measured: the library's layer in both ways on random sequences, for lengths of 1 … `max_length`, at
random weights around HiPPO's; the largest difference, relative to the largest output. Also HiPPO's
matrix against V (Λ - p p*) V*, through its eigenvalues -1, …, -N.
Bound: 1e-9: sums of some hundred terms in double precision, times the condition of I - Ā^T.
L "RNN: Training" names S4; J 5.2 has the linear recurrence. Gu, Goel and Ré (2022), ICLR.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.s4 import S4, diagonal_plus_low_rank, kernel

BOUND = 1e-9
INPUTS, CHANNELS, STATES, BATCH = 2, 3, 8, 2
Kernel = Callable[..., Tensor]


def check(max_length: int = 300, seed: int = 0) -> Verdict:
    """The layer's own kernel.

    Args:
        max_length: Longest sequence.
    """
    return verdict(kernel, max_length, seed)


def broken() -> Verdict:
    """The diagonal part alone, without p p*."""
    return verdict(lambda lam, p, *rest: kernel(lam, 0 * p, *rest), 100, 0)


def near() -> Near:
    """Another p, Δ or Λ in the kernel, and C in place of C̃."""

    def low_rank(factor: float) -> Verdict:
        return verdict(lambda lam, p, *rest: kernel(lam, factor * p, *rest), 60, 0)

    def step(factor: float) -> Verdict:
        return verdict(
            lambda lam, p, B, C, delta, T: kernel(lam, p, B, C, factor * delta, T), 60, 0
        )

    def decay(factor: float) -> Verdict:
        return verdict(lambda lam, *rest: kernel(factor * lam, *rest), 60, 0)

    def endless(lam: Tensor, p: Tensor, B: Tensor, C: Tensor, delta: Tensor, T: int) -> Tensor:
        """As if Ā^T were 0: what lies beyond T is added to the start."""
        return kernel(lam, p, B, C, delta, 5 * T).unflatten(1, (5, T)).sum(1)

    return {
        **ten_percent("p", low_rank),
        **ten_percent("Δ", step),
        **ten_percent("Λ", decay),
        "C in place of C̃": lambda: verdict(endless, 60, 0),
    }


def verdict(way: Kernel, longest: int, seed: int) -> Verdict:
    """Convolution against recurrence by length."""
    lengths = sorted({T for T in (1, 2, 7, 30, 100) if longest > T} | {longest})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = S4(INPUTS, CHANNELS, STATES).double()
        x = torch.randn(BATCH, lengths[-1], INPUTS, dtype=torch.float64)
        for weights in (layer.log_decay, layer.p, layer.B):
            weights.data += 0.1 * torch.randn_like(weights)
    with torch.no_grad():
        y, K = layer(x)[0], [way(*layer.matrices(), T) for T in lengths]
        found = [difference(layer, x[:, :T], k, y[:, :T]) for T, k in zip(lengths, K, strict=True)]
        impulse = impulse_response(layer, lengths[-1])
    lam, p, _ = diagonal_plus_low_rank(STATES)
    values = torch.linalg.eigvals(torch.diag(lam) - torch.outer(p, p.conj()))
    expected = -torch.arange(STATES, 0.0, -1)
    hippo = (values.real.sort().values - expected).abs().max().item()
    shown = slice(0, None, max(1, lengths[-1] // 50))
    times = [float(k) for k in range(lengths[-1])]
    return Verdict(
        quantity="largest relative difference of the outputs",
        measured=max(found),
        relation="≤",
        bound=BOUND,
        conditions={"HiPPO's eigenvalues are -1 … -N": hippo <= BOUND},
        picture=Picture(
            title="S4's kernel from its Fourier transform, and its response to an impulse",
            x_label="steps back k",
            y_label="K_k of three channels",
            curves={f"kernel {c + 1}": (times, K[-1][c].tolist()) for c in range(CHANNELS)},
            points={
                f"recurrence {c + 1}": (times[shown], impulse[c].tolist()[shown])
                for c in range(CHANNELS)
            },
        ),
        details={f"T = {T}": d for T, d in zip(lengths, found, strict=True)},
    )


def difference(layer: S4, x: Tensor, K: Tensor, y: Tensor) -> float:
    """Of the recurrence from K * u + d u, and of the layer's own `convolve` if K is its kernel."""
    u, T = layer.input(x), x.shape[1]
    spectrum = torch.fft.rfft(u, 2 * T, 1) * torch.fft.rfft(K.T, 2 * T, 0)
    outputs = [torch.fft.irfft(spectrum, 2 * T, 1)[:, :T] + layer.d * u, layer.convolve(x)]
    return max(((out - y).abs().max() / y.abs().max()).item() for out in outputs)


def impulse_response(layer: S4, steps: int) -> Tensor:
    """(channels, steps): the outputs after u = (1, 0, 0, …), without d u, by the recurrence."""
    x = torch.zeros(1, steps, INPUTS, dtype=torch.float64)
    x[0, 0, 0] = 1
    scale = layer.input.weight[:, 0]
    response = layer(x)[0][0].T / scale[:, None]
    response[:, 0] -= layer.d
    return response
