"""What the page chooses before a model learns, and what it may change meanwhile."""

from dataclasses import dataclass
from typing import Annotated, Literal

from chainrule.studio.activity import Range

Task = Literal["moons", "circles", "spirals", "xor", "blobs", "own"]
Model = Literal[
    "perceptron",
    "logistic-regression",
    "mlp",
    "residual-network",
    "ensemble",
    "k-nearest-neighbors",
    "svm",
    "decision-tree",
    "random-forest",
    "gradient-boosting",
]
Activation = Literal["relu", "tanh", "sigmoid", "leaky_relu", "softplus", "gelu", "identity"]
Optimizer = Literal[
    "gd", "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion"
]
Rate = Annotated[float, Range(1e-5, 10)]
Decay = Annotated[float, Range(0, 1)]
Speed = Annotated[float, Range(0, 1000)]


@dataclass(frozen=True)
class Settings:
    """An experiment.

    Args:
        data: a toy problem, or `own` for the points below.
        num_samples: points of a toy problem.
        noise: standard deviation of the noise on its coordinates.
        margin: smallest distance of the blobs from the line between them.
        points: own points, each as (x₁, x₂, class 0 or 1).
        seed: of the splits, the initial weights, the order of the examples and the masks.
        model: what learns.
        layers: hidden layers.
        units: of each hidden layer.
        activation: of the hidden units.
        dropout: probability of dropping a hidden unit.
        members: networks of an ensemble.
        optimizer: by name.
        learning_rate: η.
        weight_decay: μ.
        batch_size: examples per step.
        neighbors: k of the k nearest neighbors.
        C: of the support vector machine; smaller is smoother.
        depth: largest depth of a tree.
        trees: of a forest or of boosting.
        regions: draw the linear regions of a ReLU network.
        speed: steps per second; 0 for as many as the machine can do.
        playing: learn at once, without waiting for a message.
    """

    data: Task = "moons"
    num_samples: Annotated[int, Range(20, 600)] = 300
    noise: Annotated[float, Range(0, 1)] = 0.15
    margin: Annotated[float, Range(0.01, 1)] = 0.1
    points: Annotated[tuple[tuple[float, ...], ...], Range(0, 600)] = ()
    seed: Annotated[int, Range(0, 2**31)] = 0
    model: Model = "mlp"
    layers: Annotated[int, Range(1, 6)] = 2
    units: Annotated[int, Range(1, 16)] = 8
    activation: Activation = "tanh"
    dropout: Annotated[float, Range(0, 0.9)] = 0.0
    members: Annotated[int, Range(2, 8)] = 4
    optimizer: Optimizer = "adam"
    learning_rate: Rate = 0.01
    weight_decay: Decay = 0.0
    batch_size: Annotated[int, Range(1, 600)] = 32
    neighbors: Annotated[int, Range(1, 100)] = 15
    C: Annotated[float, Range(1e-3, 1e4)] = 1.0
    depth: Annotated[int, Range(1, 20)] = 5
    trees: Annotated[int, Range(1, 200)] = 50
    regions: bool = False
    speed: Speed = 0.0
    playing: bool = True


@dataclass(frozen=True)
class Change:
    """A message to a model that learns; whatever is left out stays as it is.

    Args:
        optimizer: from here on, from the present weights.
        learning_rate: the same.
        weight_decay: the same.
        regions: draw the linear regions.
        speed: steps per second, 0 for all that are possible.
        playing: go on, or wait.
    """

    optimizer: Optimizer | None = None
    learning_rate: Rate | None = None
    weight_decay: Decay | None = None
    regions: bool | None = None
    speed: Speed | None = None
    playing: bool | None = None
