"""GRU as the notes write it: three weight matrices, the reset gate before the product.

    s = σ(G [z_{t-1}, x_t])                  what is kept
    ζ = σ(H [z_{t-1}, x_t])                  what of the old the new may see: the reset gate
    z̃ = tanh(V [ζ ⊙ z_{t-1}, x_t])           the new
    z_t = s ⊙ z_{t-1} + (1 - s) ⊙ z̃

This is also the form of the first paper; `gru`, the form in use, resets behind the product. All
products with x are one product; the gradient is written out, step by step backwards:

    δG = δz ⊙ (z_{t-1} - z̃) ⊙ s (1 - s),   δV = δz ⊙ (1 - s) ⊙ (1 - z̃²),   ρ = V_zᵀ δV
    δH = ρ ⊙ z_{t-1} ⊙ ζ (1 - ζ),   δz ← δz ⊙ s + ρ ⊙ ζ + G_zᵀ δG + H_zᵀ δH

Cho et al. (2014), EMNLP. Notes: J 5.1 (which mixes in ζ in place of the candidate z̃).
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from chainrule.models.recurrent.notes_lstm import weights
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


class NotesGRU(Recurrent):
    """m units; the state is the output."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        self.G, self.H, self.V = (weights(inputs, width) for _ in range(3))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        W = torch.cat([self.G, self.H, self.V])
        zs = Unrolled.apply(x.transpose(0, 1), z, W).transpose(0, 1)
        return zs, (zs,)


def notes_gru_step(
    x: Float[Tensor, "batch n"],
    z: Float[Tensor, "batch m"],
    W: Float[Tensor, "3*m m+n"],
) -> Float[Tensor, "batch m"]:
    """z_t; the rows of W are those of G, H and V in turn."""
    G, H, V = W.chunk(3)
    seen = torch.cat([z, x], 1)
    s, zeta = (seen @ G.T).sigmoid(), (seen @ H.T).sigmoid()
    return s * z + (1 - s) * (torch.cat([zeta * z, x], 1) @ V.T).tanh()


class Unrolled(torch.autograd.Function):
    """All steps of (steps, batch, n) inputs, and their gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, z: Tensor, W: Tensor) -> Tensor:
        m = z.shape[1]
        GH_z, V_z, W_x = W[: 2 * m, :m], W[2 * m :, :m], W[:, m:]
        gates = (x.reshape(-1, x.shape[2]) @ W_x.T).view(*x.shape[:2], 3 * m)
        zs = x.new_empty(len(x) + 1, len(z), m)
        zs[0] = z
        for gates_t, z_before, z_t in zip(gates, zs[:-1], zs[1:], strict=True):
            s, zeta, new = gates_t.chunk(3, 1)
            gates_t[:, : 2 * m].addmm_(z_before, GH_z.T).sigmoid_()
            new.addmm_(zeta * z_before, V_z.T).tanh_()
            torch.lerp(new, z_before, s, out=z_t)
        ctx.save_for_backward(x, gates, zs, W)
        return zs[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_z: Tensor) -> tuple[Tensor, ...]:
        x, gates, zs, W = ctx.saved_tensors
        m = zs.shape[2]
        GH_z, V_z, W_x = W[: 2 * m, :m], W[2 * m :, :m], W[:, m:]
        s, zeta, new = gates.chunk(3, 2)
        before = zs[:-1]
        slopes = torch.empty_like(gates)
        torch.mul(before - new, s * (1 - s), out=slopes[..., :m])
        torch.mul(before, zeta * (1 - zeta), out=slopes[..., m : 2 * m])
        torch.mul(1 - s, 1 - new * new, out=slopes[..., 2 * m :])
        delta = slopes  # each slope is used once, then its place is taken by its gradient
        delta_z = torch.zeros_like(zs[0])
        for t in reversed(range(len(x))):
            delta_G, delta_H, delta_V = delta[t].chunk(3, 1)
            delta_z = delta_z + by_z[t]
            delta_G.mul_(delta_z)
            rho = delta_V.mul_(delta_z) @ V_z
            delta_H.mul_(rho)
            delta_z = torch.addmm(
                delta_z.mul_(s[t]).addcmul_(rho, zeta[t]), delta[t, :, : 2 * m], GH_z
            )
        rows = delta.view(-1, 3 * m)
        gated, plain = (zeta * before).view(-1, m), before.reshape(-1, m)
        by_W_z = torch.cat([rows[:, : 2 * m].T @ plain, rows[:, 2 * m :].T @ gated])
        by_W = torch.cat([by_W_z, rows.T @ x.reshape(-1, x.shape[2])], 1)
        return (rows @ W_x).view(x.shape), delta_z, by_W


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(NotesGRU(4, 8), 3), torch.randn(5, 6, 4)
