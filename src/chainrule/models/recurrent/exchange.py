"""Weights between our layers and torch.nn's: RNN, LSTM and GRU, of any depth, one way or both."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.stacked import Stacked


def from_torch(theirs: nn.RNNBase) -> Recurrent:
    """Our network with the weights of torch's; it has biases and no projection of its state."""
    if not theirs.bias or theirs.proj_size:
        raise InputError("expected a torch network with biases and without proj_size")
    floors: list[Recurrent] = []
    for number in range(theirs.num_layers):
        inputs = theirs.input_size if number == 0 else floors[-1].width
        ways = [one(theirs, inputs) for _ in range(1 + theirs.bidirectional)]
        floors.append(Bidirectional(*ways) if theirs.bidirectional else ways[0])
    ours = floors[0] if len(floors) == 1 else Stacked(floors, theirs.dropout)
    ours.to(theirs.all_weights[0][0])
    with torch.no_grad():
        for layer, suffix in places(ours):
            put(layer, [getattr(theirs, name + suffix) for name in NAMES])
    return ours


def to_torch(ours: Recurrent) -> nn.RNNBase:
    """torch's network with the weights of ours: LSTM, GRU or Elman layers of one width."""
    layers = [layer for layer, _ in places(ours)]
    kinds, widths = {type(layer) for layer in layers}, {layer.width for layer in layers}
    if len(kinds) > 1 or len(widths) > 1 or not kinds <= {LSTM, GRU, Elman}:
        raise InputError("expected LSTM, GRU or Elman layers of one kind and width")
    both_ways = any(isinstance(part, Bidirectional) for part in ours.modules())
    options: dict[str, Any] = {
        "num_layers": len(layers) // (1 + both_ways),
        "dropout": ours.rate if isinstance(ours, Stacked) else 0.0,
        "bidirectional": both_ways,
        "batch_first": True,
    }
    first = layers[0]
    if isinstance(first, Elman):
        options["nonlinearity"] = first.activation
    kind = {LSTM: nn.LSTM, GRU: nn.GRU, Elman: nn.RNN}[type(first)]
    theirs = kind(ours.inputs, first.width, **options)
    theirs.to(next(ours.parameters()))
    with torch.no_grad():
        for layer, suffix in places(ours):
            for name, value in zip(NAMES, take(layer), strict=True):
                getattr(theirs, name + suffix).copy_(value)
    return theirs


NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def one(theirs: nn.RNNBase, inputs: int) -> Recurrent:
    """A fresh layer of the same kind."""
    if isinstance(theirs, nn.RNN):
        return Elman(inputs, theirs.hidden_size, theirs.nonlinearity)
    return {nn.LSTM: LSTM, nn.GRU: GRU}[type(theirs)](inputs, theirs.hidden_size)


def places(ours: Recurrent) -> Iterator[tuple[Recurrent, str]]:
    """Every single layer and the end of its names in torch."""
    floors = ours.floors if isinstance(ours, Stacked) else [ours]
    for number, floor in enumerate(floors):
        if isinstance(floor, Bidirectional):
            yield floor.forwards, f"_l{number}"
            yield floor.backwards, f"_l{number}_reverse"
        else:
            yield floor, f"_l{number}"


def take(layer: Recurrent) -> list[torch.Tensor]:
    """Its weights in torch's order."""
    if isinstance(layer, Elman):
        return [layer.V, layer.U, layer.b, torch.zeros_like(layer.b)]
    return [getattr(layer.kernel, f"{name}_l0") for name in NAMES]


def put(layer: Recurrent, weights: list[torch.Tensor]) -> None:
    """The reverse; the two biases of an Elman layer become one."""
    if isinstance(layer, Elman):
        weights = [*weights[:2], weights[2] + weights[3], torch.zeros_like(weights[3])]
    for own, value in zip(take(layer), weights, strict=True):
        own.copy_(value)
