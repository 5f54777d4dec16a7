"""Claim: hidden units that start equal stay equal and learn as one unit (A 1.3.2, J 8.1).

    w_i = w_j, v_i = v_j   ⇒   ∂ℓ/∂w_i = ∂ℓ/∂w_j, ∂ℓ/∂v_i = ∂ℓ/∂v_j        at every step
    Σ_i v φ(wᵀx + b) = √M v φ(√M (wᵀx + b))        M ReLU units, or one with √M times the weights

Measured: the largest distance between two of M equal units along stochastic gradient descent on the
two moons, and between √M times their weights and those of the single unit.
Bound: 1e-10. All sums are the same in exact arithmetic; double precision has errors of 1e-16, which
a few hundred steps may amplify.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.data.datasets import moons
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit

BOUND = 1e-10


def check(units: int = 32, epochs: int = 30, seed: int = 0) -> Verdict:
    """All weights 0.1, all biases 0.

    Args:
        units: Hidden units M.
        epochs: Epochs of training.
    """
    return verdict(units, epochs, seed, disturbance=0.0)


def broken() -> Verdict:
    """One weight of one unit differs slightly, and the units diverge."""
    return verdict(8, 10, 0, disturbance=1e-3)


def near() -> Near:
    """One weight of one unit differs still less."""
    return {
        f"one weight off by {size}": partial(verdict, 8, 10, 0, disturbance=size)
        for size in (1e-6, 1e-9)
    }


def verdict(units: int, epochs: int, seed: int, disturbance: float) -> Verdict:
    """Train equal units, one unit and random units on the same batches."""
    equal, random, single = network(units, "constant"), network(units, "kaiming", seed), network(1)
    with torch.no_grad():
        equal.layers[0].weight[0, 0] += disturbance  # type: ignore[index, operator]
        for layer in single.layers:
            layer.weight.mul_(units**0.5)  # type: ignore[operator]
    histories = [learn(model, epochs, seed) for model in (equal, single, random)]
    apart = max(spread(equal), difference(equal, single))
    done = [float(epoch) for epoch in range(1, epochs + 1)]
    return Verdict(
        quantity="largest distance between two equal units",
        measured=apart,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title=f"{units} equal units learn as one; a random start makes use of them all",
            x_label="epochs",
            y_label="cross-entropy of the training data (nats)",
            curves={"one unit": (done, histories[1])},
            points={
                f"{units} equal units": (done, histories[0]),
                f"{units} random units": (done, histories[2]),
            },
        ),
        details={"distance between random units": spread(random)},
    )


def network(units: int, start: str = "constant", seed: int = 0) -> MLP:
    """2-M-2 in double precision."""
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return MLP(2, [units], 2, initialization=start).double()


def learn(model: MLP, epochs: int, seed: int) -> list[float]:
    """The training loss of every epoch."""
    x, y = moons.load(seed=seed).train
    settings = Settings(
        seed=seed, epochs=epochs, batch_size=60, optimizer="sgd", learning_rate=0.3, threads=1
    )
    return [record["train_loss"] for record in fit(model, (x.double(), y), settings=settings)]


def rows(model: MLP) -> Tensor:
    """(M, 5): a unit's weights, bias and outgoing weights."""
    first, last = model.layers
    return torch.cat([first.weight, first.bias[:, None], last.weight.T], 1).detach()  # type: ignore[index, list-item]


def spread(model: MLP) -> float:
    """Largest distance of a weight from the same weight of another unit."""
    units = rows(model)
    return (units.max(0).values - units.min(0).values).max().item()


def difference(model: MLP, single: MLP) -> float:
    """Largest entry of √M unit - single unit."""
    units = rows(model)
    return (len(units) ** 0.5 * units - rows(single)).abs().max().item()
