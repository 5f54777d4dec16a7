"""The GRU in the form of the notes: three weight matrices, reset gate before the product.

    s = σ(G [z_{t-1}, x_t])                  update gate
    ζ = σ(H [z_{t-1}, x_t])                  reset gate
    z̃ = tanh(V [ζ ⊙ z_{t-1}, x_t])           candidate
    z_t = s ⊙ z_{t-1} + (1 - s) ⊙ z̃

This is also the form of the first paper; in `gru`, the standard form, the reset gate acts after the
product. All products with x are computed as one. The gradient is written out backwards in time:

    δG = δz ⊙ (z_{t-1} - z̃) ⊙ s (1 - s),   δV = δz ⊙ (1 - s) ⊙ (1 - z̃²),   ρ = V_zᵀ δV
    δH = ρ ⊙ z_{t-1} ⊙ ζ (1 - ζ),   δz ← δz ⊙ s + ρ ⊙ ζ + G_zᵀ δG + H_zᵀ δH

Cho et al. (2014), EMNLP. Notes: J 5.1 (which mixes in ζ in place of the candidate z̃).
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.notes_lstm import gate_weights
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.kernels.second_derivatives import differentiable_gradients


@checked
class NotesGRU(Recurrent):
    """The GRU as the lecture notes J write it: no biases, reset gate before the product.

        s   = σ(G [z_{t-1}, x_t]),   ζ = σ(H [z_{t-1}, x_t])
        z̃   = tanh(V [ζ ⊙ z_{t-1}, x_t])
        z_t = s ⊙ z_{t-1} + (1 - s) ⊙ z̃

    The state is the output z. `GRU` is the standard form.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.

    >>> import torch
    >>> from chainrule.models.recurrent import NotesGRU
    >>> layer = NotesGRU(4, 8)
    >>> [tuple(p.shape) for p in layer.parameters()]
    [(8, 12), (8, 12), (8, 12)]
    >>> layer(torch.zeros(2, 5, 4))[0].shape
    torch.Size([2, 5, 8])
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size)
        self.G, self.H, self.V = (gate_weights(input_size, hidden_size) for _ in range(3))

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
    """z_t; the rows of W belong to G, H and V in this order."""
    G, H, V = W.chunk(3)
    joined = torch.cat([z, x], 1)
    s, zeta = (joined @ G.T).sigmoid(), (joined @ H.T).sigmoid()
    return s * z + (1 - s) * (torch.cat([zeta * z, x], 1) @ V.T).tanh()


def unrolled(x: Tensor, z: Tensor, W: Tensor) -> Tensor:
    """All z_t, differentiated by autograd."""
    states = []
    for x_t in x:
        z = notes_gru_step(x_t, z, W)
        states.append(z)
    return torch.stack(states)


class Unrolled(torch.autograd.Function):
    """All steps of inputs (steps, batch, n), and their gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, z: Tensor, W: Tensor) -> Tensor:
        m = z.shape[1]
        GH_z, V_z, W_x = W[: 2 * m, :m], W[2 * m :, :m], W[:, m:]
        gates = (x.reshape(-1, x.shape[2]) @ W_x.T).view(*x.shape[:2], 3 * m)
        zs = x.new_empty(len(x) + 1, len(z), m)
        zs[0] = z
        for gates_t, z_before, z_t in zip(gates, zs[:-1], zs[1:], strict=True):
            s, zeta, candidate = gates_t.chunk(3, 1)
            gates_t[:, : 2 * m].addmm_(z_before, GH_z.T).sigmoid_()
            candidate.addmm_(zeta * z_before, V_z.T).tanh_()
            torch.lerp(candidate, z_before, s, out=z_t)
        ctx.save_for_backward(x, z, gates, zs, W)
        return zs[1:]

    @staticmethod
    def backward(ctx: Any, grad_z: Tensor) -> tuple[Tensor, ...]:
        x, z, gates, zs, W = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient is to be differentiated too
            return differentiable_gradients(unrolled, (x, z, W), grad_z)
        m = zs.shape[2]
        GH_z, V_z, W_x = W[: 2 * m, :m], W[2 * m :, :m], W[:, m:]
        s, zeta, candidate = gates.chunk(3, 2)
        before = zs[:-1]
        slopes = torch.empty_like(gates)
        torch.mul(before - candidate, s * (1 - s), out=slopes[..., :m])
        torch.mul(before, zeta * (1 - zeta), out=slopes[..., m : 2 * m])
        torch.mul(1 - s, 1 - candidate * candidate, out=slopes[..., 2 * m :])
        delta = slopes  # each slope is used once; its gradient then overwrites it
        delta_z = torch.zeros_like(zs[0])
        for t in reversed(range(len(x))):
            delta_G, delta_H, delta_V = delta[t].chunk(3, 1)
            delta_z = delta_z + grad_z[t]
            delta_G.mul_(delta_z)
            rho = delta_V.mul_(delta_z) @ V_z
            delta_H.mul_(rho)
            direct = delta_z.mul_(s[t]).addcmul_(rho, zeta[t])
            delta_z = torch.addmm(direct, delta[t, :, : 2 * m], GH_z)
        rows = delta.view(-1, 3 * m)
        gated, plain = (zeta * before).view(-1, m), before.reshape(-1, m)
        grad_W_z = torch.cat([rows[:, : 2 * m].T @ plain, rows[:, 2 * m :].T @ gated])
        grad_W = torch.cat([grad_W_z, rows.T @ x.reshape(-1, x.shape[2])], 1)
        return (rows @ W_x).view(x.shape), delta_z, grad_W


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(NotesGRU(4, 8), 3), torch.randn(5, 6, 4)
