"""Members trained in one program are the ones that would have been trained alone."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from chainrule.errors import NotBatchableError
from chainrule.estimators import EnsembleClassifier, MLPClassifier, members
from chainrule.training import trainer

X, Y = make_classification(120, 6, n_informative=4, random_state=0)
MODEL = EnsembleClassifier(
    hidden_layer_sizes=(8,),
    n_estimators=3,
    max_iter=12,
    early_stopping=True,
    n_iter_no_change=3,
    random_state=0,
)


def refused(*_: object) -> None:
    raise NotBatchableError("cannot be trained many at once")


def test_an_ensemble_that_stops_early_is_the_same_together_and_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained = []
    real = members._train_one
    monkeypatch.setattr(members, "_train_one", lambda *a: trained.append(a) or real(*a))
    together = MODEL.fit(X, Y)
    p, histories = together.predict_proba(X), together.histories_
    assert not trained
    monkeypatch.setattr(members, "iterate_many", refused)
    alone = MODEL.fit(X, Y)
    assert len(trained) == 3
    np.testing.assert_allclose(alone.predict_proba(X), p, rtol=1e-6, atol=1e-8)
    for ours, theirs in zip(histories, alone.histories_, strict=True):
        assert len(ours) == len(theirs)
        assert ours[-1]["validation_loss"] == pytest.approx(theirs[-1]["validation_loss"])


def test_a_model_that_nobody_can_change_is_asked_once_and_ends_with_the_same_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    real = trainer.delta_recursion
    monkeypatch.setattr(trainer, "delta_recursion", lambda *a: asked.append(a) or real(*a))
    model = MLPClassifier(hidden_layer_sizes=(8,), dropout=0.2, max_iter=4, random_state=0)
    alone = model.fit(X, Y).predict_proba(X)
    assert len(asked) == 1
    monkeypatch.setattr(members.EstimatorTrainer, "reports", True)
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), alone)
    assert len(asked) == 5
