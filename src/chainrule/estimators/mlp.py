"""The multi-layer perceptron as a classifier and as a regressor."""

from chainrule.estimators.base import estimator
from chainrule.estimators.network_classifier import NetworkClassifier
from chainrule.estimators.network_regressor import NetworkRegressor
from chainrule.models.feedforward.mlp import MLP


class OneNetwork:
    """Attributes of an estimator with one network."""

    modules_: list[MLP]
    histories_: list[list[dict[str, int | float]]]

    @property
    def module_(self) -> MLP:
        """The trained network."""
        return self.modules_[0]

    @property
    def loss_curve_(self) -> list[float]:
        """The mean training loss of every epoch."""
        return [record["train_loss"] for record in self.histories_[0]]


@estimator
class MLPClassifier(OneNetwork, NetworkClassifier):
    """A multi-layer perceptron with a softmax output."""


@estimator
class MLPRegressor(OneNetwork, NetworkRegressor):
    """A multi-layer perceptron with a linear output."""
