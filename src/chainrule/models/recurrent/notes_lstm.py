"""LSTM as the notes write it: one matrix more than usual, between the cell and what it shows.

    x̃_t = [ζ_{t-1}, x_t]
    z_t = σ(F x̃_t) ⊙ z_{t-1} + σ(G x̃_t) ⊙ tanh(V x̃_t)      the cell
    ζ_t = σ(H x̃_t) ⊙ tanh(U z_t)                            what it shows

F forgets, G lets in, V is the candidate, H lets out: five weight matrices, no biases. All products
with x are one product; the gradient is written out, step by step backwards:

    δu = δζ ⊙ h ⊙ (1 - u²),   δz ← δz + Uᵀ δu,   u = tanh(U z_t), h = σ(H x̃_t), …
    δV = δz ⊙ g ⊙ (1 - v²),  δF = δz ⊙ z_{t-1} ⊙ f (1 - f),  δG = δz ⊙ v ⊙ g (1 - g),
    δH = δζ ⊙ u ⊙ h (1 - h),   then δz ← δz ⊙ f,   [δζ, δx] = [V, F, G, H]ᵀ [δV, δF, δG, δH]

Hochreiter and Schmidhuber (1997), Neural Computation 9. Notes: J 5.1 (which calls tanh(V x̃) the
input gate and σ(G x̃) the gate gate: the first is the candidate, the second the input gate).
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


class NotesLSTM(Recurrent):
    """m cells; the state is (ζ, z), the output ζ."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width, ((width,), (width,)))
        self.V, self.F, self.G, self.H = (weights(inputs, width) for _ in range(4))
        self.U = nn.Parameter(nn.init.orthogonal_(torch.empty(width, width)))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        zeta, z = state
        W = torch.cat([self.V, self.F, self.G, self.H])
        zetas, zs = Unrolled.apply(x.transpose(0, 1), zeta, z, W, self.U)
        zetas, zs = zetas.transpose(0, 1), zs.transpose(0, 1)
        return zetas, (zetas, zs)


def weights(inputs: int, width: int) -> nn.Parameter:
    """A matrix for x̃, of variance 1 / (m + n)."""
    return nn.Parameter(torch.randn(width, width + inputs) / (width + inputs) ** 0.5)


def notes_lstm_step(
    x: Float[Tensor, "batch n"],
    zeta: Float[Tensor, "batch m"],
    z: Float[Tensor, "batch m"],
    W: Float[Tensor, "4*m m+n"],
    U: Float[Tensor, "m m"],
) -> tuple[Float[Tensor, "batch m"], Float[Tensor, "batch m"]]:
    """(ζ_t, z_t); the rows of W are those of V, F, G and H in turn."""
    v, f, g, h = (torch.cat([zeta, x], 1) @ W.T).chunk(4, 1)
    z = f.sigmoid() * z + g.sigmoid() * v.tanh()
    return h.sigmoid() * (z @ U.T).tanh(), z


class Unrolled(torch.autograd.Function):
    """All steps of (steps, batch, n) inputs, and their gradient."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, zeta: Tensor, z: Tensor, W: Tensor, U: Tensor
    ) -> tuple[Tensor, Tensor]:
        m = len(U)
        W_zeta, W_x = W[:, :m], W[:, m:]
        gates = (x.reshape(-1, x.shape[2]) @ W_x.T).view(*x.shape[:2], 4 * m)
        zetas, zs, us = (x.new_empty(len(x) + k, len(zeta), m) for k in (1, 1, 0))
        zetas[0], zs[0] = zeta, z
        steps = zip(gates, zetas[:-1], zetas[1:], zs[:-1], zs[1:], us, strict=True)
        for gates_t, zeta_before, zeta_t, z_before, z_t, u_t in steps:
            gates_t.addmm_(zeta_before, W_zeta.T)
            gates_t[:, :m].tanh_()
            gates_t[:, m:].sigmoid_()
            v, f, g, h = gates_t.chunk(4, 1)
            torch.mul(f, z_before, out=z_t).addcmul_(g, v)
            torch.mm(z_t, U.T, out=u_t).tanh_()
            torch.mul(h, u_t, out=zeta_t)
        ctx.save_for_backward(x, gates, zetas, zs, us, W, U)
        return zetas[1:], zs[1:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_zeta: Tensor, by_z: Tensor) -> tuple[Tensor, ...]:
        x, gates, zetas, zs, us, W, U = ctx.saved_tensors
        m = len(U)
        v, f, g, h = gates.chunk(4, 2)
        slopes = torch.empty_like(gates).unflatten(2, (4, m))
        torch.mul(g, 1 - v * v, out=slopes[:, :, 0])
        torch.mul(zs[:-1], f * (1 - f), out=slopes[:, :, 1])
        torch.mul(v, g * (1 - g), out=slopes[:, :, 2])
        torch.mul(us, h * (1 - h), out=slopes[:, :, 3])
        shown = h * (1 - us * us)
        # Each slope is used once; its gradient then overwrites it.
        delta, delta_u = slopes, shown
        delta_zeta, delta_z = torch.zeros_like(zetas[0]), torch.zeros_like(zs[0])
        W_zeta, W_x = W[:, :m], W[:, m:]
        for t in reversed(range(len(x))):
            delta_zeta = delta_zeta + by_zeta[t]
            delta_u[t].mul_(delta_zeta)
            delta_z = torch.addmm(delta_z, delta_u[t], U).add_(by_z[t])
            delta[t, :, :3].mul_(delta_z[:, None])
            delta[t, :, 3].mul_(delta_zeta)
            delta_zeta = delta[t].flatten(1) @ W_zeta
            delta_z = delta_z.mul_(f[t])
        rows = delta.view(-1, 4 * m)
        by_W = torch.cat([rows.T @ zetas[:-1].view(-1, m), rows.T @ x.reshape(-1, x.shape[2])], 1)
        by_U = delta_u.view(-1, m).T @ zs[1:].view(-1, m)
        return (rows @ W_x).view(x.shape), delta_zeta, delta_z, by_W, by_U


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight cells that read six steps and answer with three classes."""
    return SequenceClassifier(NotesLSTM(4, 8), 3), torch.randn(5, 6, 4)
