"""Tasks: which one targets suggest, what form targets take, how outputs become answers."""

import pytest
import torch

from chainrule.errors import InputError
from chainrule.learning.metrics import LOSS, R2
from chainrule.learning.tasks import (
    BINARY,
    CLASSIFICATION,
    REGRESSION,
    SEGMENTATION,
    Task,
    class_index,
    column,
    task_for,
)

LABELS = torch.tensor([0, 2, 1])


@pytest.mark.parametrize(
    ("y", "classes", "task"),
    [
        (torch.randn(3), None, REGRESSION),
        (torch.randn(3, 2), 0, REGRESSION),
        (LABELS, None, CLASSIFICATION),
        (LABELS, 3, CLASSIFICATION),
        (LABELS > 0, 2, BINARY),
        (torch.zeros(3, 4, 4).long(), 5, SEGMENTATION),
    ],
)
def test_targets_suggest_their_task(y: torch.Tensor, classes: int | None, task: Task) -> None:
    assert task_for(y, classes) is task


def test_a_metric_is_found_by_name_and_an_unknown_one_is_refused() -> None:
    assert REGRESSION.metric("r2") is R2
    assert REGRESSION.metric("loss") is LOSS
    with pytest.raises(InputError, match="auc is not measured for regression; expected one of"):
        REGRESSION.metric("auc")


def test_targets_take_the_form_of_the_loss() -> None:
    assert column(torch.tensor([1, 2])).tolist() == [[1.0], [2.0]]
    assert column(torch.zeros(3, 2)).shape == (3, 2)
    assert class_index(torch.tensor([True, False])).tolist() == [1, 0]
    assert class_index(torch.tensor([3], dtype=torch.uint8)).dtype == torch.int64
    with pytest.raises(InputError, match=r"convert them with y.long\(\)"):
        class_index(torch.tensor([0.0, 1.0]))


def test_only_the_first_target_changes_its_form() -> None:
    x, y, s = torch.zeros(2, 3), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    found = REGRESSION.targets((x, y, s))
    assert found[0] is x and found[2] is s
    assert found[1].shape == (2, 1)
    assert REGRESSION.targets((x,)) == (x,)


def test_outputs_are_decoded_into_answers() -> None:
    (answer,) = CLASSIFICATION.decode(torch.tensor([[0.0, 2.0]]), ["cat", "dog"])
    assert answer["prediction"] == "dog"
    assert answer["probability"] == pytest.approx(torch.tensor(2.0).sigmoid().item())
    (single,) = BINARY.decode(torch.tensor([2.0]), ["cat", "dog"])
    assert single["probabilities"] == pytest.approx(answer["probabilities"])
