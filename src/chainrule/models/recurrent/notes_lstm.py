"""The LSTM in the form of the notes: a fifth weight matrix between the cell and its output.

    x̃_t = [ζ_{t-1}, x_t]
    z_t = σ(F x̃_t) ⊙ z_{t-1} + σ(G x̃_t) ⊙ tanh(V x̃_t)      cell state
    ζ_t = σ(H x̃_t) ⊙ tanh(U z_t)                            output

F is the forget gate, G the input gate, V the candidate, H the output gate; there are no biases. All
products with x are computed as one. The gradient is written out backwards in time:

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

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.kernels.second_derivatives import differentiable_gradients


@checked
class NotesLSTM(Recurrent):
    """The LSTM as the lecture notes J write it: five weight matrices, no biases.

        x̃_t = [ζ_{t-1}, x_t]
        z_t = σ(F x̃_t) ⊙ z_{t-1} + σ(G x̃_t) ⊙ tanh(V x̃_t)
        ζ_t = σ(H x̃_t) ⊙ tanh(U z_t)

    The state is (ζ, z), the output ζ. `LSTM` is the standard form.

    Args:
        input_size: Features of each step.
        hidden_size: Number of cells.

    >>> import torch
    >>> from chainrule.models.recurrent import NotesLSTM
    >>> layer = NotesLSTM(4, 8)
    >>> [tuple(p.shape) for p in layer.parameters()]
    [(8, 12), (8, 12), (8, 12), (8, 12), (8, 8)]
    >>> layer(torch.zeros(2, 5, 4))[0].shape
    torch.Size([2, 5, 8])
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size, ((hidden_size,), (hidden_size,)))
        self.V, self.F, self.G, self.H = (gate_weights(input_size, hidden_size) for _ in range(4))
        self.U = nn.Parameter(nn.init.orthogonal_(torch.empty(hidden_size, hidden_size)))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        zeta, z = state
        W = torch.cat([self.V, self.F, self.G, self.H])
        zetas, zs = Unrolled.apply(x.transpose(0, 1), zeta, z, W, self.U)
        zetas, zs = zetas.transpose(0, 1), zs.transpose(0, 1)
        return zetas, (zetas, zs)


def gate_weights(input_size: int, hidden_size: int) -> nn.Parameter:
    """A matrix (m, m + n) for [ζ_{t-1}, x_t], with entries of variance 1 / (m + n)."""
    joined = hidden_size + input_size
    return nn.Parameter(torch.randn(hidden_size, joined) / joined**0.5)


def notes_lstm_step(
    x: Float[Tensor, "batch n"],
    zeta: Float[Tensor, "batch m"],
    z: Float[Tensor, "batch m"],
    W: Float[Tensor, "4*m m+n"],
    U: Float[Tensor, "m m"],
) -> tuple[Float[Tensor, "batch m"], Float[Tensor, "batch m"]]:
    """(ζ_t, z_t); the rows of W belong to V, F, G and H in this order."""
    v, f, g, h = (torch.cat([zeta, x], 1) @ W.T).chunk(4, 1)
    z = f.sigmoid() * z + g.sigmoid() * v.tanh()
    return h.sigmoid() * (z @ U.T).tanh(), z


def unrolled(x: Tensor, zeta: Tensor, z: Tensor, W: Tensor, U: Tensor) -> tuple[Tensor, Tensor]:
    """All ζ_t and z_t, differentiated by autograd."""
    states = []
    for x_t in x:
        zeta, z = notes_lstm_step(x_t, zeta, z, W, U)
        states.append((zeta, z))
    zetas, zs = zip(*states, strict=True)
    return torch.stack(zetas), torch.stack(zs)


class Unrolled(torch.autograd.Function):
    """All steps of inputs (steps, batch, n), and their gradient."""

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
        ctx.save_for_backward(x, zeta, z, gates, zetas, zs, us, W, U)
        return zetas[1:], zs[1:]

    @staticmethod
    def backward(ctx: Any, grad_zeta: Tensor, grad_z: Tensor) -> tuple[Tensor, ...]:
        x, zeta, z, gates, zetas, zs, us, W, U = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient is to be differentiated too
            return differentiable_gradients(unrolled, (x, zeta, z, W, U), (grad_zeta, grad_z))
        m = len(U)
        v, f, g, h = gates.chunk(4, 2)
        slopes = torch.empty_like(gates).unflatten(2, (4, m))
        times_tanh_slope(g, v, out=slopes[:, :, 0])
        times_sigmoid_slope(zs[:-1], f, out=slopes[:, :, 1])
        times_sigmoid_slope(v, g, out=slopes[:, :, 2])
        times_sigmoid_slope(us, h, out=slopes[:, :, 3])
        output_slopes = times_tanh_slope(h, us, out=torch.empty_like(us))
        delta, delta_u = slopes, output_slopes  # used once; the gradients then overwrite them
        delta_zeta, delta_z = torch.zeros_like(zetas[0]), torch.zeros_like(zs[0])
        W_zeta, W_x = W[:, :m], W[:, m:]
        for t in reversed(range(len(x))):
            delta_zeta = delta_zeta + grad_zeta[t]
            delta_u[t].mul_(delta_zeta)
            delta_z = torch.addmm(delta_z, delta_u[t], U).add_(grad_z[t])
            delta[t, :, :3].mul_(delta_z[:, None])
            delta[t, :, 3].mul_(delta_zeta)
            delta_zeta = delta[t].flatten(1) @ W_zeta
            delta_z = delta_z.mul_(f[t])
        rows = delta.view(-1, 4 * m)
        grad_W = torch.cat([rows.T @ zetas[:-1].view(-1, m), rows.T @ x.reshape(-1, x.shape[2])], 1)
        grad_U = delta_u.view(-1, m).T @ zs[1:].view(-1, m)
        return (rows @ W_x).view(x.shape), delta_zeta, delta_z, grad_W, grad_U


def times_tanh_slope(x: Tensor, y: Tensor, out: Tensor) -> Tensor:
    """x ⊙ (1 - y²), the slope of y = tanh(·)."""
    return torch.ops.aten.tanh_backward.grad_input(x, y, grad_input=out)


def times_sigmoid_slope(x: Tensor, y: Tensor, out: Tensor) -> Tensor:
    """x ⊙ y ⊙ (1 - y), the slope of y = σ(·)."""
    return torch.ops.aten.sigmoid_backward.grad_input(x, y, grad_input=out)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight cells."""
    return SequenceClassifier(NotesLSTM(4, 8), 3), torch.randn(5, 6, 4)
