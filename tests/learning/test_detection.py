"""Matching, loss and average precision of object detection, by hand and by brute force."""

from itertools import permutations

import pytest
import torch

from chainrule.learning.detection import (
    GIOU,
    L1,
    average_precision,
    best_matching,
    detection_loss,
    generalized_iou,
    iou,
)

CLASSES = 3


def random_scenes(n: int = 20) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    output = torch.cat([torch.randn(n, 5, CLASSES + 1), 0.2 + 0.3 * torch.rand(n, 5, 4)], 2)
    y = torch.cat([torch.randint(CLASSES, (n, 3, 1)), 0.2 + 0.3 * torch.rand(n, 3, 4)], 2)
    y[::2, 2] = -1.0
    return output, y


def answer(y: torch.Tensor, sure: float = 20.0) -> torch.Tensor:
    """Queries that give the truth: the objects in order, then two that find nothing."""
    labels = torch.where(y[..., 0] >= 0, y[..., 0], CLASSES).long()
    labels = torch.nn.functional.pad(labels, (0, 2), value=CLASSES)
    logits = sure * torch.nn.functional.one_hot(labels, CLASSES + 1)
    boxes = torch.nn.functional.pad(y[..., 1:], (0, 0, 0, 2), value=0.5)
    return torch.cat([logits, boxes], 2)


def test_overlaps_are_those_computed_by_hand() -> None:
    left = torch.tensor([0.25, 0.5, 0.5, 1.0])
    middle = torch.tensor([0.5, 0.5, 0.5, 1.0])
    corner = torch.tensor([0.9, 0.5, 0.2, 1.0])
    assert iou(left, middle) == pytest.approx(1 / 3)
    assert generalized_iou(left, middle) == pytest.approx(1 / 3)  # the hull is the union
    assert iou(left, corner) == 0
    assert generalized_iou(left, corner) == pytest.approx(-0.3)  # a gap of 0.3 of the whole


def test_no_other_matching_costs_less() -> None:
    output, y = random_scenes()
    found = best_matching(output, y)
    p = output[..., :-4].softmax(2)

    def cost(scene: int, queries: tuple[int, ...]) -> float:
        return sum(
            float(
                L1 * (output[scene, q, -4:] - y[scene, j, 1:]).abs().sum()
                - GIOU * generalized_iou(output[scene, q, -4:], y[scene, j, 1:])
                - p[scene, q, int(y[scene, j, 0])]
            )
            for j, q in enumerate(queries)
            if y[scene, j, 0] >= 0
        )

    for scene in range(4):
        own = cost(scene, tuple(found.query[scene].tolist()))
        assert own == pytest.approx(min(cost(scene, q) for q in permutations(range(5), 3)))


def test_the_loss_of_the_truth_is_zero_and_does_not_depend_on_the_order_of_the_queries() -> None:
    output, y = random_scenes()
    assert detection_loss(answer(y), y).max() < 1e-5
    mixed = output[:, torch.tensor([3, 1, 4, 0, 2])]
    torch.testing.assert_close(detection_loss(mixed, y), detection_loss(output, y))
    assert detection_loss(output, y).min() > 0.1


def test_the_truth_has_average_precision_one_and_duplicates_cost_precision() -> None:
    _, y = random_scenes()
    truth = answer(y)
    assert average_precision(truth, y) == pytest.approx(1.0)
    twice = truth.clone()
    twice[:, 3] = twice[:, 0]  # the same object, equally sure
    assert average_precision(twice, y) < 0.99
    moved = truth.clone()
    moved[..., -4:-2] += 0.5
    assert average_precision(moved, y) < 0.05


def test_average_precision_of_three_answers_by_hand() -> None:
    """Hit, miss, hit among two objects: (1 + 2/3) / 2."""
    box, far = [0.5, 0.5, 0.2, 0.2], [0.9, 0.9, 0.1, 0.1]
    y = torch.tensor([[[0.0, *box]], [[0.0, *box]]])
    scores = [[3.0, 2.0], [1.0, -9.0]]
    output = torch.tensor(
        [
            [[scores[0][0], 0.0, *box], [scores[0][1], 0.0, *far]],
            [[scores[1][0], 0.0, *box], [scores[1][1], 0.0, *far]],
        ]
    )
    assert average_precision(output, y) == pytest.approx((1 + 2 / 3) / 2)
