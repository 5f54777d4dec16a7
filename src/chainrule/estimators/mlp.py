"""The multi-layer perceptron as a classifier and as a regressor."""

from chainrule.estimators.base import estimator
from chainrule.estimators.classifying import NetworkClassifier
from chainrule.estimators.regressing import NetworkRegressor
from chainrule.models.feedforward.mlp import MLP


class OneNetwork:
    """The only member under its own name."""

    modules_: list[MLP]
    histories_: list[list[dict[str, int | float]]]

    @property
    def module_(self) -> MLP:
        """The trained network."""
        return self.modules_[0]

    @property
    def loss_curve_(self) -> list[float]:
        """The mean training loss of every pass."""
        return [record["train_loss"] for record in self.histories_[0]]


@estimator
class MLPClassifier(OneNetwork, NetworkClassifier):
    """A multi-layer perceptron with a softmax at its end."""


@estimator
class MLPRegressor(OneNetwork, NetworkRegressor):
    """A multi-layer perceptron with numbers at its end."""
