"""Every model that learns by gradients is trained many at once, or refused in one sentence."""

import copy

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import NotBatchableError
from chainrule.learning.tasks import Task
from chainrule.registry import Entry, entries
from chainrule.training import Settings, fit, fit_many


def squares(output: Tensor, y: Tensor) -> Tensor:
    """One loss per example, for outputs of any shape."""
    return (output - y).square().reshape(len(y), -1).mean(1)


def learns(model: nn.Module) -> bool:
    return any(p.requires_grad for p in model.parameters())


def weights(model: nn.Module) -> Tensor:
    return torch.cat([t.detach().double().flatten() for t in model.state_dict().values()])


@pytest.mark.parametrize("entry", entries("models"), ids=lambda entry: entry.name)
def test_one_step_of_many_equals_one_step_alone_or_is_refused(entry: Entry) -> None:
    torch.manual_seed(0)
    model, x = entry.load().example()
    if not learns(model):
        pytest.skip("learns by its own rule")
    model, x = model.double(), x.double() if x.is_floating_point() else x
    torch.manual_seed(1)
    y = torch.randn_like(model.eval()(x).detach())
    task = Task("squares", squares)
    settings = [
        Settings(epochs=1, batch_size=len(x), seed=k, optimizer="sgd", learning_rate=0.01 * (k + 1))
        for k in range(2)
    ]
    together = [copy.deepcopy(model) for _ in settings]
    try:
        fit_many(together, (x, y), None, settings, task)
    except NotBatchableError:
        return
    for member, own in zip(together, settings, strict=True):
        alone = copy.deepcopy(model)
        fit(alone, (x, y), None, settings=own, task=task)
        assert weights(member).isfinite().all()
        assert not torch.equal(weights(member), weights(model)), "nothing was learned"
        torch.testing.assert_close(weights(member), weights(alone), rtol=1e-6, atol=1e-9)
