"""K networks of one architecture as one module whose parameters have a leading axis of members.

    f(x)_k = f[θ_k](x_k),    θ stacked as (K, …)

`torch.func.vmap` maps the ordinary forward pass over the members, so any model will do that takes
no decision in Python by looking at its data. Affine maps become one batched product, and dropout
gets its masks from outside: member k sees those of its own seed, as if it were trained alone.
"""

import copy
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.fx.experimental.proxy_tensor import make_fx

from chainrule.errors import InputError, NotBatchableError
from chainrule.learning.penalties import penalized_parameters
from chainrule.nn.dropout import LEVELS, MASKS, draws, kept_levels, laid_out
from chainrule.training.checks import training_mode

NONE = torch.zeros((), dtype=torch.int16)  # a draw that keeps its unit


class Batch(NamedTuple):
    """(G, batch, …) as it was given, and (K, batch, …), each member's own copy of it."""

    given: Tensor
    copies: Tensor


BATCH: ContextVar[Batch] = ContextVar("batch")  # of the forward pass that is being mapped


class Stack(nn.Module):
    """The members' parameters and buffers, stacked; `names` are those of one member."""

    def __init__(self, models: Sequence[nn.Module]):
        super().__init__()
        check_alike(models)
        self.members = len(models)
        parameters, buffers = stack_module_state(list(models))
        self.names, self.buffer_names = list(parameters), list(buffers)
        trainable = [p.requires_grad for p in models[0].parameters()]
        self.stacked = nn.ParameterList(
            nn.Parameter(p.detach().clone(), requires_grad)
            for p, requires_grad in zip(parameters.values(), trainable, strict=True)
        )
        self.weights = tuple(self.stacked)  # reading a ParameterList costs more than using it
        weights = set(penalized_parameters(models[0]))
        self.penalized = [p in weights for p in models[0].parameters()]
        for place, value in enumerate(buffers.values()):
            self.register_buffer(f"buffer{place}", value.clone())
        self.wiring = [wired(models[0])]  # in a list: its own parameters are not ours
        self.programs: dict[tuple[object, ...], Callable[..., Tensor]] = {}

    def forward(self, x: Tensor, masks: "list[Masks]") -> Tensor:
        """(G, batch, …) → (K, batch, outputs): K / G members in a row share one of G batches."""
        buffers = [getattr(self, f"buffer{i}") for i in range(len(self.buffer_names))]
        tensors = [*self.weights, *buffers, x, *(t for layer in masks for t in layer)]
        key = (self.training, tuple(x.shape), len(masks))
        if key not in self.programs:
            self.programs[key] = self.program(tensors)
        return self.programs[key](*tensors)

    def program(self, tensors: list[Tensor]) -> Callable[..., Tensor]:
        """The mapped forward pass for tensors of these shapes, as a plain list of operations.

        Mapping costs more than small networks compute; it is done once, and the operations that it
        leads to are replayed. Where the first map is affine, the copies of a batch are never made.
        """
        model = self.wiring[0].eval()
        if self.training:
            training_mode(model)
        names = self.names + self.buffer_names

        def member(*tensors: Tensor) -> Tensor:
            state, x = dict(zip(names, tensors, strict=False)), tensors[len(names)]
            given = iter(tensors[len(names) + 1 :])
            masks = len(tensors) > len(names) + 1
            token = MASKS.set(
                (lambda h, _: mask_of(next(given), next(given), h)) if masks else None
            )
            try:
                return functional_call(model, state, (x,))
            finally:
                MASKS.reset(token)

        def every(*tensors: Tensor) -> Tensor:
            x = tensors[len(names)]
            copies = x[:, None].expand(-1, self.members // len(x), *x.shape[1:]).flatten(0, 1)
            token = BATCH.set(Batch(x, copies))
            try:
                return vmap(member)(*tensors[: len(names)], copies, *tensors[len(names) + 1 :])
            finally:
                BATCH.reset(token)

        try:
            with torch.no_grad():
                traced = make_fx(every)(*(t.clone() for t in tensors))
            traced.graph.eliminate_dead_code()
            traced.recompile()
            return traced.forward
        except (RuntimeError, InputError) as error:
            raise NotBatchableError(
                f"{type(model).__name__} cannot be trained many at once: its forward pass draws "
                "random numbers, looks at its data in Python or calls a kernel that has no batched "
                "form; train the members one by one"
            ) from error

    def unstack(self, models: Sequence[nn.Module], state: dict[str, Tensor] | None = None) -> None:
        """Copy the members' weights (or those of a saved state) into ordinary models."""
        state = state or self.state_dict()
        places = [f"stacked.{i}" for i in range(len(self.names))]
        places += [f"buffer{i}" for i in range(len(self.buffer_names))]
        for k, model in enumerate(models):
            values = (state[place][k] for place in places)
            model.load_state_dict(
                dict(zip(self.names + self.buffer_names, values, strict=True)), strict=False
            )


class Masks(NamedTuple):
    """Of one dropout layer: uniform draws and keep levels, with a leading axis of members."""

    draws: Tensor
    kept: Tensor


def mask_of(draws: Tensor, kept: Tensor, h: Tensor) -> Tensor:
    """m / p for one member's activations, as `nn.dropout.mask` computes it."""
    keep = laid_out(draws[: h.numel()], h.shape) < kept - LEVELS // 2
    return keep.to(h.dtype) * (LEVELS / kept)


class Dropouts:
    """The dropout layers that a forward pass meets, with every member's rate for each."""

    def __init__(self, models: Sequence[nn.Module], example: Tensor):
        met = [self.record(model, example) for model in models]
        self.units = [units for _, units in met[0]]  # per example
        self.rates = [[member[i][0] for member in met] for i in range(len(self.units))]
        levels = [[kept_levels(rate) for rate in layer] for layer in self.rates]
        self.kept = [torch.tensor(layer) for layer in levels]
        self.active = any(map(any, self.rates))

    @staticmethod
    def record(model: nn.Module, example: Tensor) -> list[tuple[float, int]]:
        """(rate, units) of each dropout layer, in the order in which they are met."""
        met: list[tuple[float, int]] = []

        def note(h: Tensor, rate: float) -> Tensor:
            met.append((rate, h.numel() // len(example)))
            return torch.ones_like(h)

        token, was_training = MASKS.set(note), model.training
        try:
            buffers = {name: t.clone() for name, t in model.named_buffers()}
            with torch.no_grad():
                functional_call(model.train(), buffers, (example,))
        finally:
            MASKS.reset(token)
            model.train(was_training)
        return met

    def draw(self, member: int, batch: int) -> list[Tensor]:
        """Uniform draws for one member's layers, as it would draw them by itself."""
        return [
            draws(units * batch) if rates[member] > 0 else NONE.expand(units * batch)
            for units, rates in zip(self.units, self.rates, strict=True)
        ]

    def masks(self, drawn: Sequence[list[Tensor]]) -> list[Masks]:
        """All members' draws, layer by layer."""
        layers = zip(*drawn, strict=True)
        return [
            Masks(torch.stack(each), kept) for each, kept in zip(layers, self.kept, strict=True)
        ]


class Affine(torch.autograd.Function):
    """x Wᵀ + b, in its batched form one product for all members."""

    @staticmethod
    def forward(x: Tensor, W: Tensor, b: Tensor) -> Tensor:
        return nn.functional.linear(x, W, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing is kept: only the batched form is ever differentiated, by autograd."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *tensors: Tensor) -> tuple[Tensor, int]:
        K = info.batch_size
        x, W, b = (members_first(t, axis, K) for t, axis in zip(tensors, in_dims, strict=True))
        rows = as_given(x if x.ndim == 3 else x.reshape(K, -1, x.shape[-1]))
        if len(rows) < K:  # members that share their rows are one product
            W, b = W.reshape(len(rows), -1, W.shape[-1]), b.reshape(len(rows), -1)
        y = torch.baddbmm(b[:, :, None], W, rows.mT)  # this way ∂W comes out contiguous
        y = (y if len(y) == K else y.view(K, -1, y.shape[-1])).mT
        return y if x.ndim == 3 else y.reshape(*x.shape[:-1], -1), 0


def as_given(x: Tensor) -> Tensor:
    """(K, batch, inputs) → (G, batch, inputs), if these are nothing but copies of the batch."""
    batch = BATCH.get()
    if x.is_contiguous() and (x.data_ptr(), x.numel()) == (
        batch.copies.data_ptr(),
        batch.copies.numel(),
    ):
        return batch.given.reshape(len(batch.given), *x.shape[1:])
    return x


def members_first(t: Tensor, axis: int | None, members: int) -> Tensor:
    """With the axis of members in front, and not one operation more than that takes."""
    if axis is None:
        return t.expand(members, *t.shape)
    return t if axis == 0 else t.movedim(axis, 0)


def wired(model: nn.Module) -> nn.Module:
    """A copy of the model without weights of its own, whose affine maps know their batched form."""
    shell = copy.deepcopy(model).to("meta")
    for part in shell.modules():
        if type(part) is nn.Linear and part.bias is not None:
            part.forward = affine_of(part)  # type: ignore[method-assign, assignment]
    return shell


def affine_of(layer: nn.Linear) -> Callable[[Tensor], Tensor]:
    """The layer's forward pass by `Affine`, reading whatever weights it has at that moment."""
    return lambda x: Affine.apply(x, layer.weight, layer.bias)


def check_alike(models: Sequence[nn.Module]) -> None:
    """At least one model, all of one class and shape."""
    if not models:
        raise InputError("expected at least one network to train, got none")
    if len(set(map(id, models))) < len(models):
        raise InputError(
            "the same network stands in `models` twice; expected networks of their own, such as "
            "copy.deepcopy(model)"
        )

    def shape(model: nn.Module) -> list[tuple[object, ...]]:
        trainable = [(p.requires_grad,) for p in model.parameters()]
        return trainable + [(name, t.shape) for name, t in model.state_dict().items()]

    for model in models[1:]:
        if type(model) is not type(models[0]) or shape(model) != shape(models[0]):
            raise NotBatchableError(
                "networks trained together must be of one architecture; "
                f"{type(model).__name__} differs in class, shapes or frozen parameters"
            )
