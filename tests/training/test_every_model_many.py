"""Every model that learns by gradients is trained many at once, or refused in one clear sentence."""

import copy

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.objective import Objective
from chainrule.registry import Entry, entries
from chainrule.training import Settings, fit_many, train

MODELS = entries("models")
COMMON = {"epochs": 1, "batch_size": 64, "optimiser": "sgd", "learning_rate": 1e-3}


def learns(entry: Entry) -> bool:
    model, _ = example(entry, 0)
    return any(p.requires_grad for p in model.parameters())


def example(entry: Entry, seed: int) -> tuple[nn.Module, Tensor]:
    """The model's example in double precision, so that rounding hides nothing."""
    torch.manual_seed(seed)
    model, x = entry.load().example()
    return model.double(), x.double() if x.is_floating_point() else x


def squared_size(output: Tensor, _: Tensor) -> Tensor:
    """½ ‖f‖², a loss for outputs of any shape."""
    return 0.5 * output.reshape(len(output), -1).square().sum(1)


@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry.name)
def test_it_is_trained_many_at_once_or_clearly_refused(entry: Entry) -> None:
    if not learns(entry):
        pytest.skip("learns by its own rule")
    objective = Objective(squared_size)
    members = [example(entry, seed)[0] for seed in range(2)]
    start = copy.deepcopy(members)
    _, x = example(entry, 0)
    with torch.no_grad():
        data = (x, torch.zeros_like(start[0].eval()(x)))
    settings = [Settings(**COMMON, seed=seed) for seed in range(2)]
    try:
        *_, last = fit_many(members, data, None, settings, objective)
    except InputError as refused:
        assert "many at once" in str(refused) or "no parameters" in str(refused)
        return
    assert torch.tensor([m["train_loss"] for m in last.members]).isfinite().all()
    for member, alone, own in zip(members, start, settings, strict=True):
        before = {name: t.clone() for name, t in alone.state_dict().items()}
        train(alone.train(), data, None, own, objective, device="cpu")
        together = member.state_dict()
        assert any(not torch.equal(before[name], t) for name, t in together.items())
        for name, t in alone.state_dict().items():
            torch.testing.assert_close(together[name], t, rtol=1e-6, atol=1e-9, msg=name)
