"""How a gradient fades or grows on its way back through time, by the size of recurrent weights.

L = uᵀ s_T,   ‖u‖ = 1            s_t: all that the layer remembers after step t
‖∂L/∂s_t‖ ≤ ∏_{j>t} σ₁(∂s_j/∂s_{j-1})          for every layer
          ≤ (α σ₁(U))^{T-t}                    for Elman's, α = max φ'
          ≤ (max |λ|)^{T-t}                    for the LRU
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple, get_args

import torch
from torch import Tensor

from chainrule.models.recurrent import GRU, LRU, LSTM, Antisymmetric, Elman, Recurrent
from chainrule.models.recurrent.lru import eigenvalues
from chainrule.models.recurrent.recurrent import pack_state, state_tensors
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded

INPUTS = 4
LARGEST_RADIUS = 0.9999  # of the LRU, whose eigenvalues stay inside the unit disc
Cell = Literal["elman", "lstm", "gru", "antisymmetric", "lru"]
Matrix = Literal["orthogonal", "gaussian"]


class Trace(NamedTuple):
    """A layer, its inputs, its states s_0 … s_T, and ‖∂L/∂s_t‖ for each."""

    layer: Recurrent
    x: Tensor
    states: list[Tensor]
    norms: Tensor


@dataclass(frozen=True)
class Settings:
    """One network and one random sequence.

    Args:
        cell: the recurrent layer whose bounds are drawn.
        scale: σ₁ of the recurrent weights; of the LRU the modulus of its eigenvalues.
        activation: φ of the Elman network.
        matrix: the directions of the recurrent weights.
        steps: T.
        units: of the layer.
        inputs: standard deviation of the inputs; large ones saturate.
        bias: of the gate that keeps, for LSTM and GRU.
        seed: of weights and inputs.
    """

    cell: Cell = "elman"
    scale: Annotated[float, Range(0.05, 3)] = 1.0
    activation: Literal["tanh", "relu"] = "tanh"
    matrix: Matrix = "orthogonal"
    steps: Annotated[int, Range(5, 200)] = 60
    units: Annotated[int, Range(2, 48)] = 24
    inputs: Annotated[float, Range(0, 5)] = 0.3
    bias: Annotated[float, Range(-5, 8)] = 1.0
    seed: Annotated[int, Range(0, 99_999)] = 0


def run(settings: Json) -> Activity:
    while True:
        found = measured(read(Settings, settings))
        message = yield View(lambda found=found: found, waiting=True)  # type: ignore[misc]
        settings = settings if message is None else message


def measured(chosen: Settings) -> Json:
    """‖∂L/∂s_t‖ of every cell for t = 0 … T, and what the theory allows the chosen one."""
    others = {cell: traced(replace(chosen, cell=cell)) for cell in get_args(Cell)}
    layer, x, states, norms = others[chosen.cell]
    growth = step_norms(layer, x, states)
    back = torch.arange(chosen.steps, -1, -1, dtype=torch.float64)
    size = largest(layer)
    bounded = isinstance(layer, Elman | LRU)
    return {
        "t": list(range(chosen.steps + 1)),
        "norms": {cell: positive(found.norms) for cell, found in others.items()},
        "path": positive(torch.cat([growth.flip(0).cumprod(0).flip(0), growth.new_ones(1)])),
        "worst": positive(size**back) if bounded else [None] * len(back),
        "size": rounded(size, 3),
        "radius": rounded(radius(layer), 3),
        "per_step": rounded(norms[0] ** (1 / chosen.steps), 3),
    }


def traced(chosen: Settings) -> Trace:
    """A new layer reads a new random sequence; the same seed draws the same inputs."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        x = chosen.inputs * torch.randn(1, chosen.steps, INPUTS, dtype=torch.float64)
        layer = built(chosen).double()
        states, gradients = backward(layer, x)
    return Trace(layer, x, states, gradients.norm(dim=1))


def positive(values: Tensor) -> list[float | None]:
    """For a logarithmic axis: None for what is zero or not finite."""
    return [v if v else None for v in rounded(values.detach())]


