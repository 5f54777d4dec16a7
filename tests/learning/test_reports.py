"""Reports of a classifier: by hand, and what a threshold changes."""

import math

import torch

from chainrule.learning.reports import chosen_classes, classification_metrics, report

P = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]], dtype=torch.float64)
Y = torch.tensor([0, 1, 0, 1])


def test_precision_recall_and_f1_are_those_of_the_second_class_by_hand():
    found = classification_metrics(P, Y)
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)
    # Ranked by p_1: hit, miss, hit, miss; precision at the hits is 1 and 2/3.
    assert math.isclose(found["average_precision"], (1 + 2 / 3) / 2)
    assert 0 < found["calibration error"] < 1


def test_a_threshold_moves_the_decision_but_not_the_ranking():
    lower = classification_metrics(P, Y, 0.35)
    assert lower["recall"] == 1 and math.isclose(lower["precision"], 2 / 3)
    assert lower["average_precision"] == classification_metrics(P, Y)["average_precision"]
    assert chosen_classes(P, 0.35).tolist() == [0, 1, 1, 1]


def test_several_classes_are_averaged_and_absent_ones_do_not_count():
    p = torch.eye(4, dtype=torch.float64)[torch.tensor([0, 0, 1, 1])]
    found = classification_metrics(p, torch.tensor([0, 0, 1, 2]))
    assert math.isclose(found["recall"], (1 + 1 + 0) / 3)
    assert math.isclose(found["precision"], (1 + 0.5 + 0) / 3)


def test_the_report_has_a_line_for_each_class():
    text = report(P, Y, ("no", "yes"), 0.35)
    assert [line.split()[0] for line in text.splitlines()[1:3]] == ["no", "yes"]
    assert "accuracy 75.0 %" in text and "'yes' is predicted from a probability of 0.35 on" in text
