"""A Hopfield network restores a stored digit from a drawing, sweep by sweep."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.datasets.digits import prototypes
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.models.connectionism.dense_hopfield import DenseHopfield
from chainrule.models.connectionism.exponential_hopfield import ExponentialHopfield
from chainrule.models.connectionism.hopfield import Hopfield, energy, sweep, sweep_orders
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.pixels import drawing

SIDE = 8
SWEEPS = 12  # at most; recall of these patterns ends after a few


@dataclass(frozen=True)
class Settings:
    """What is stored and what is recalled.

    Args:
        ink: the drawing, as base64; empty for the first stored digit.
        memory: Hebb's rule, or one of the steeper energies.
        digits: which are stored.
        flipped: share of the cue's pixels that noise flips.
        shuffled: whether each sweep takes the units in an order of its own.
        seed: of the noise and the orders.
    """

    ink: Annotated[str, Range(0, 8000)] = ""
    memory: Literal["hopfield", "dense", "exponential"] = "hopfield"
    digits: Annotated[tuple[Annotated[int, Range(0, 9)], ...], Range(1, 10)] = (3, 6)
    flipped: Annotated[float, Range(0, 0.5)] = 0.0
    shuffled: bool = True
    seed: Annotated[int, Range(0, 10**6)] = 0


class Memory(NamedTuple):
    """The energy of states, and one sweep over the units in an order."""

    energy: Callable[[Tensor], Tensor]
    sweep: Callable[[Tensor, Tensor], Tensor]


def run(settings: Json) -> Activity:
    """Every message is a change of some settings."""
    known = dict(settings)
    while True:
        chosen = read(Settings, known)
        message = yield View(lambda chosen=chosen: recalled(chosen), waiting=True)  # type: ignore[misc]
        known |= message or {}


def recalled(chosen: Settings) -> Json:
    """The whole recall: the cue, and every sweep with the energy after each unit."""
    patterns = prototypes(chosen.digits)
    memory = stored(chosen.memory, patterns)
    generator = torch.Generator().manual_seed(chosen.seed)
    x = noisy(cue(chosen.ink, patterns), chosen.flipped, generator)
    order = sweep_orders(SIDE**2, generator if chosen.shuffled else None)
    start, sweeps = x, []
    for _ in range(SWEEPS):
        units, before = order(), x
        x = memory.sweep(before, units)
        sweeps.append(
            {
                "order": units.tolist(),
                "after": x[0].int().tolist(),
                "energies": rounded(energies(memory, before, x, units)),
                "overlaps": rounded(overlaps(patterns, x)),
            }
        )
        if torch.equal(before, x):
            break
    return {
        "digits": list(chosen.digits),
        "stored": patterns.int().tolist(),
        "start": start[0].int().tolist(),
        "energy": rounded(memory.energy(start))[0],
        "minima": rounded(memory.energy(patterns)),
        "overlaps": rounded(overlaps(patterns, start)),
        "sweeps": sweeps,
        "stable": torch.equal(before, x),
    }


def stored(kind: str, patterns: Tensor) -> Memory:
    """The memory of that kind with these patterns."""
    if kind == "hopfield":
        network = Hopfield(SIDE**2)
        network.store(patterns)
        W, b = network.W, network.b
        return Memory(lambda x: energy(W, b, x), lambda x, order: sweep(W, b, x, order))
    steep = DenseHopfield(patterns) if kind == "dense" else ExponentialHopfield(patterns)
    return Memory(steep.energy, steep.sweep)


def cue(ink: str, patterns: Float[Tensor, "digits 64"]) -> Float[Tensor, "1 64"]:
    """The drawing, scaled as the digits are, as ±1; the first pattern where nothing is drawn."""
    pixels = drawing(ink) if ink else None
    if pixels is None or not pixels.any():
        return patterns[:1]
    x = ImageEncoder(SIDE, margin=0.0).encode_pixels(pixels).reshape(1, -1)
    return torch.where(x > x.max() / 2, 1.0, -1.0)


def noisy(
    x: Float[Tensor, "1 64"], flipped: float, generator: torch.Generator
) -> Float[Tensor, "1 64"]:
    return torch.where(torch.rand(x.shape, generator=generator) < flipped, -x, x)


def energies(memory: Memory, before: Tensor, after: Tensor, order: Tensor) -> Tensor:
    """The energy after each unit of a sweep: those in front of it have their new values."""
    rank = order.argsort()
    updated = rank[None] <= torch.arange(len(order))[:, None]
    return memory.energy(torch.where(updated, after, before))


def overlaps(patterns: Tensor, x: Tensor) -> Tensor:
    """1/n Σ_i x_i y_i with every stored pattern."""
    return (patterns * x).mean(1)
