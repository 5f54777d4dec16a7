"""Convolution and cross-correlation written out: as sums, matrices and Fourier products.

    (f ∗ h)[u] = Σ_t h[t] f[u - t]      convolution: commutes, also with shifts
    (h ⋆ f)[u] = Σ_t h[t] f[u + t]      cross-correlation: what networks call convolution
    ℱ(f ∗ h)   = ℱf · ℱh

For signals of n and kernels of m entries along each axis, in one dimension, two, or more:

    full       every u where f and h overlap: n + m - 1 entries
    valid      every u where h lies inside f: n - m + 1 entries
    same       the n entries in the middle of full
    circular   f is continued periodically: n entries

f ∗ h is linear in f, with the Toeplitz matrix H[u, s] = h[u - s], circulant in the circular mode.
In two dimensions that is a Toeplitz matrix of Toeplitz blocks, Σ_a H(e_a) ⊗ H(h_a), h_a the rows.

Written for reading and checking; models use torch's kernels. Notes: J 4.1 (which leaves the
gradients open), L "Convolution: Mathematical Foundation", L "Finite Convolutions" (which writes ⋆
as ∗).
"""

from collections.abc import Iterator
from itertools import product

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError

MODES = ("full", "valid", "same", "circular")
Signal = Float[Tensor, "*n"]
Kernel = Float[Tensor, "*m"]
Result = Float[Tensor, "*outputs"]


@checked
def convolution(f: Signal, h: Kernel, mode: str = "full") -> Result:
    """(f ∗ h)[u] = Σ_t h[t] f[u - t]."""
    check(f.shape, h.shape, mode)
    if mode == "circular":
        return torch.stack([h[t] * f.roll(t, axes(f)) for t in places(h)]).sum(0)
    full = torch.stack([h[t] * shifted(f, t, h.shape) for t in places(h)]).sum(0)
    return full[window(f.shape, h.shape, mode)]


@checked
def correlation(f: Signal, h: Kernel, mode: str = "full") -> Result:
    """(h ⋆ f)[u] = Σ_t h[t] f[u + t]: convolution with the flipped kernel.

    Its first u is 1 - m in full, 0 in valid and circular, -⌊m/2⌋ in same.
    """
    flipped = convolution(f, h.flip(axes(h)), mode)
    return flipped.roll([1 - m for m in h.shape], axes(h)) if mode == "circular" else flipped


@checked
def convolution_gradients(
    f: Signal, h: Kernel, gradient: Result, mode: str = "full"
) -> tuple[Signal, Kernel]:
    """∂ℓ/∂f = h ⋆ g  and  ∂ℓ/∂h = f ⋆ g, given g = ∂ℓ/∂(f ∗ h).

    Σ_u g[u] (f ∗ h)[u] = Σ_{u,t} g[u] h[t] f[u - t], differentiated by f[s] and by h[t]. In modes
    that leave out entries of full, g is zero there.
    """
    check(f.shape, h.shape, mode)
    if mode == "circular":
        by_kernel = correlation(gradient, f, mode)
        return correlation(gradient, h, mode), by_kernel[tuple(slice(m) for m in h.shape)]
    g = gradient.new_zeros(full_shape(f.shape, h.shape))
    g[window(f.shape, h.shape, mode)] = gradient
    return correlation(g, h, "valid"), correlation(g, f, "valid")


@checked
def correlation_gradients(
    f: Signal, h: Kernel, gradient: Result, mode: str = "full"
) -> tuple[Signal, Kernel]:
    """∂ℓ/∂f = g ∗ h  and  ∂ℓ/∂h = g ⋆ f, from those of the flipped kernel."""
    if mode == "circular":
        gradient = gradient.roll([m - 1 for m in h.shape], axes(h))
    by_signal, by_flipped = convolution_gradients(f, h.flip(axes(h)), gradient, mode)
    return by_signal, by_flipped.flip(axes(h))


