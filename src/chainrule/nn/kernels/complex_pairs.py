"""Products with complex matrices that are stored as two real ones, the real and imaginary parts.

torch keeps the parts of a complex number side by side, so each of these is one real product of
matrices whose rows or columns are the interleaved parts, without a copy of x or of the result.
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor


def complex_product(
    B: Float[Tensor, "2 m n"], x: Float[Tensor, "*batch n"]
) -> Complex[Tensor, "*batch m"]:
    """(B_0 + i B_1) x."""
    rows = B.transpose(0, 1).flatten(0, 1)
    return torch.view_as_complex((x @ rows.T).unflatten(-1, (-1, 2)))


def real_product(
    C: Float[Tensor, "2 m n"], h: Complex[Tensor, "*batch n"]
) -> Float[Tensor, "*batch m"]:
    """Re((C_0 + i C_1) h)."""
    columns = torch.stack([C[0], -C[1]], 2).flatten(1)
    return torch.view_as_real(h).flatten(-2) @ columns.T
