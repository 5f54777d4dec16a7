"""Weight conversion between our layers and torch.nn.RNN, LSTM and GRU in one or both directions."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.elman import KERNELS, Elman
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.stacked import Stacked

NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


@checked
def from_torch(theirs: nn.RNNBase) -> Recurrent:
    """Our network with the weights of torch's, which must have biases and no projection.

    Args:
        theirs: An RNN, LSTM or GRU of torch.nn.

    >>> import torch
    >>> theirs = torch.nn.GRU(3, 8, batch_first=True)
    >>> x = torch.randn(2, 5, 3)
    >>> torch.allclose(from_torch(theirs)(x)[0], theirs(x)[0], atol=1e-6)
    True
    """
    if not theirs.bias or theirs.proj_size:
        raise InputError("expected a torch network with biases and without proj_size")
    layers: list[Recurrent] = []
    for number in range(theirs.num_layers):
        input_size = layers[-1].hidden_size if number else theirs.input_size
        directions = [new_layer(theirs, input_size) for _ in range(1 + theirs.bidirectional)]
        layers.append(Bidirectional(*directions) if theirs.bidirectional else directions[0])
    ours = layers[0] if len(layers) == 1 else Stacked(layers, theirs.dropout)
    ours.to(theirs.all_weights[0][0])
    with torch.no_grad():
        for layer, suffix in single_layers(ours):
            set_weights(layer, [getattr(theirs, name + suffix) for name in NAMES])
    return ours


@checked
def to_torch(ours: Recurrent) -> nn.RNNBase:
    """torch's network with the weights of ours: LSTM, GRU or Elman layers of one size.

    Args:
        ours: A network of this chapter.

    >>> import torch
    >>> ours, x = LSTM(3, 8), torch.randn(2, 5, 3)
    >>> torch.allclose(to_torch(ours)(x)[0], ours(x)[0], atol=1e-6)
    True
    """
    layers = [layer for layer, _ in single_layers(ours)]
    kinds, sizes = {type(layer) for layer in layers}, {layer.hidden_size for layer in layers}
    if len(kinds) > 1 or len(sizes) > 1 or not kinds <= {LSTM, GRU, Elman}:
        raise InputError("expected LSTM, GRU or Elman layers of one kind and hidden_size")
    bidirectional = any(isinstance(part, Bidirectional) for part in ours.modules())
    options: dict[str, Any] = {
        "num_layers": len(layers) // (1 + bidirectional),
        "dropout": ours.dropout if isinstance(ours, Stacked) else 0.0,
        "bidirectional": bidirectional,
        "batch_first": True,
    }
    first = layers[0]
    if isinstance(first, Elman):
        if first.activation not in KERNELS:
            raise InputError(f"torch's RNN has tanh or relu, not {first.activation!r}")
        options["nonlinearity"] = first.activation
    torch_class = {LSTM: nn.LSTM, GRU: nn.GRU, Elman: nn.RNN}[type(first)]
    theirs = torch_class(ours.input_size, first.hidden_size, **options)
    theirs.to(next(ours.parameters()))
    with torch.no_grad():
        for layer, suffix in single_layers(ours):
            for name, value in zip(NAMES, torch_weights(layer), strict=True):
                getattr(theirs, name + suffix).copy_(value)
    return theirs


def new_layer(theirs: nn.RNNBase, input_size: int) -> Recurrent:
    """A new layer of the same kind."""
    if isinstance(theirs, nn.RNN):
        return Elman(input_size, theirs.hidden_size, theirs.nonlinearity)
    return {nn.LSTM: LSTM, nn.GRU: GRU}[type(theirs)](input_size, theirs.hidden_size)


def single_layers(ours: Recurrent) -> Iterator[tuple[Recurrent, str]]:
    """Every single layer, and the suffix of its parameter names in torch."""
    layers = ours.recurrent_layers if isinstance(ours, Stacked) else [ours]
    for number, layer in enumerate(layers):
        if isinstance(layer, Bidirectional):
            yield layer.forward_layer, f"_l{number}"
            yield layer.backward_layer, f"_l{number}_reverse"
        else:
            yield layer, f"_l{number}"


def torch_weights(layer: Recurrent) -> list[torch.Tensor]:
    """The weights in torch's order."""
    if isinstance(layer, Elman):
        return [layer.V, layer.U, layer.b, torch.zeros_like(layer.b)]
    return [getattr(layer.kernel, f"{name}_l0") for name in NAMES]


def set_weights(layer: Recurrent, weights: list[torch.Tensor]) -> None:
    """Copy weights in torch's order; an Elman layer adds the two biases."""
    if isinstance(layer, Elman):
        weights = [*weights[:2], weights[2] + weights[3], torch.zeros_like(weights[3])]
    for own, value in zip(torch_weights(layer), weights, strict=True):
        own.copy_(value)
