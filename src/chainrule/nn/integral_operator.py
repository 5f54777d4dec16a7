"""Integral operators by quadrature: the Fourier transform and continuous convolution.

    (T f)(u) = ∫ H(u, t) f(t) dt
    Fourier       H(u, t) = e^{-2πi t u}
    convolution   H(u, t) = h(u - t):      (f ∗ h)(u) = ∫ h(u - t) f(t) dt,   ℱ(f ∗ h) = ℱf · ℱh

The integral is a sum over equidistant points t_j, with the trapezoidal rule: for smooth functions
that are zero at both ends its error falls faster than any power of the distance (Trefethen and
Weideman 2014, SIAM Review 56). Notes: J 4.1, L "Convolution: Mathematical Foundation".
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError

Function = Callable[[Tensor], Tensor]
Points = Float[Tensor, " points"]
Places = Float[Tensor, " places"]
Values = Float[Tensor, " places"] | Complex[Tensor, " places"]


@checked
def integral_operator(
    H: Callable[[Tensor, Tensor], Tensor], f: Function, u: Places, t: Points
) -> Values:
    """(T f)(u) = ∫ H(u, t) f(t) dt, for functions of tensors and equidistant points t."""
    if len(t) < 2:
        raise InputError(f"`t` must have at least 2 points, got {len(t)}")
    return torch.trapezoid(H(u[:, None], t) * f(t), t, dim=1)


@checked
def fourier_transform(f: Function, u: Places, t: Points) -> Complex[Tensor, " places"]:
    """(ℱf)(u) = ∫ e^{-2πi t u} f(t) dt."""
    return integral_operator(lambda u, t: torch.exp(-2j * math.pi * u * t), f, u, t)


@checked
def continuous_convolution(f: Function, h: Function, u: Places, t: Points) -> Places:
    """(f ∗ h)(u) = ∫ h(u - t) f(t) dt."""
    return integral_operator(lambda u, t: h(u - t), f, u, t)
