"""Ridge and lasso act on the weight vector of a logistic regression, alone or in a batched run."""

import pytest
import torch
from torch import Tensor

from chainrule.learning import losses
from chainrule.learning.tasks import Task
from chainrule.models.feedforward import LogisticRegression
from chainrule.training import Settings, fit, fit_many

LOGISTIC = Task("logistic regression", losses.logistic)


def examples() -> tuple[Tensor, Tensor]:
    x = torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
    return x, (x.sum(1) > 0).long()


def settings(**changed: object) -> Settings:
    return Settings(epochs=5, optimizer="sgd", learning_rate=0.05, batch_size=16, **changed)


def learned(**changed: object) -> LogisticRegression:
    model = LogisticRegression(3)
    fit(model, examples(), None, settings=settings(**changed), task=LOGISTIC)
    return model


def test_ridge_shrinks_the_weights_of_a_logistic_regression() -> None:
    free, ridge = learned().weight.norm().item(), learned(weight_decay=10.0).weight.norm().item()
    assert ridge < 0.2 * free


def test_lasso_sets_the_weights_of_a_logistic_regression_to_zero() -> None:
    assert (learned().weight != 0).all()
    assert (learned(lasso=10.0).weight == 0).all()


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_networks_trained_together_decay_as_they_do_alone(optimizer: str) -> None:
    each = [
        Settings(epochs=3, optimizer=optimizer, learning_rate=0.05, batch_size=16, weight_decay=mu)
        for mu in (0.0, 10.0)
    ]
    together = [LogisticRegression(3) for _ in each]
    fit_many(together, examples(), None, each, LOGISTIC)
    for own, member in zip(each, together, strict=True):
        alone = LogisticRegression(3)
        fit(alone, examples(), None, settings=own, task=LOGISTIC)
        torch.testing.assert_close(member.weight, alone.weight)
        torch.testing.assert_close(member.bias, alone.bias)
