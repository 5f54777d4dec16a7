"""What remains of a run: a sequence of records that prints well."""

import pytest
import torch

from chainrule.models.feedforward.mlp import MLP
from chainrule.training import History, fit

RECORDS = [{"epoch": k, "train_loss": 1 / k, "validation_error": 0.1 * k} for k in range(1, 9)]


def test_a_history_is_a_sequence_of_records() -> None:
    history = History(RECORDS, "all epochs done")
    assert len(history) == 8
    assert history[0] is RECORDS[0] and history[-1] is RECORDS[-1]
    assert history[2:4] == RECORDS[2:4]
    assert list(reversed(history)) == RECORDS[::-1]
    assert RECORDS[3] in history


def test_it_prints_its_last_epoch() -> None:
    assert repr(History(RECORDS, "all epochs done")) == (
        "History(8 epochs, all epochs done: train_loss 0.125, validation_error 80.00 %)"
    )
    assert "weights of epoch 3" in repr(History(RECORDS, "stopped early", kept=3))
    assert repr(History([])) == "History(no epochs)"


def test_a_notebook_shows_the_last_epochs_as_a_table() -> None:
    shown = History(RECORDS, "no better <loss>")._repr_html_()
    assert shown.count("<tr>") == 1 + 5
    assert "<td>8</td><td>0.125</td><td>80.00 %</td>" in shown
    assert "<td>3</td>" not in shown
    assert "&lt;loss&gt;" in shown
    assert "no epochs" in History([])._repr_html_()


@pytest.mark.parametrize("patience", [0, 2])
def test_it_knows_which_epoch_the_model_has_the_weights_of(patience: int) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(40, 2), torch.randint(0, 2, (40,))
    held = torch.randn(40, 2), torch.randint(0, 2, (40,))
    history = fit(MLP(2, [16], 2), (x, y), held, epochs=30, learning_rate=0.05, patience=patience)
    losses = [record["validation_loss"] for record in history]
    assert history.kept == (losses.index(min(losses)) + 1 if patience else None)
