"""PointNet: order, critical points, the matrices of the T-nets and their penalty."""

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.losses import cross_entropy
from chainrule.models.geometric.pointnet import (
    CHUNK_SIZE,
    PENALTY,
    PointNet,
    TNet,
    orthogonality,
    transformed,
)
from chainrule.models.geometric.pointnet_segmentation import PointNetSegmentation
from chainrule.nn.aux_losses import collect_aux_losses
from chainrule.training import Settings, fit

KINDS = [PointNet, PointNetSegmentation]
kinds = pytest.mark.parametrize("kind", KINDS)


def build(kind: type = PointNet, inputs: int = 3, seed: int = 0) -> nn.Module:
    """A small network whose T-nets have left the identity and whose norms have seen data."""
    torch.manual_seed(seed)
    model = kind(3, 4, in_features=inputs, features=24).double()
    for part in model.modules():
        if isinstance(part, TNet):
            nn.init.normal_(part.output.weight, std=0.02)
    for _ in range(3):
        model(torch.randn(8, 30, inputs, dtype=torch.float64))
    return model.eval()


def cloud(points: int = 40, inputs: int = 3) -> Tensor:
    return torch.randn(3, points, inputs, dtype=torch.float64)


@kinds
def test_the_order_of_the_points_does_not_matter(kind) -> None:
    model, x, order = build(kind), cloud(), torch.randperm(40)
    y = model(x)
    torch.testing.assert_close(model(x[:, order]), y if kind is PointNet else y[..., order])


def test_points_that_come_twice_do_not_matter() -> None:
    model, x = build(), cloud()
    torch.testing.assert_close(model(torch.cat([x, x[:, 5:9]], 1)), model(x))


def test_critical_points_alone_give_the_same_answer_and_no_other_set_of_them() -> None:
    model, x = build(), cloud(200)[:1]
    critical = model.critical_points(x)
    assert 0 < critical.sum() < 3 * 24 < 200
    torch.testing.assert_close(model(x[:, critical[0]]), model(x), rtol=1e-12, atol=1e-12)
    changed = 0
    for point in critical[0].nonzero()[:10, 0]:
        rest = torch.arange(200) != point
        changed += int(not torch.allclose(model(x[:, rest]), model(x), rtol=1e-9))
    assert changed > 5


@kinds
def test_a_cloud_may_have_any_number_of_points(kind) -> None:
    model = build(kind)
    for points in (1, 7, 300):
        y = model(cloud(points))
        assert y.shape == ((3, 4) if kind is PointNet else (3, 4, points))


@kinds
def test_a_large_batch_is_evaluated_in_pieces_with_the_same_answers(kind) -> None:
    model, x = build(kind), torch.randn(CHUNK_SIZE + 5, 6, 3, dtype=torch.float64)
    torch.testing.assert_close(model(x), torch.cat([model(x[:30]), model(x[30:])]))


def test_the_sizes_are_those_of_the_paper() -> None:
    model = PointNet(3, 40)
    local, whole, A_1, A_2 = model.features(torch.randn(2, 9, 3))
    assert local.shape == (2, 9, 64) and whole.shape == (2, 1024)
    assert A_1.shape == (2, 3, 3) and A_2.shape == (2, 64, 64)
    assert 3.4e6 < sum(p.numel() for p in model.parameters()) < 3.6e6  # "3.5M", table 6


def test_t_nets_start_at_the_identity() -> None:
    _, _, A_1, A_2 = PointNet(2, 3, features=8).features(torch.randn(4, 9, 2))
    assert torch.equal(A_1, torch.eye(2).expand(4, 2, 2))
    assert torch.equal(A_2, torch.eye(64).expand(4, 64, 64))


def test_one_matrix_turns_all_vectors_of_a_point() -> None:
    x, A = cloud(inputs=6), torch.randn(3, 3, 3, dtype=torch.float64)
    y = transformed(x, A)
    for part in (slice(0, 3), slice(3, 6)):
        torch.testing.assert_close(y[1, 4, part], A[1].T @ x[1, 4, part])


def test_the_penalty_by_hand() -> None:
    rotation = torch.linalg.qr(torch.randn(5, 64, 64, dtype=torch.float64)).Q
    torch.testing.assert_close(orthogonality(rotation), torch.zeros(5, dtype=torch.float64))
    assert orthogonality(2 * torch.eye(3)[None]).tolist() == [27]  # 3 · (1 - 4)²


@kinds
def test_the_penalty_of_the_feature_transform_goes_to_the_loss_of_training(kind) -> None:
    model, x = build(kind), cloud()
    with collect_aux_losses() as terms:
        model(x)
    A_2 = model.features(x).A_2
    assert len(terms) == 1
    torch.testing.assert_close(terms[0], PENALTY * orthogonality(A_2))
    assert terms[0].min() > 0


def test_a_training_step_reports_cross_entropy_and_penalty() -> None:
    model, x, y = build(), cloud().repeat(2, 1, 1), torch.tensor([0, 1, 2, 3, 0, 1])
    model.dropout = 0.0
    model.train()
    with collect_aux_losses() as terms, torch.no_grad():
        expected = (cross_entropy(model(x), y) + terms[0]).mean().item()
    (record,) = fit(model, (x, y), settings=Settings(epochs=1, batch_size=6))
    assert record["train_loss"] == pytest.approx(expected, rel=1e-6)


def test_points_that_are_no_vectors_are_refused() -> None:
    with pytest.raises(InputError, match="vectors of 3 numbers"):
        PointNet(3, 2, in_features=4)
