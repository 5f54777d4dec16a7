"""Backpropagation written out: equal to autograd wherever it is used, and not used elsewhere."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook

from chainrule.learning.tasks import CLASSIFICATION, REGRESSION, Task
from chainrule.models.feedforward import MLP
from chainrule.training import Settings, iterate
from chainrule.training.delta_recursion import delta_recursion
from chainrule.training.sources.base import Batch
from chainrule.training.trainer import NetworkTrainer

CPU = torch.device("cpu")


def autograd(model: nn.Module, x: Tensor, y: Tensor, task: Task) -> tuple[Tensor, list[Tensor]]:
    loss = task.loss(model(x), y).mean()
    return loss.detach(), list(torch.autograd.grad(loss, list(model.parameters())))


@settings(max_examples=30, deadline=None)
@given(
    hidden=st.lists(st.integers(1, 9), max_size=3),
    activation=st.sampled_from(["relu", "tanh", "sigmoid"]),
    rate=st.sampled_from([0.0, 0.4]),
    classes=st.booleans(),
    bias=st.booleans(),
    seed=st.integers(0, 99),
)
def test_loss_and_gradients_are_those_of_autograd(
    hidden: list[int], activation: str, rate: float, classes: bool, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    model = MLP(6, hidden, 4, activation, rate, output_bias=bias).double()
    x, task = torch.randn(7, 2, 3).double(), CLASSIFICATION if classes else REGRESSION
    y = torch.randint(4, (7,)) if classes else torch.randn(7, 4).double()
    torch.manual_seed(1)
    loss, expected = autograd(model, x, y, task)
    torch.manual_seed(1)
    ours = delta_recursion(model, task, Settings(), CPU)
    assert ours is not None
    assert ours.takes(Batch((x,), (y,), 7))
    torch.testing.assert_close(ours(Batch((x,), (y,), 7)), loss)
    for p, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(p.grad, gradient)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("task", [CLASSIFICATION, REGRESSION], ids=lambda task: task.name)
def test_in_mixed_precision_the_bits_are_those_of_autograd_and_autocast(
    activation: str, task: Task
) -> None:
    torch.manual_seed(0)
    model = MLP(40, [64, 32], 4, activation, dropout=0.2)
    x, classes = torch.randn(48, 40), task is CLASSIFICATION
    y = torch.randint(4, (48,)) if classes else torch.randn(48, 4)
    torch.manual_seed(1)
    with torch.autocast("cpu", torch.bfloat16):
        f = model(x)
    loss = task.loss(f.float(), y).mean()
    expected = torch.autograd.grad(loss, list(model.parameters()))
    torch.manual_seed(1)
    ours = delta_recursion(model, task, Settings(), CPU, low=True)
    assert ours is not None
    torch.testing.assert_close(ours(Batch((x,), (y,), 48)), loss)
    for p, gradient in zip(model.parameters(), expected, strict=True):
        assert torch.equal(p.grad, gradient)


def test_a_sequence_of_torch_layers_is_read() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    x, y = torch.randn(4, 2, 3), torch.randint(3, (4,))
    loss, expected = autograd(model, x, y, CLASSIFICATION)
    ours = delta_recursion(model, CLASSIFICATION, Settings(), CPU)
    assert ours is not None
    torch.testing.assert_close(ours(Batch((x,), (y,), 4)), loss)
    torch.testing.assert_close([p.grad for p in model.parameters()], expected)


def shared() -> nn.Module:
    layer = nn.Linear(6, 6)
    return nn.Sequential(layer, nn.ReLU(), layer)


def frozen() -> nn.Module:
    model = MLP(6, [5], 3)
    model.layers[0].requires_grad_(False)
    return model


def watched() -> nn.Module:
    model = MLP(6, [5], 3)
    model.layers[0].register_forward_hook(lambda *_: None)
    return model


def scaled() -> nn.Module:
    model = MLP(6, [5], 3)
    next(model.parameters()).register_hook(lambda gradient: 2 * gradient)
    return model


def replaced() -> nn.Module:
    model = MLP(6, [5], 3)
    usual = model.forward
    model.forward = lambda x: 2 * usual(x)  # type: ignore[method-assign]
    return model


def replaced_layer() -> nn.Module:
    model = nn.Sequential(nn.Linear(6, 3))
    usual = model[0].forward
    model[0].forward = lambda x: 2 * usual(x)
    return model


class OwnName(nn.Module):
    """Its `dense_layers` are modules of the user's own."""

    def __init__(self) -> None:
        super().__init__()
        self.dense_layers = nn.ModuleList([nn.Linear(6, 5), nn.Linear(5, 3)])

    def forward(self, x: Tensor) -> Tensor:
        return self.dense_layers[1](self.dense_layers[0](x).relu())


