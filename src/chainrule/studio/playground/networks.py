"""Models trained by gradients: logistic regression, an MLP, a residual network, an ensemble.

A change of optimizer, rate or decay begins a new phase: training goes on from the present weights
with a new optimizer.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.data.splits import Split
from chainrule.errors import DivergenceError
from chainrule.learning.tasks import CLASSIFICATION
from chainrule.models.feedforward import MLP, Ensemble, LogisticRegression, ResidualNetwork
from chainrule.studio.playground.learner import Array, Learner
from chainrule.studio.playground.settings import Settings
from chainrule.training import Progress, iterate, outputs
from chainrule.training.evaluation import evaluate_arrays

EPOCHS = 10**6  # more than anybody watches


@dataclass(frozen=True)
class Phase:
    """How the weights were changed for some steps."""

    optimizer: str
    learning_rate: float
    weight_decay: float
    steps: int = 0


class Networks(Learner):
    """One network, or the members of an ensemble side by side.

    Args:
        chosen: the experiment.
        train: what is learned from.
    """

    def __init__(self, chosen: Settings, train: Split):
        self.chosen, self.train = chosen, train
        count = chosen.members if chosen.model == "ensemble" else 1
        self.members = [network(chosen, chosen.seed + k) for k in range(count)]
        self.model = Ensemble(self.members) if count > 1 else self.members[0]
        first = Phase(chosen.optimizer, chosen.learning_rate, chosen.weight_decay)
        self.phases = [first]
        self.begin()

    def begin(self) -> None:
        """Start training as the last phase says, from the present weights."""
        phase = self.phases[-1]
        self.ended = ""
        self.trainings = [
            iterate(
                member,
                tuple(self.train),
                device="cpu",
                tick=0.0,
                seed=self.chosen.seed + k,
                epochs=EPOCHS,
                batch_size=self.chosen.batch_size,
                optimizer=phase.optimizer,
                learning_rate=phase.learning_rate,
                weight_decay=phase.weight_decay,
            )
            for k, member in enumerate(self.members)
        ]

    def change(self, phase: Phase) -> None:
        """Another optimizer, rate or decay from here on."""
        for training in self.trainings:
            training.close()
        kept = [past for past in self.phases if past.steps]
        self.phases = [*kept, phase]
        self.begin()

    @property
    def steps_per_epoch(self) -> int:
        whole = self.phases[-1].optimizer == "gd"
        return 1 if whole else -(-len(self.train.y) // self.chosen.batch_size)

    def step(self) -> None:
        if self.ended:
            return
        try:
            for training in self.trainings:
                advance(training)
        except DivergenceError:
            self.ended = "the loss is no longer finite: lower the learning rate, or reset"
            return
        self.steps += 1
        self.phases[-1] = replace(self.phases[-1], steps=self.phases[-1].steps + 1)

    def confidence(self, x: Float[Tensor, "points 2"]) -> Float[np.ndarray, " points"]:
        return probability(outputs(self.model, (x,), batch_size=2**15)).numpy()

    def loss(self, split: Split) -> float | None:
        return evaluate_arrays(self.model, tuple(split), CLASSIFICATION)["loss"]

    def units(self, x: Float[Tensor, "points 2"]) -> Sequence[Array]:
        with torch.no_grad():
            return [layer.numpy() for layer in hidden_units(self.model, x)]

    def weights(self) -> Sequence[Array]:
        with torch.no_grad():
            return [matrix.numpy() for matrix in connections(self.model)]


def network(chosen: Settings, seed: int) -> nn.Module:
    """A network with the initial weights of its seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if chosen.model == "logistic-regression":
            return LogisticRegression(2)
        if chosen.model == "residual-network":
            return ResidualNetwork(2, chosen.units, chosen.layers, 2, chosen.activation)
        return MLP(2, [chosen.units] * chosen.layers, 2, chosen.activation, chosen.dropout)


def advance(training: Generator[Progress]) -> None:
    """To the next step; the reports between two epochs are none."""
    while next(training).record is not None:
        pass


def probability(output: Tensor) -> Float[Tensor, " points"]:
    """P(class 1) of one logit, of two, or of two log-probabilities."""
    return output.sigmoid() if output.ndim == 1 else output.softmax(1)[:, 1]


def hidden_units(model: nn.Module, x: Float[Tensor, "points 2"]) -> list[Tensor]:
    """The outputs of each hidden layer; of an ensemble the probabilities of its members."""
    if isinstance(model, Ensemble):
        return [torch.stack([probability(member(x)) for member in model.members], 1) - 0.5]
    found: list[Tensor] = []
    for layer in getattr(model, "layers", []):
        h = layer(found[-1] if found else x)
        found.append(model.activation(h) if isinstance(model, MLP) else h)
    return found[:-1] if isinstance(model, MLP) else found


def connections(model: nn.Module) -> list[Tensor]:
    """The weights between the layers; the last are those of the logit of class 1 against 0."""
    if isinstance(model, Ensemble):
        members = len(model.members)
        return [torch.zeros(members, 2), torch.full((1, members), 1 / members)]
    if isinstance(model, LogisticRegression):
        return [model.weight[None]]
    affine = [part for part in model.modules() if isinstance(part, nn.Linear)]
    weights = [part.weight for part in affine if part.bias is not None]  # a projection has none
    return [*weights[:-1], weights[-1].diff(dim=0)]
