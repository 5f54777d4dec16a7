"""What a constructor took without a word, `fit` refuses by name."""

import math
from typing import Any

import numpy as np
import pytest

from chainrule import estimators
from chainrule.errors import InputError

X, Y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("PerceptronClassifier", {"max_iter": 0}),
        ("PerceptronClassifier", {"n_iter_no_change": 1.5}),
        ("PerceptronClassifier", {"fit_intercept": "yes"}),
        ("RidgeRegression", {"alpha": math.nan}),
        ("RidgeRegression", {"alpha": -1.0}),
        ("LogisticRegression", {"C": math.nan}),
        ("LogisticRegression", {"max_iter": None}),
        ("MLPClassifier", {"hidden_layer_sizes": (4, 0)}),
        ("MLPClassifier", {"dropout": 1.5}),
        ("MLPClassifier", {"batch_size": "all"}),
        ("MLPRegressor", {"learning_rate_init": math.inf}),
        ("MLPRegressor", {"activation": None}),
        ("EnsembleClassifier", {"n_estimators": 0}),
        ("HopfieldMemory", {"sweeps": -1}),
    ],
)
def test_fit_refuses_an_argument_by_name(name: str, wrong: dict[str, Any]) -> None:
    made = getattr(estimators, name)(**wrong)
    with pytest.raises(InputError, match=f"{name}: `{next(iter(wrong))}` must be"):
        made.fit(X, Y)


def test_no_penalty_is_an_infinite_weight_of_the_losses() -> None:
    assert estimators.LogisticRegression(C=math.inf).fit(X, Y).score(X, Y) > 0.4
