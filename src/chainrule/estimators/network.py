"""The base of the estimators made of networks: building, training, outputs.

The weights s of the examples are scaled to mean one and multiply the losses; as long as the data
fit into one batch, weight k is the same as k copies. Examples of weight zero are left out.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from chainrule.arguments import Count, NonNegative, Positive, Rate
from chainrule.estimators.base import FLOATS, Estimator, estimator, tensor
from chainrule.estimators.members import Arrays, _train_members
from chainrule.estimators.partial_fit import RunState, one_more_epoch
from chainrule.estimators.sparse import CsrRows, is_sparse, sparse_outputs
from chainrule.learning.losses import Loss
from chainrule.learning.tasks import Task
from chainrule.training import Settings, outputs
from chainrule.training.randomness import GENERATOR

LARGEST_BATCH = 200


class Problem(NamedTuple):
    """What the networks of an estimator are trained on, and towards."""

    arrays: Arrays
    """Inputs, targets, and weights of mean one."""
    outputs: int
    loss: Loss


@estimator
class NetworkEstimator(Estimator):
    """One or several networks of the same shape."""

    solver: str = "adam"
    """sgd, momentum, adam or adamw."""
    weight_decay: NonNegative = 1e-4
    """μ of the penalty ½ μ ‖W‖² beside the mean loss."""
    batch_size: Count | Literal["auto"] = "auto"
    """Examples per update; "auto": all of them, at most 200."""
    learning_rate_init: Positive = 1e-3
    """Step size of the solver."""
    max_iter: Count = 200
    """Largest number of epochs."""
    tol: float = 1e-4
    """Smallest improvement of the training loss that counts as progress."""
    n_iter_no_change: Count = 10
    """Epochs without progress after which training stops; with early stopping, epochs without a
    better validation loss."""
    early_stopping: bool = False
    """Whether to hold out a validation set and keep the weights that are best on it."""
    validation_fraction: Rate = 0.1
    """Fraction of the examples in the validation set."""
    warm_start: bool = False
    """Whether `fit` starts from the weights of the last call."""
    random_state: int | np.random.RandomState | None = None
    """Seed of the initial weights, the order of the examples and the validation set."""
    device: str = "cpu"
    """cpu, cuda, mps (float32 only) or auto."""

    _sparse: ClassVar[bool] = False
    """Whether X may be a sparse matrix."""

    @property
    def _members(self) -> int:
        """Number of networks."""
        return 1

    @property
    def _continues(self) -> bool:
        """Whether `fit` starts from the current weights."""
        return self.warm_start and hasattr(self, "modules_")

    @abstractmethod
    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Check X and y and note what `predict` needs of them; the rest is training."""

    @staticmethod
    def _fit_many(estimators: "Sequence[NetworkEstimator]", data: Sequence[Any]) -> None:
        """Fit estimator k on data k = (X, y), those that are alike in one program."""
        from chainrule.estimators.together import fit_together

        fit_together(estimators, data)

    def _fit_networks(self, problem: Problem) -> None:
        """Train on the arrays of a problem."""
        arrays, outputs, loss = problem
        settings = [self._settings(len(arrays[0]), seed) for seed in self._seeds()]
        present = self.modules_[: self._members] if self._continues else []
        new = [self._network(s.seed, arrays[0], outputs) for s in settings[len(present) :]]
        self.modules_: list[nn.Module] = present + new
        self._run_states: list[RunState] = []
        train, validation = arrays, None
        if self.early_stopping:
            train, validation = split(arrays, self.validation_fraction, settings[0].seed)
        train, task = objective(train, loss, validation)
        self.histories_ = _train_members(
            self.modules_,
            train,
            validation,
            settings,
            task,
            (self.tol, self.n_iter_no_change),
            self.device,
        )
        self.n_iter_ = max(map(len, self.histories_))

    def _partial_fit_networks(self, arrays: Arrays, outputs: int, loss: Loss) -> None:
        """One more epoch on (inputs, targets, weights) for every network."""
        if self.early_stopping:
            raise ValueError("partial_fit sees only a part of the data; set early_stopping=False")
        if not getattr(self, "_run_states", []):
            self._run_states = [RunState(seed) for seed in self._seeds()]
        if not hasattr(self, "modules_"):
            self.modules_ = [
                self._network(state.seed, arrays[0], outputs) for state in self._run_states
            ]
            self.histories_, self.n_iter_ = [[] for _ in self.modules_], 0
        every = zip(self.modules_, self._run_states, self.histories_, strict=True)
        for network, state, history in every:
            settings = self._settings(len(arrays[0]), state.seed)
            train, task = objective(arrays, loss)
            mean = one_more_epoch(network, train, settings, task, self.device, state)
            history.append({"epoch": len(history) + 1, "train_loss": mean})
        self.n_iter_ += 1

    def _outputs(self, X: Any) -> list[Tensor]:
        """The outputs of every network, in double precision."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        form = "csr" if self._sparse else False
        X = validate_data(
            self, X, reset=False, dtype=self._precision(new=False), accept_sparse=form
        )
        if is_sparse(X):
            return [sparse_outputs(network, CsrRows(X)).double() for network in self.modules_]
        x = tensor(X)
        return [outputs(network, (x,)).double() for network in self.modules_]

    def _rows(self, X: Any, reset: bool) -> Any:
        """X with one row for each example; estimators that take other shapes say how."""
        return X

    def _precision(self, new: bool) -> Any:
        """Precisions that X may have: both for new networks, else that of the current ones."""
        return FLOATS if new else next(self.modules_[0].parameters()).numpy(force=True).dtype

    def _seeds(self) -> list[int]:
        """One seed per network."""
        draws = check_random_state(self.random_state)
        return draws.randint(2**31 - 1, size=self._members).tolist()

    def _settings(self, examples: int, seed: int) -> Settings:
        """The settings of one network."""
        batch = min(LARGEST_BATCH, examples) if self.batch_size == "auto" else self.batch_size
        return Settings(
            seed=seed,
            epochs=self.max_iter,
            batch_size=batch,
            optimizer=self.solver,
            learning_rate=self.learning_rate_init,
            weight_decay=self.weight_decay,
            patience=self.n_iter_no_change if self.early_stopping else 0,
        )

    @abstractmethod
    def _build(self, inputs: int, outputs: int) -> nn.Module:
        """A new network for rows of so many features."""

    def _network(self, seed: int, x: Any, outputs: int) -> nn.Module:
        """A new network whose weights follow from the seed, in the precision of x."""
        with GENERATOR, torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return self._build(x.shape[1], outputs).to(x.dtype)


class OneNetwork:
    """Attributes of an estimator with one network."""

    modules_: list[nn.Module]
    histories_: list[list[dict[str, int | float]]]

    @property
    def module_(self) -> nn.Module:
        """The trained network."""
        return self.modules_[0]

    @property
    def loss_curve_(self) -> list[float]:
        """The mean training loss of every epoch."""
        return [record["train_loss"] for record in self.histories_[0]]


def objective(arrays: Arrays, loss: Loss, validation: Arrays | None = None) -> tuple[Arrays, Task]:
    """Arrays and task; weights that are all one are left out, which saves copying them."""
    if validation is None and bool((arrays[2] == 1).all()):
        return arrays[:2], Task("estimator", loss)
    return arrays, Task("estimator", weighted(loss))


def weighted(loss: Loss) -> Loss:
    """s ℓ, one value per example."""
    return lambda output, y, s: s * loss(output, y)


def as_tensors(weights: np.ndarray, x: Any, y: np.ndarray) -> Arrays:
    """(inputs, targets, weights of mean one), as the engine takes them."""
    rows = CsrRows(x) if is_sparse(x) else tensor(x)
    return rows, tensor(y), tensor(weights / weights.mean())


def split(arrays: Arrays, fraction: float, seed: int) -> tuple[Arrays, Arrays]:
    """Training and validation part, stratified by class; the weights have mean one in each."""
    y = arrays[1]
    classes = None if y.is_floating_point() else y.numpy()
    rows = train_test_split(
        np.arange(len(y)), test_size=fraction, random_state=seed, stratify=classes
    )
    (x, y, s), (x_aside, y_aside, s_aside) = (tuple(t[part] for t in arrays) for part in rows)
    return (x, y, s / s.mean()), (x_aside, y_aside, s_aside / s_aside.mean())
