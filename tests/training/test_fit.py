"""The front door of the engine: whatever data, loss and optimizer a user brings."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from chainrule import data
from chainrule.errors import DivergenceError, InputError
from chainrule.learning import losses
from chainrule.learning.metrics import MAE
from chainrule.learning.tasks import Task, column
from chainrule.models.feedforward import MLP, LogisticRegression
from chainrule.training import History, Settings, evaluate, fit, iterate, predict
from chainrule.training.sources import MemoryMappedRows

X = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()
TARGET = X.sum(1)


def network(outputs: int = 2) -> MLP:
    torch.manual_seed(0)
    return MLP(3, [8], outputs)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def fitted(train: object, outputs: int = 2, **options: object) -> Tensor:
    model = network(outputs)
    fit(model, train, **{"epochs": 2, "batch_size": 16} | options)
    return weights(model)


def test_real_targets_of_one_dimension_are_a_column() -> None:
    plain = fitted((X, TARGET[:, None]), outputs=1)
    assert torch.equal(fitted((X, TARGET), outputs=1), plain)
    splits = data.arrays(X.numpy(), TARGET.numpy(), seed=0)
    history = fit(network(1), splits, epochs=30, learning_rate=0.02)
    assert history[-1]["validation_rmse"] < 0.5 * history[0]["validation_rmse"]
    assert evaluate(network(1), (X, TARGET)) == evaluate(network(1), (X, TARGET[:, None]))


def test_a_table_with_a_column_of_real_targets_can_be_fitted(tmp_path: Path) -> None:
    rows = "\n".join(
        f"{a},{b},{2 * a - b}" for a, b in np.random.default_rng(0).normal(size=(80, 2))
    )
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    splits = data.table(tmp_path / "t.csv", target="y")
    history = fit(MLP(2, [8], 1), splits, epochs=40, learning_rate=0.02, batch_size=16)
    assert history[-1]["validation_rmse"] < 0.5 * history[0]["validation_rmse"]


@pytest.mark.parametrize(
    "optimizer", [torch.optim.NAdam, lambda groups: torch.optim.NAdam(groups, lr=0.5)]
)
def test_an_optimizer_may_be_a_class_or_a_factory(
    optimizer: Callable[..., torch.optim.Optimizer],
) -> None:
    settings = Settings(optimizer=optimizer, epochs=1, batch_size=60, learning_rate=0.01)
    by_hand = network()
    step = torch.optim.NAdam(by_hand.parameters(), 0.01)
    rows = torch.randperm(60)  # one batch: its order does not matter but for rounding
    losses.cross_entropy(by_hand(X[rows]), Y[rows]).mean().backward()
    step.step()
    torch.testing.assert_close(
        fitted((X, Y), settings=settings, batch_size=60, epochs=1), weights(by_hand)
    )


def test_gradient_descent_takes_all_examples_in_one_step() -> None:
    by_hand, steps = network(), 3
    for _ in range(steps):
        by_hand.zero_grad()
        losses.cross_entropy(by_hand(X), Y).mean().backward()
        with torch.no_grad():
            for p in by_hand.parameters():
                p -= 0.1 * p.grad
    model = network()
    reports = list(
        iterate(model, (X, Y), optimizer="gd", learning_rate=0.1, epochs=3, batch_size=7)
    )
    assert {now.steps for now in reports} == {1}
    torch.testing.assert_close(weights(model), weights(by_hand))


class Numbers(Dataset):
    """The rows as a data set that is not made of tensors."""

    def __len__(self) -> int:
        return len(X)

    def __getitem__(self, row: int) -> tuple[Tensor, int]:
        return X[row], int(Y[row])


def test_gradient_descent_is_refused_where_batches_cannot_hold_everything() -> None:
    for source in (Numbers(), DataLoader(Numbers(), 10)):
        with pytest.raises(InputError, match="`optimizer` gd takes all examples in every step"):
            iterate(network(), source, optimizer="gd")
    with pytest.raises(InputError, match="`sampling` cannot be used here"):
        iterate(network(), (X, Y), optimizer="gd", sampling="replacement")


@pytest.mark.parametrize("form", [lambda: (X, Y), Numbers])
def test_sampling_with_replacement_repeats_some_examples_and_leaves_others_out(
    form: Callable[[], object],
) -> None:
    seen: list[Tensor] = []

    class Watching(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            if self.training:
                seen.append(x)
            return super().forward(x)

    for seed in (1, 1, 2):
        fit(Watching(3, 2), form(), sampling="replacement", batch_size=16, epochs=2, seed=seed)
    first, again, other = torch.cat(seen).split(120)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert not torch.equal(first[:60], first[60:])
    distinct = len(first[:60].unique(dim=0))
    assert 25 < distinct < 50  # 60 (1 - 1/e) = 38 expected


@pytest.mark.parametrize("penalty", ["weight_decay", "lasso"])
def test_penalties_act_on_a_logistic_regression(penalty: str) -> None:
    def norm(strength: float) -> float:
        model = LogisticRegression(3)
        options = {"optimizer": "sgd", "learning_rate": 0.05, "epochs": 5, "batch_size": 16}
        fit(model, (X, Y), task=losses.logistic, **options, **{penalty: strength})
        return model.weight.norm().item()

    assert norm(10.0) < 0.2 * norm(0.0)


def test_the_model_is_left_in_evaluation_mode() -> None:
    model = network().train()
    fit(model, (X, Y), epochs=1)
    assert not any(part.training for part in model.modules())
    steps = iterate(model.train(), (X, Y), epochs=2)
    next(steps)
    steps.close()
    assert not any(part.training for part in model.modules())


def test_fit_runs_to_the_end_and_returns_the_history() -> None:
    model = network()
    history = fit(model, (X, Y), (X, Y), epochs=3)
    assert isinstance(history, History)
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert history.stopped == "all epochs done"
    assert not torch.equal(weights(model), weights(network()))


def test_iterate_checks_its_input_before_the_first_step() -> None:
    with pytest.raises(InputError, match="label 2, but the model has 2 outputs"):
        iterate(network(), (X, Y + 1))
    with pytest.raises(
        InputError, match="no setting named 'learning_rat'; did you mean learning_rate"
    ):
        iterate(network(), (X, Y), learning_rat=0.1)
    with pytest.raises(InputError, match="got ndarray, ndarray"):
        iterate(network(), (X.numpy(), Y.numpy()))
    with pytest.raises(InputError, match="a DataLoader, got str"):
        iterate(network(), "data.csv")


def test_a_folder_may_be_a_string(tmp_path: Path) -> None:
    fit(network(), (X, Y), epochs=1, folder=str(tmp_path / "run"))
    assert (tmp_path / "run" / "last.safetensors").exists()


def test_a_tensor_data_set_is_trained_like_its_tensors() -> None:
    assert torch.equal(fitted(TensorDataset(X, Y)), fitted((X, Y)))


def test_a_data_set_is_trained_like_its_rows() -> None:
    assert torch.equal(fitted(Numbers()), fitted((X, Y)))
    assert evaluate(network(), Numbers()) == evaluate(network(), (X, Y))


def test_a_data_loader_decides_the_batches() -> None:
    by_hand = network()
    adam = torch.optim.Adam(by_hand.parameters(), 1e-3, fused=True)
    for _ in range(2):
        for rows in torch.arange(60).split(16):
            adam.zero_grad()
            losses.cross_entropy(by_hand(X[rows]), Y[rows]).mean().backward()
            adam.step()
    model = network()
    fit(model, DataLoader(Numbers(), 16), DataLoader(Numbers(), 7), epochs=2)
    assert torch.equal(weights(model), weights(by_hand))
    with pytest.raises(InputError, match="`batch_size` cannot be used here: the DataLoader"):
        iterate(network(), DataLoader(Numbers(), 16), batch_size=8)


def test_a_loader_of_real_targets_is_measured_like_its_rows() -> None:
    loader = DataLoader(TensorDataset(X, TARGET), 7)
    assert evaluate(network(1), loader) == pytest.approx(evaluate(network(1), (X, TARGET)))


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.layer(torch.cat([a, b], 1))


@pytest.mark.parametrize(
    "both",
    [
        ((X[:, :1], X[:, 1:]), Y),
        (X[:, :1], X[:, 1:], Y),
        TensorDataset(X[:, :1], X[:, 1:], Y),
        DataLoader(TensorDataset(X[:, :1], X[:, 1:], Y), 16),
    ],
)
def test_a_model_may_take_two_inputs(both: object) -> None:
    model = TwoInputs()
    history = fit(model, both, both, epochs=20, learning_rate=0.05)
    assert history[-1]["validation_error"] < 0.1
    assert predict(model, X[:, :1], X[:, 1:]).shape == (60, 2)


def test_a_loss_of_ones_own_gives_a_value_per_example_or_one_for_the_batch() -> None:
    def each(output: Tensor, y: Tensor) -> Tensor:
        return (output - y).square().mean(1)

    options = {"outputs": 1, "batch_size": 15}
    reduced = fitted((X, TARGET[:, None]), task=nn.functional.mse_loss, **options)
    torch.testing.assert_close(fitted((X, TARGET[:, None]), task=each, **options), reduced)
    assert not torch.equal(reduced, weights(network(1)))


def test_a_task_of_ones_own_takes_three_lines() -> None:
    def absolute(output: Tensor, y: Tensor) -> Tensor:
        return (output - y).abs().mean(1)

    task = Task("absolute error", absolute, (MAE,), target=column)
    history = fit(network(1), (X, TARGET), (X, TARGET), task=task, epochs=30, learning_rate=0.02)
    assert history[-1]["validation_mae"] == pytest.approx(history[-1]["validation_loss"])
    assert history[-1]["validation_mae"] < 0.5 * history[0]["validation_mae"]


def test_memory_mapped_rows_are_trained_like_rows_in_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.numpy())
    mapped = data.memory_mapped(tmp_path / "x.npy")
    assert torch.equal(fitted(MemoryMappedRows((mapped, Y))), fitted((X, Y)))
    bad = X.clone()
    bad[30:] = torch.nan
    with pytest.raises(InputError, match="NaN or infinite"):
        fit(network(), MemoryMappedRows((bad, Y)))


def test_a_bad_row_far_down_a_memory_mapped_array_ends_the_run() -> None:
    x = torch.zeros(1100, 3)
    x[-1] = torch.nan
    with pytest.raises(DivergenceError, match="training loss became nan in epoch 1"):
        fit(network(), MemoryMappedRows((x, torch.zeros(1100).long())), epochs=1)


def test_errors_of_the_engine_never_speak_of_command_line_flags() -> None:
    import ast

    import chainrule.training

    folder = Path(chainrule.training.__file__).parent
    texts = [
        (path.name, node.value)
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert len(texts) > 200
    assert not [(name, text) for name, text in texts if "--" in text]


def test_every_step_is_reported_on_request() -> None:
    reports = list(iterate(network(), (X, Y), epochs=2, batch_size=20, tick=0.0))
    assert [(now.epoch, now.step) for now in reports if now.record is None] == [
        (epoch, step) for epoch in (1, 2) for step in (1, 2, 3)
    ]
