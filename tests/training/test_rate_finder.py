"""The learning-rate finder: it suggests a useful rate and leaves everything as it was."""

import pytest
import torch

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.training import Settings, fit
from chainrule.training.rate_finder import find_rate

torch.manual_seed(0)
X = torch.randn(400, 5)
Y = (X[:, 0] * X[:, 1] > 0).long()


def test_it_leaves_model_and_randomness_untouched() -> None:
    model = MLP(5, [16], 2, dropout=0.2)
    before, state = [p.clone() for p in model.parameters()], torch.get_rng_state()
    find_rate(model, (X, Y), Settings(batch_size=32), steps=40)
    assert all(map(torch.equal, before, model.parameters()))
    assert torch.equal(state, torch.get_rng_state())


def test_the_suggested_rate_learns_where_one_far_below_does_not() -> None:
    def loss_at(rate: float) -> float:
        torch.manual_seed(1)
        settings = Settings(epochs=10, batch_size=32, learning_rate=rate)
        return fit(MLP(5, [16], 2), (X, Y), None, settings=settings)[-1]["train_loss"]

    torch.manual_seed(1)
    trial = find_rate(MLP(5, [16], 2), (X, Y), Settings(batch_size=32))
    assert trial.rates == sorted(trial.rates)
    assert loss_at(trial.suggestion) < min(loss_at(trial.suggestion / 300), 0.6)


def test_nonsense_is_refused() -> None:
    with pytest.raises(InputError, match="rates from low to high"):
        find_rate(MLP(5, [4], 2), (X, Y), Settings(), lowest=1.0, highest=0.1)
