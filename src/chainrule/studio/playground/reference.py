"""Estimators of scikit-learn beside the networks: fitted once, without steps."""

import numpy as np
from jaxtyping import Float
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from torch import Tensor

from chainrule.data.splits import Split
from chainrule.studio.playground.learner import Learner
from chainrule.studio.playground.settings import Settings


class Reference(Learner):
    """An estimator, fitted to the training points.

    Args:
        chosen: the experiment.
        train: what is learned from.
    """

    ended = "fitted; it has no steps"

    def __init__(self, chosen: Settings, train: Split):
        self.estimator = estimator(chosen, len(train.y))
        self.estimator.fit(*(part.numpy() for part in train))

    def step(self) -> None:
        """There are none."""

    def confidence(self, x: Float[Tensor, "points 2"]) -> Float[np.ndarray, " points"]:
        if isinstance(self.estimator, SVC):  # a distance from the boundary, no probability
            return expit(2 * self.estimator.decision_function(x.numpy()))
        return self.estimator.predict_proba(x.numpy())[:, 1]

    def loss(self, split: Split) -> float | None:
        if isinstance(self.estimator, SVC):
            return None
        return float(log_loss(split.y.numpy(), self.confidence(split.x), labels=[0, 1]))


def estimator(chosen: Settings, points: int) -> BaseEstimator:
    """As scikit-learn spells it."""
    seed = chosen.seed
    match chosen.model:
        case "k-nearest-neighbors":
            return KNeighborsClassifier(n_neighbors=min(chosen.neighbors, points))
        case "svm":
            return SVC(C=chosen.C)
        case "decision-tree":
            return DecisionTreeClassifier(max_depth=chosen.depth, random_state=seed)
        case "random-forest":
            return RandomForestClassifier(
                n_estimators=chosen.trees, max_depth=chosen.depth, random_state=seed
            )
        case _:
            return GradientBoostingClassifier(
                n_estimators=chosen.trees, max_depth=chosen.depth, random_state=seed
            )
