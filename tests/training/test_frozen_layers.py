"""Frozen layers: neither their parameters nor their running statistics move."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.models.feedforward import MLP
from chainrule.training import Settings, evaluate, fit, fit_many, iterate

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


def network(norm: str | None = None) -> MLP:
    torch.manual_seed(0)
    return MLP(3, [8], 2, norm=norm)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([t.detach().double().flatten() for t in model.state_dict().values()])


def test_frozen_normalization_keeps_its_running_statistics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)
    model = network(norm="batch")
    norm = next(part for part in model.modules() if hasattr(part, "running_mean"))
    norm.requires_grad_(False)
    before, seen = norm.running_mean.clone(), set()
    for now in iterate(model, (X + 5, Y), (X, Y), epochs=2, batch_size=20):
        seen.add(now.record is None)
        evaluate(model, (X, Y))  # also in the middle of an epoch
    assert seen == {True, False}
    assert torch.equal(norm.running_mean, before)
    free = network(norm="batch")
    fit(free, (X + 5, Y), epochs=1, batch_size=20)
    moved = next(part for part in free.modules() if hasattr(part, "running_mean"))
    assert not torch.equal(moved.running_mean, before)


def test_a_frozen_normalization_layer_takes_batches_of_one() -> None:
    model = network(norm="batch")
    next(p for p in model.modules() if hasattr(p, "running_mean")).requires_grad_(False)
    assert fit(model, (X[:21], Y[:21]), epochs=1, batch_size=20)


@pytest.mark.parametrize("clip_norm", [0.0, 0.1])
@pytest.mark.parametrize("rates", [(0.1, 0.1), (0.1, 0.2)])
def test_frozen_parameters_and_statistics_stay_when_many_are_trained(
    rates: tuple[float, float], clip_norm: float
) -> None:
    def half_frozen() -> MLP:
        torch.manual_seed(0)
        model = MLP(4, [6, 5], 3, norm="batch").double()
        model.layers[0].requires_grad_(False)
        model.norms[0].requires_grad_(False)
        return model

    x, y = torch.randn(40, 4).double() + 3, torch.arange(40) % 3
    settings = [
        Settings(epochs=2, batch_size=20, optimizer="sgd", learning_rate=rate, clip_norm=clip_norm)
        for rate in rates
    ]
    together, first = [half_frozen() for _ in rates], half_frozen()
    fit_many(together, (x, y), None, settings)
    for member, own in zip(together, settings, strict=True):
        alone = half_frozen()
        fit(alone, (x, y), settings=own)
        torch.testing.assert_close(weights(member), weights(alone), rtol=1e-6, atol=1e-9)
        assert torch.equal(member.layers[0].weight, first.layers[0].weight)
        assert torch.equal(member.norms[0].running_mean, first.norms[0].running_mean)
        assert not torch.equal(member.norms[1].running_mean, first.norms[1].running_mean)
