"""Auxiliary losses of layers: collected by a training step and nowhere else."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import NotBatchableError
from chainrule.learning.tasks import REGRESSION
from chainrule.nn.aux_losses import add_to_loss, collect_aux_losses
from chainrule.training import Settings, evaluate, fit, iterate_many


class Penalized(nn.Module):
    """w x, with the penalty 3 w² on every example."""

    def __init__(self, weight: float):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([[weight]]))

    def forward(self, x: Tensor) -> Tensor:
        add_to_loss(3 * self.w.square().flatten().expand(len(x)))
        return x @ self.w


DATA = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([[0.0], [0.0], [1.0], [2.0]])


def test_terms_are_collected_inside_the_block_only() -> None:
    model, x = Penalized(2.0), DATA[0]
    with collect_aux_losses() as terms:
        model(x)
        with collect_aux_losses() as inner:
            model(x)
        assert len(terms) == len(inner) == 1
        assert torch.equal(terms[0], torch.full((4,), 12.0))
    model(x)
    assert len(terms) == 1


@pytest.mark.parametrize("parts", [1, 3])
def test_a_training_step_minimizes_loss_and_terms_however_it_is_split(parts: int) -> None:
    model = Penalized(2.0)
    w, (x, y) = model.w.item(), DATA
    loss = 0.5 * (w * x - y).square().mean().item() + 3 * w**2
    slope = ((w * x - y) * x).mean().item() + 6 * w
    settings = Settings(
        epochs=1, batch_size=4, optimizer="sgd", learning_rate=0.01, accumulate=parts
    )
    (record,) = fit(model, DATA, DATA, settings=settings, task=REGRESSION)
    assert record["train_loss"] == pytest.approx(loss)
    assert model.w.item() == pytest.approx(w - 0.01 * slope)
    plain = 0.5 * (model.w.item() * x - y).square().mean().item()
    assert record["validation_loss"] == pytest.approx(plain)
    assert evaluate(model, DATA, REGRESSION)["loss"] == pytest.approx(plain)


def test_networks_trained_many_at_once_refuse_it_instead_of_leaving_it_out() -> None:
    members = [Penalized(1.0), Penalized(2.0)]
    settings = [Settings(epochs=1, batch_size=4, seed=k) for k in range(2)]
    with pytest.raises(NotBatchableError, match="many at once"):
        list(iterate_many(members, DATA, None, settings, REGRESSION))