@dataclass
class Scaled:
    """A loss that cannot be a key of a dictionary, as no such dataclass can."""

    scale: float

    def __call__(self, output: Tensor, y: Tensor) -> Tensor:
        return self.scale * F.cross_entropy(output, y, reduction="none")


class Doubled(MLP):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


@pytest.mark.parametrize(
    "model",
    [
        shared(),
        frozen(),
        watched(),
        scaled(),
        replaced(),
        replaced_layer(),
        OwnName(),
        Doubled(6, [5], 3),
        MLP(6, [5], 3, norm="batch"),
        MLP(6, [5], 3, norm="weight"),
        MLP(6, [5], 3, activation="gelu"),
        nn.Sequential(nn.Linear(6, 5), nn.Dropout(0.5), nn.Linear(5, 3)),
        nn.Sequential(nn.ReLU(), nn.Linear(6, 3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_other_network_is_left_to_autograd(model: nn.Module) -> None:
    assert delta_recursion(model, CLASSIFICATION, Settings(), CPU) is None


def test_a_hook_on_all_modules_is_called() -> None:
    handle = register_module_forward_hook(lambda *_: None)
    try:
        assert delta_recursion(MLP(6, [5], 3), CLASSIFICATION, Settings(), CPU) is None
    finally:
        handle.remove()


@pytest.mark.parametrize(
    "changes",
    [
        {"label_smoothing": 0.1},
        {"class_weights": "balanced"},
        {"accumulate": 2},
        {"unfreeze_every": 1},
    ],
    ids=str,
)
def test_other_settings_and_losses_are_left_to_autograd(changes: dict[str, Any]) -> None:
    assert delta_recursion(MLP(6, [5], 3), CLASSIFICATION, Settings(**changes), CPU) is None
    for loss in (lambda output, y: (output.sum(1) - y).abs(), Scaled(2.0)):
        assert delta_recursion(MLP(6, [5], 3), Task("own", loss), Settings(), CPU) is None


def test_targets_need_not_lie_in_the_order_of_the_outputs() -> None:
    x, y = torch.randn(4, 5), torch.randn(4, 3, 2).mT
    model = MLP(5, [3], 6)
    loss, expected = autograd(model, x, y, REGRESSION)
    ours = delta_recursion(model, REGRESSION, Settings(), CPU)
    assert ours is not None
    torch.testing.assert_close(ours(Batch((x,), (y,), 4)), loss)
    torch.testing.assert_close([p.grad for p in model.parameters()], expected)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"clip_norm": 0.1, "ema_decay": 0.9, "weight_decay": 0.1, "lasso": 0.01},
        {"optimizer": "momentum", "layer_decay": 0.5},
    ],
    ids=str,
)
def test_a_whole_run_ends_where_one_by_autograd_ends(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = torch.randn(50, 6, dtype=torch.float64), torch.randint(3, (50,))
    used: list[bool] = []
    plain = NetworkTrainer.written_out

    def trained(written_out: bool) -> list[Tensor]:
        def chosen(trainer: NetworkTrainer) -> Any:
            used.append(plain(trainer) is not None)
            return plain(trainer) if written_out else None

        monkeypatch.setattr(NetworkTrainer, "written_out", chosen)
        torch.manual_seed(0)
        model = MLP(6, [8], 3, dropout=0.2).double()
        for _ in iterate(model, (x, y), settings=Settings(epochs=3, batch_size=16, **changes)):
            pass
        return [p.detach() for p in model.parameters()]

    assert all(map(torch.equal, trained(True), trained(False)))
    assert all(used)


def test_what_a_reader_changes_between_two_steps_holds_from_the_next_one() -> None:
    model, seen = MLP(6, [5], 3), list[bool]()
    data = torch.randn(64, 6), torch.randint(3, (64,))
    for number, _ in enumerate(iterate(model, data, tick=0.0, epochs=1, batch_size=16)):
        if number == 0:
            frozen = model.layers[0].requires_grad_(False).weight.clone()
            model.layers[1].register_forward_hook(lambda *_: seen.append(True))
    assert torch.equal(model.layers[0].weight, frozen)
    assert len(seen) >= 3


def test_a_run_inside_autocast_is_left_to_autograd() -> None:
    batch = Batch((torch.randn(4, 6),), (torch.randint(3, (4,)),), 4)
    ours = delta_recursion(MLP(6, [5], 3), CLASSIFICATION, Settings(), CPU)
    assert ours is not None
    with torch.autocast("cpu", torch.bfloat16):
        assert not ours.takes(batch)
    assert ours.takes(batch)
