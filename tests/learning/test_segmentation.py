"""Loss and metrics of a class per pixel, against scikit-learn and by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.losses import cross_entropy, pixel_cross_entropy
from chainrule.learning.metrics import mean_iou, pixel_accuracy
from chainrule.learning.tasks import SEGMENTATION
from chainrule.training import Settings, fit, iterate


def scores(classes: torch.Tensor, number: int) -> torch.Tensor:
    """Logits whose argmax is these classes."""
    return nn.functional.one_hot(classes, number).movedim(-1, 1).float()


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_mean_iou_is_scikit_learns_macro_jaccard(seed, classes):
    generator = torch.Generator().manual_seed(seed)
    y, found = torch.randint(classes, (2, 3, 4, 5), generator=generator)
    expected = jaccard_score(y.flatten(), found.flatten(), average="macro")
    assert mean_iou(scores(found, classes), y) == pytest.approx(expected, abs=1e-12)


def test_a_class_that_neither_occurs_nor_is_predicted_does_not_count():
    y = torch.tensor([[[0, 0], [1, 1]]])
    found = torch.tensor([[[0, 1], [1, 1]]])
    assert mean_iou(scores(found, 5), y) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert pixel_accuracy(scores(found, 5), y) == 0.75


def test_the_pixel_loss_is_the_mean_of_the_pixels_losses():
    output, y = torch.randn(2, 3, 4, 5), torch.randint(3, (2, 4, 5))
    each = cross_entropy(output.movedim(1, -1).reshape(-1, 3), y.flatten()).view(2, -1).mean(1)
    torch.testing.assert_close(pixel_cross_entropy(output, y), each)
    even = pixel_cross_entropy(torch.zeros(1, 7, 2, 2), torch.zeros(1, 2, 2, dtype=torch.long))
    assert even.item() == pytest.approx(math.log(7))


def test_labels_beyond_the_models_classes_are_refused_however_wide_the_images():
    x, y = torch.randn(4, 1, 8, 9), torch.full((4, 8, 9), 3)
    with pytest.raises(InputError, match=r"label 3, but the model has 3 outputs"):
        iterate(nn.Conv2d(1, 3, 1), (x, y), task=SEGMENTATION)


def test_a_pixel_classifier_learns_to_tell_bright_from_dark():
    torch.manual_seed(0)
    x = torch.rand(16, 1, 6, 6)
    y = (x[:, 0] > 0.5).long()
    settings = Settings(epochs=40, learning_rate=0.3, batch_size=8, threads=1)
    history = fit(nn.Conv2d(1, 2, 1), (x, y), (x, y), settings=settings, task=SEGMENTATION)
    assert history[-1]["validation_mean_iou"] > 0.9
