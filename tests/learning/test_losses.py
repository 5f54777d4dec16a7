"""Losses and metrics against closed forms and scikit-learn."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

from chainrule.learning import losses, metrics

logits = st.floats(-500, 500, allow_nan=False)


@given(st.lists(logits, min_size=2, max_size=5))
def test_cross_entropy_is_minus_the_log_probability_of_the_label(z: list[float]) -> None:
    f = torch.tensor([z], dtype=torch.float64)
    for k in range(len(z)):
        expected = math.log(sum(math.exp(v - max(z)) for v in z)) + max(z) - z[k]
        found = losses.cross_entropy(f, torch.tensor([k]))
        assert found.shape == (1,)
        assert found.item() == pytest.approx(expected, abs=1e-9)


@given(logits, st.integers(0, 1))
def test_the_logistic_loss_is_the_two_class_cross_entropy(z: float, y: int) -> None:
    f, label = torch.tensor([z], dtype=torch.float64), torch.tensor([y])
    pair = torch.tensor([[0.0, z]], dtype=torch.float64)
    assert torch.allclose(losses.logistic(f, label), losses.cross_entropy(pair, label))


@given(logits, st.integers(0, 1))
def test_the_gradient_of_the_logistic_loss_is_prediction_minus_label(z: float, y: int) -> None:
    f = torch.tensor([z], dtype=torch.float64, requires_grad=True)
    losses.logistic(f, torch.tensor([y])).sum().backward()
    assert f.grad.item() == pytest.approx(torch.sigmoid(f).item() - y, abs=1e-12)


def test_losses_give_one_value_per_example_whatever_the_outputs() -> None:
    f, y = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    assert losses.squared(f, y).tolist() == [2.5, 12.5]
    assert losses.absolute(f, y).tolist() == [3.0, 7.0]
    assert losses.squared(f[:, 0], y[:, 0]).tolist() == [0.5, 4.5]
    assert losses.hinge(torch.tensor([2.0, 0.5, 0.5]), torch.tensor([1, 1, 0])).tolist() == [
        0.0,
        0.5,
        1.5,
    ]


def test_metrics_agree_with_scikit_learn() -> None:
    torch.manual_seed(0)
    f, y = torch.randn(50, 2), torch.randint(0, 2, (50,))
    assert metrics.error(f, y) == pytest.approx(1 - peer.accuracy_score(y, f.argmax(1)))
    assert metrics.accuracy(f, y) == pytest.approx(peer.accuracy_score(y, f.argmax(1)))
    assert metrics.auc(f, y) == pytest.approx(peer.roc_auc_score(y, f[:, 1] - f[:, 0]))
    assert metrics.error(f[:, 1], y) == pytest.approx(1 - peer.accuracy_score(y, f[:, 1] > 0))
    g, t = torch.randn(50, 1), torch.randn(50, 1)
    assert metrics.r2(g, t) == pytest.approx(peer.r2_score(t, g))
    assert metrics.mae(g, t) == pytest.approx(peer.mean_absolute_error(t, g))
    assert metrics.rmse(g, t) == pytest.approx(peer.root_mean_squared_error(t, g))


def test_the_logistic_gradient_is_exact_for_large_logits() -> None:
    """Softplus would be linear from 20 on."""
    z = torch.linspace(-40, 40, 81, dtype=torch.float64, requires_grad=True)
    losses.logistic(z, torch.zeros(81, dtype=torch.int64)).sum().backward()
    assert z.grad is not None
    torch.testing.assert_close(z.grad, z.detach().sigmoid(), rtol=1e-14, atol=0)
    torch.testing.assert_close(1 - z.grad, (-z.detach()).sigmoid(), rtol=0, atol=1e-15)
