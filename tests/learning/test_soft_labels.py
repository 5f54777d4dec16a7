"""Smoothed labels and distillation against their closed forms."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.learning.distillation import (
    distillation,
    distillation_gradient,
    distillation_loss,
    softmax_at,
)
from chainrule.learning.soft_labels import (
    confusion_smoothing,
    forward_correction,
    label_smoothing,
    soft_cross_entropy,
    uniform_confusion,
)

shares, temperatures = st.floats(0, 1), st.floats(0.2, 20)


def batch(seed: int, classes: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    f, teacher = 3 * torch.randn(2, 6, classes, dtype=torch.float64)
    return f, teacher, torch.randint(0, classes, (6,))


@given(st.integers(0, 99))
def test_a_confusion_matrix_gives_the_written_out_sum(seed: int) -> None:
    f, _, y = batch(seed)
    Pi = torch.rand(4, 4, dtype=torch.float64)
    Pi /= Pi.sum(1, keepdim=True)
    expected = [
        -sum(Pi[label, k] * f[i].log_softmax(0)[k] for k in range(4)) for i, label in enumerate(y)
    ]
    torch.testing.assert_close(confusion_smoothing(Pi)(f, y), torch.stack(expected))


@given(st.integers(0, 99))
def test_columns_are_accepted_by_name(seed: int) -> None:
    """J's Π e_y: column y replaces label y."""
    f, _, y = batch(seed)
    Pi = torch.rand(4, 4, dtype=torch.float64)
    Pi /= Pi.sum(0)
    by_columns = confusion_smoothing(Pi, labels_are="columns")(f, y)
    one_hot = torch.eye(4, dtype=torch.float64)[y]
    torch.testing.assert_close(by_columns, soft_cross_entropy(f, one_hot @ Pi.T))
    with pytest.raises(InputError, match="every row of confusion must be a distribution"):
        confusion_smoothing(Pi)
    with pytest.raises(InputError, match="every column of confusion must be a distribution"):
        forward_correction(Pi.T, labels_are="columns")


@given(st.integers(0, 99))
def test_forward_correction_is_the_written_out_sum(seed: int) -> None:
    f, _, y = batch(seed)
    Pi = torch.rand(4, 4, dtype=torch.float64)
    Pi /= Pi.sum(1, keepdim=True)
    p = f.softmax(1)
    expected = [-sum(p[i, k] * Pi[k, label] for k in range(4)).log() for i, label in enumerate(y)]
    torch.testing.assert_close(forward_correction(Pi)(f, y), torch.stack(expected))
    torch.testing.assert_close(forward_correction(torch.eye(4))(f, y), losses.cross_entropy(f, y))


@given(shares, st.integers(0, 99))
def test_uniform_smoothing_is_a_special_confusion(smoothing: float, seed: int) -> None:
    f, _, y = batch(seed)
    by_matrix = confusion_smoothing(uniform_confusion(4, smoothing))(f, y)
    torch.testing.assert_close(by_matrix, label_smoothing(smoothing)(f, y), rtol=1e-6, atol=1e-6)


@given(st.integers(0, 99))
def test_no_smoothing_is_the_cross_entropy(seed: int) -> None:
    f, _, y = batch(seed)
    torch.testing.assert_close(confusion_smoothing(torch.eye(4))(f, y), losses.cross_entropy(f, y))


def test_the_best_outputs_are_the_rows() -> None:
    Pi = torch.tensor([[0.7, 0.3], [0.1, 0.9]])
    f = Pi.log().requires_grad_()
    confusion_smoothing(Pi)(f, torch.tensor([0, 1])).sum().backward()
    torch.testing.assert_close(f.grad, torch.zeros(2, 2))


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (torch.tensor([[0.5, 0.6], [0.0, 1.0]]), "sums from 1 to 1.1"),
        (torch.tensor([[1.5, -0.5], [0.0, 1.0]]), "smallest entry of -0.5"),
    ],
)
def test_rows_that_are_no_distributions_are_refused(matrix: Tensor, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        confusion_smoothing(matrix)


def test_wrong_numbers_of_classes_and_shares_are_refused() -> None:
    with pytest.raises(InputError, match="confusion has 3 classes but the model 4 outputs"):
        confusion_smoothing(torch.eye(3))(*batch(0)[::2])
    with pytest.raises(InputError, match="`smoothing` must be a number from 0 to 1"):
        label_smoothing(1.5)
    with pytest.raises(InputError, match="`temperature` must be a number above 0"):
        distillation_loss(0.0)


@given(temperatures, st.integers(0, 99))
def test_the_gradient_of_distillation_is_q_minus_p_over_t(T: float, seed: int) -> None:
    f, teacher, _ = batch(seed)
    f.requires_grad_()
    distillation(f, teacher, T).sum().backward()
    expected = ((f / T).softmax(1) - (teacher / T).softmax(1)) / T
    torch.testing.assert_close(f.grad, expected.detach())
    torch.testing.assert_close(distillation_gradient(f, teacher, T), expected)


@given(temperatures, st.integers(0, 99))
def test_distillation_is_smallest_where_the_student_is_the_teacher(T: float, seed: int) -> None:
    f, teacher, _ = batch(seed)
    p = softmax_at(teacher, T)
    entropy = -(p * p.log()).sum(1)
    torch.testing.assert_close(distillation(teacher, teacher, T), entropy)
    assert (distillation(f, teacher, T) >= entropy - 1e-12).all()


@given(shares, temperatures, st.integers(0, 99))
def test_distilling_mixes_label_and_teacher(share: float, T: float, seed: int) -> None:
    f, teacher, y = batch(seed)
    expected = (1 - share) * losses.cross_entropy(f, y) + share * T**2 * distillation(f, teacher, T)
    torch.testing.assert_close(distillation_loss(T, share)(f, y, teacher), expected)


def test_no_gradient_reaches_the_teacher() -> None:
    f, teacher, y = batch(0)
    f.requires_grad_(), teacher.requires_grad_()
    distillation_loss()(f, y, teacher).sum().backward()
    assert teacher.grad is None


def test_soft_labels_of_one_class_are_hard_labels() -> None:
    f, _, y = batch(0)
    hard = torch.nn.functional.one_hot(y, 4).double()
    torch.testing.assert_close(soft_cross_entropy(f, hard), losses.cross_entropy(f, y))