@checked
def by_fourier(f: Signal, h: Kernel, mode: str = "full") -> Result:
    """f ∗ h = ℱ⁻¹(ℱf · ℱh), on n points if circular, else zero-padded to n + m - 1."""
    check(f.shape, h.shape, mode)
    size = f.shape if mode == "circular" else full_shape(f.shape, h.shape)
    result = torch.fft.irfftn(torch.fft.rfftn(f, size) * torch.fft.rfftn(h, size), size)
    return result if mode == "circular" else result[window(f.shape, h.shape, mode)]


@checked
def toeplitz(h: Float[Tensor, " m"], n: int, mode: str = "full") -> Float[Tensor, "outputs n"]:
    """H with f ∗ h = H f: H[u, s] = h[u - s], zero outside of h."""
    check((n,), h.shape, mode)
    if mode == "circular":
        return circulant(F.pad(h, (0, n - len(h))))
    u, s = torch.arange(n + len(h) - 1)[:, None], torch.arange(n)
    inside = (s <= u) & (u < s + len(h))
    H = torch.where(inside, h[(u - s).clamp(0, len(h) - 1)], 0.0)
    return H[window((n,), h.shape, mode)]


@checked
def circulant(h: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """H[u, s] = h[(u - s) mod n]; its eigenvectors are e^{2πi ks/n}, its eigenvalues ℱh."""
    s = torch.arange(len(h))
    return h[(s[:, None] - s) % len(h)]


@checked
def doubly_blocked(
    h: Float[Tensor, "rows columns"], shape: tuple[int, int], mode: str = "full"
) -> Float[Tensor, "outputs n"]:
    """H with vec(f ∗ h) = H vec f for images f: Σ_a H(e_a) ⊗ H(h_a), e_a the a-th unit vector."""
    check(shape, h.shape, mode)
    units = torch.eye(len(h), dtype=h.dtype)
    blocks = [
        torch.kron(toeplitz(e_a, shape[0], mode), toeplitz(h_a, shape[1], mode))
        for e_a, h_a in zip(units, h, strict=True)
    ]
    return torch.stack(blocks).sum(0)


def shifted(f: Tensor, t: tuple[int, ...], room: tuple[int, ...]) -> Tensor:
    """u ↦ f[u - t], with zeros around it, on n + m - 1 entries."""
    around = [(t_i, m - 1 - t_i) for t_i, m in zip(t, room, strict=True)]
    return F.pad(f, [side for pair in reversed(around) for side in pair])


def window(n: tuple[int, ...], m: tuple[int, ...], mode: str) -> tuple[slice, ...]:
    """The entries of full that a mode keeps."""
    if mode == "valid":
        return tuple(slice(m_i - 1, n_i) for n_i, m_i in zip(n, m, strict=True))
    if mode == "same":
        starts = [(m_i - 1) // 2 for m_i in m]
        return tuple(slice(start, start + n_i) for start, n_i in zip(starts, n, strict=True))
    return (slice(None),) * len(n)


def full_shape(n: tuple[int, ...], m: tuple[int, ...]) -> tuple[int, ...]:
    """n + m - 1 along each axis."""
    return tuple(n_i + m_i - 1 for n_i, m_i in zip(n, m, strict=True))


def places(h: Tensor) -> Iterator[tuple[int, ...]]:
    """All indices t of a kernel."""
    return product(*map(range, h.shape))


def axes(f: Tensor) -> tuple[int, ...]:
    """All axes."""
    return tuple(range(f.ndim))


def check(n: tuple[int, ...], m: tuple[int, ...], mode: str) -> None:
    """Refuse unknown modes, and shapes that do not fit the mode."""
    if mode not in MODES:
        raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
    if len(n) != len(m) or not n or 0 in (*n, *m):
        raise InputError(
            "signal and kernel must have equally many axes, none of them empty, got shapes "
            f"{tuple(n)} and {tuple(m)}"
        )
    if mode in ("valid", "circular") and any(m_i > n_i for n_i, m_i in zip(n, m, strict=True)):
        raise InputError(
            f"a {mode} convolution needs a kernel no larger than the signal, got shapes "
            f"{tuple(m)} and {tuple(n)}; use mode 'full' or 'same'"
        )