def built(chosen: Settings) -> Recurrent:
    """The layer, its recurrent weights scaled to σ₁ = scale."""
    n, m, scale = INPUTS, chosen.units, chosen.scale
    if chosen.cell == "lru":
        inside = min(scale, LARGEST_RADIUS)
        return LRU(n, m, min_radius=inside, max_radius=inside)
    if chosen.cell == "antisymmetric":
        layer = Antisymmetric(n, m)
        W = recurrent_matrix(m, chosen.matrix)
        layer.W.data = scale * W / torch.linalg.matrix_norm(W - W.T, 2)
        return layer
    if chosen.cell == "elman":
        elman = Elman(n, m, chosen.activation)
        elman.U.data = scale * recurrent_matrix(m, chosen.matrix)
        return elman
    gated = LSTM(n, m) if chosen.cell == "lstm" else GRU(n, m)
    weights = gated.kernel.all_weights[0]
    gates = len(weights[1]) // m
    weights[1].data = torch.cat([scale * recurrent_matrix(m, chosen.matrix) for _ in range(gates)])
    weights[2].data[m : 2 * m] = chosen.bias  # f of the LSTM, z of the GRU: what keeps
    return gated


def recurrent_matrix(m: int, kind: Matrix) -> Tensor:
    """A random matrix with σ₁ = 1."""
    U = torch.randn(m, m)
    return torch.linalg.qr(U)[0] if kind == "orthogonal" else U / torch.linalg.matrix_norm(U, 2)


def backward(layer: Recurrent, x: Tensor) -> tuple[list[Tensor], Tensor]:
    """s_0 … s_T as real vectors, and the gradient of L = uᵀ s_T with respect to each."""
    states = [flat(state_tensors(layer.initial_state(1, x))).requires_grad_()]
    for x_t in x.split(1, 1):
        _, after = layer(x_t, unflat(layer, states[-1]))
        states.append(flat(state_tensors(after)))
    u = torch.randn_like(states[-1])
    gradients = torch.autograd.grad((states[-1] * u / u.norm()).sum(), states)
    return [state.detach() for state in states], torch.cat(gradients)


def step_norms(layer: Recurrent, x: Tensor, states: list[Tensor]) -> Tensor:
    """σ₁(∂s_t/∂s_{t-1}) of every step, from one batch of single steps."""
    before = torch.cat(states[:-1])
    steps, size = before.shape
    copies = before.repeat_interleave(size, 0).requires_grad_()
    inputs = x[0].repeat_interleave(size, 0)[:, None]
    _, after = layer(inputs, unflat(layer, copies))
    each = flat(state_tensors(after)).view(steps, size, size).diagonal(dim1=1, dim2=2)
    (jacobians,) = torch.autograd.grad(each.sum(), copies)
    return torch.linalg.matrix_norm(jacobians.view(steps, size, size), 2)


def flat(tensors: tuple[Tensor, ...]) -> Tensor:
    """The tensors of a state side by side, complex ones as pairs of real numbers."""
    real = [torch.view_as_real(t).flatten(1) if t.is_complex() else t for t in tensors]
    return torch.cat(real, 1)


def unflat(layer: Recurrent, state: Tensor) -> Tensor | tuple[Tensor, ...]:
    """The inverse of `flat`."""
    if layer.complex_state:
        return torch.view_as_complex(state.unflatten(1, (-1, 2)).contiguous())
    return pack_state(state.split(layer.hidden_size, 1))


def largest(layer: Recurrent) -> Tensor:
    """α σ₁ of the recurrent weights; α = 1 is the largest slope of tanh and ReLU."""
    with torch.no_grad():
        if isinstance(layer, LRU):
            return eigenvalues(layer.nu, layer.phi).abs().max()
        return torch.linalg.matrix_norm(weights_of(layer), 2)


def radius(layer: Recurrent) -> Tensor:
    """The largest modulus of an eigenvalue of the recurrent weights."""
    with torch.no_grad():
        if isinstance(layer, LRU):
            return largest(layer)
        return torch.linalg.eigvals(weights_of(layer)).abs().max()


def weights_of(layer: Recurrent) -> Tensor:
    """The recurrent matrix; of a gated layer that of its candidate."""
    if isinstance(layer, Elman):
        return layer.U
    if isinstance(layer, Antisymmetric):
        return layer.W - layer.W.T
    assert isinstance(layer, LSTM | GRU)
    m = layer.hidden_size
    return layer.kernel.all_weights[0][1][2 * m : 3 * m]
