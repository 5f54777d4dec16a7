"""Random windows of a text: what a step is, what is measured, what a kill leaves."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.attention.gpt import GPT
from chainrule.training import Progress, Settings, evaluate, iterate
from chainrule.training.randomness import mix
from chainrule.training.sources import RandomWindows
from chainrule.training.sources import random_windows as sources
from chainrule.training.trainer import NetworkTrainer

VOCAB_SIZE, CONTEXT = 5, 6
PLAIN = Settings(epochs=2, batch_size=3, optimizer="sgd", learning_rate=0.1)


def text(length: int = 400, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A cycle of tokens with some noise: easy to guess, not quite."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(length + 1, generator=generator) < 0.1
    tokens = (torch.arange(length + 1) + noise) % VOCAB_SIZE
    return tokens[:-1], tokens[1:]


def model(seed: int = 0, dropout: float = 0.0) -> GPT:
    torch.manual_seed(seed)
    return GPT(VOCAB_SIZE, CONTEXT, hidden_size=8, num_layers=1, num_heads=2, dropout=dropout)


def weights(network: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def windowed(
    network: nn.Module,
    train: tuple[Tensor, ...],
    validation: tuple[Tensor, ...] | None,
    settings: Settings,
    folder: Path | None = None,
    epoch_steps: int = 4,
    context_length: int = CONTEXT,
) -> Generator[Progress]:
    held = validation and RandomWindows(validation, context_length)
    data = RandomWindows(train, context_length, epoch_steps)
    return iterate(network, data, held, settings=settings, folder=folder)


def loss_of(network: nn.Module, whole: tuple[Tensor, Tensor]) -> float:
    return evaluate(network, RandomWindows(whole, CONTEXT))["loss"]


def run(steps: Iterator) -> list[dict[str, int | float]]:
    return [progress.record for progress in steps if progress.record]


def test_a_step_is_a_descent_on_windows_at_random_positions() -> None:
    x, y = text(50)
    ours, plain = model(), model()
    history = run(windowed(ours, (x, y), None, PLAIN))
    losses = []
    for t in range(8):
        torch.manual_seed(mix(PLAIN.seed, t))
        starts = torch.randint(50 - CONTEXT + 1, (3, 1)).flatten().tolist()
        rows = [(x[s : s + CONTEXT], y[s : s + CONTEXT]) for s in starts]
        plain.zero_grad()
        loss = sum(F.cross_entropy(plain(a[None])[0], b) for a, b in rows) / 3
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            for p in plain.parameters():
                p -= 0.1 * p.grad
    torch.testing.assert_close(weights(ours), weights(plain))
    assert history[1]["train_loss"] == pytest.approx(sum(losses[4:]) / 4, rel=1e-5)


def test_windows_reach_both_ends_of_the_text() -> None:
    x, y = text(CONTEXT + 1)
    seen = set()

    class Watch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model()

        def forward(self, tokens: Tensor) -> Tensor:
            seen.update(tuple(row) for row in tokens.tolist())
            return self.inner(tokens)

    run(windowed(Watch(), (x, y), None, PLAIN))
    assert seen == {tuple(x[:CONTEXT].tolist()), tuple(x[1:].tolist())}


def test_the_rate_ends_with_its_final_fraction_and_adam_gets_its_beta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups = []
    step = NetworkTrainer.optimizer_step

    def watched(trainer: NetworkTrainer, loss: Tensor) -> None:
        groups.append(dict(trainer.state.optimizer.param_groups[0]))
        step(trainer, loss)

    monkeypatch.setattr(NetworkTrainer, "optimizer_step", watched)
    settings = replace(
        PLAIN,
        optimizer="adamw",
        learning_rate=0.01,
        schedule="cosine",
        epochs=25,
        final_rate=0.1,
        beta2=0.99,
    )
    run(windowed(model(), text(), None, settings))
    rates = [group["lr"] for group in groups]
    assert len(rates) == 100
    assert rates[0] == pytest.approx(0.01)
    assert rates[50] == pytest.approx(0.0055)
    assert 0.001 < rates[-1] < 0.00101
    assert {group["betas"] for group in groups} == {(0.9, 0.99)}


def test_it_learns_and_reports_as_fit_does() -> None:
    network = model()
    settings = Settings(
        epochs=4, batch_size=8, optimizer="adamw", learning_rate=0.02, schedule="warm-up-cosine",
        final_rate=0.1, beta2=0.99,
    )  # fmt: skip
    history = run(windowed(network, text(), text(seed=1), settings, epoch_steps=40))
    assert [record["epoch"] for record in history] == [1, 2, 3, 4]
    assert history[-1]["validation_loss"] < 0.7 < 0.8 < history[0]["train_loss"]
    found = loss_of(network, text(seed=1))
    assert found == pytest.approx(history[-1]["validation_loss"])


def test_a_text_is_measured_window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = text(4 * CONTEXT + 3)
    network = model(dropout=0.5).train()
    parts = [slice(k * CONTEXT, (k + 1) * CONTEXT) for k in range(4)]
    with torch.no_grad():
        network.eval()
        losses = [F.cross_entropy(network(x[None, p])[0], y[p]).item() for p in parts]
        network.train()
    monkeypatch.setattr(sources, "TOKENS", 3 * CONTEXT)
    assert loss_of(network, (x, y)) == pytest.approx(sum(losses) / 4, rel=1e-5)
    assert network.training


@pytest.mark.parametrize("stop_after", [1, 4, 7])
def test_a_run_stopped_anywhere_goes_on_to_the_identical_weights(
    stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)  # report, and so stop, each step
    settings = replace(
        PLAIN, optimizer="adamw", learning_rate=0.02, schedule="one-cycle", ema_decay=0.9
    )
    straight, broken, resumed = model(0, 0.2), model(0, 0.2), model(7, 0.2)
    history = run(windowed(straight, text(), text(seed=1), settings))
    steps = windowed(broken, text(), text(seed=1), settings, tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    again = run(windowed(resumed, text(), text(seed=1), settings, tmp_path))
    assert torch.equal(weights(straight), weights(resumed))
    assert [row["validation_loss"] for row in history] == [row["validation_loss"] for row in again]
    with pytest.raises(InputError, match="differs in context_length"):
        run(windowed(model(), text(), None, settings, tmp_path, context_length=5))


def test_patience_keeps_the_best_weights() -> None:
    network = model()
    settings = replace(PLAIN, learning_rate=2.0, epochs=8, patience=2)
    history = run(windowed(network, text(30), text(seed=1), settings))
    best = min(record["validation_loss"] for record in history)
    assert loss_of(network, text(seed=1)) == pytest.approx(best)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"context_length": 1}, "`context_length` must be at least 2"),
        ({"epoch_steps": 0}, "`epoch_steps` must be at least 1"),
        ({"final_rate": 1.5}, "`final_rate` must be at most 1"),
        ({"beta2": 1.0}, "`beta2` must be below 1"),
        ({"beta2": 0.99, "optimizer": "sgd"}, "`beta2` is for adam, adamw and lion"),
        ({"label_smoothing": 0.1}, "a text has no separate examples"),
    ],
)
def test_settings_that_cannot_work_are_refused(options: dict, words: str) -> None:
    own = {k: v for k, v in options.items() if k in ("context_length", "epoch_steps")}
    rest = {k: v for k, v in options.items() if k not in own}
    with pytest.raises(InputError, match=words):
        windowed(model(), text(), None, Settings(**rest), **own)


def test_texts_that_cannot_be_read_are_refused() -> None:
    x, y = text(5)
    with pytest.raises(InputError, match="training text has 5 tokens; expected at least 6"):
        run(windowed(model(), (x, y), None, PLAIN))
    with pytest.raises(InputError, match="validation text has 5 tokens"):
        run(windowed(model(), text(), (x, y), PLAIN))
    with pytest.raises(InputError, match=r"equally long, got \(5,\), \(4,\)"):
        run(windowed(model(), (x, y[1:]), None, PLAIN))
    with pytest.raises(InputError, match="expected whole numbers as tokens of the training text"):
        run(windowed(model(), (x.float(), y), None, PLAIN))
