"""Random passages of a text: what a step is, what is measured, what a kill leaves."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.attention.gpt import GPT
from chainrule.training import random_windows as passages
from chainrule.training.random_windows import PassageSettings, fit_passages, passage_loss
from chainrule.training.randomness import mix

SYMBOLS, CONTEXT = 5, 6
PLAIN = PassageSettings(
    context=CONTEXT, epoch_steps=4, epochs=2, batch_size=3, optimizer="sgd", learning_rate=0.1
)


def text(length: int = 400, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A cycle of symbols with some noise: easy to guess, not quite."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(length + 1, generator=generator) < 0.1
    tokens = (torch.arange(length + 1) + noise) % SYMBOLS
    return tokens[:-1], tokens[1:]


def model(seed: int = 0, dropout: float = 0.0) -> GPT:
    torch.manual_seed(seed)
    return GPT(SYMBOLS, CONTEXT, hidden_size=8, num_layers=1, num_heads=2, dropout=dropout)


def weights(network: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def run(steps: Iterator) -> list[dict[str, int | float]]:
    return [progress.record for progress in steps if progress.record]


def test_a_step_is_a_descent_on_passages_at_random_places() -> None:
    x, y = text(50)
    ours, plain = model(), model()
    history = run(fit_passages(ours, (x, y), None, PLAIN))
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


def test_passages_reach_both_ends_of_the_text() -> None:
    x, y = text(CONTEXT + 1)
    seen = set()

    class Watch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model()

        def forward(self, tokens: Tensor) -> Tensor:
            seen.update(tuple(row) for row in tokens.tolist())
            return self.inner(tokens)

    run(fit_passages(Watch(), (x, y), None, PLAIN))
    assert seen == {tuple(x[:CONTEXT].tolist()), tuple(x[1:].tolist())}


def test_the_rate_ends_with_its_last_share_and_adam_gets_its_beta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups = []
    descend = passages.descend

    def watched(state, job, value) -> None:  # type: ignore[no-untyped-def]
        groups.append(dict(state.optimizer.param_groups[0]))
        descend(state, job, value)

    monkeypatch.setattr(passages, "descend", watched)
    settings = replace(
        PLAIN, optimizer="adamw", learning_rate=0.01, schedule="cosine", epochs=25, last_rate=0.1
    )
    run(fit_passages(model(), text(), None, settings))
    rates = [group["lr"] for group in groups]
    assert len(rates) == 100
    assert rates[0] == pytest.approx(0.01)
    assert rates[50] == pytest.approx(0.0055)
    assert 0.001 < rates[-1] < 0.00101
    assert {group["betas"] for group in groups} == {(0.9, 0.99)}


def test_it_learns_and_reports_as_fit_does() -> None:
    network = model()
    settings = PassageSettings(
        context=CONTEXT, epoch_steps=40, epochs=4, batch_size=8, optimizer="adamw",
        learning_rate=0.02, schedule="warm-up-cosine",
    )  # fmt: skip
    history = run(fit_passages(network, text(), text(seed=1), settings))
    assert [record["epoch"] for record in history] == [1, 2, 3, 4]
    assert history[-1]["validation_loss"] < 0.7 < 0.8 < history[0]["train_loss"]
    found = passage_loss(network, text(seed=1), CONTEXT)
    assert found == pytest.approx(history[-1]["validation_loss"])


def test_a_text_is_measured_passage_by_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = text(4 * CONTEXT + 3)
    network = model(dropout=0.5).train()
    parts = [slice(k * CONTEXT, (k + 1) * CONTEXT) for k in range(4)]
    with torch.no_grad():
        network.eval()
        losses = [F.cross_entropy(network(x[None, p])[0], y[p]).item() for p in parts]
        network.train()
    monkeypatch.setattr(passages, "AT_ONCE", 3 * CONTEXT)
    assert passage_loss(network, (x, y), CONTEXT) == pytest.approx(sum(losses) / 4, rel=1e-5)
    assert network.training


@pytest.mark.parametrize("stop_after", [1, 4, 7])
def test_a_run_stopped_anywhere_goes_on_to_the_identical_weights(
    stop_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "TICK", 0.0)  # report, and so stop, each step
    settings = replace(
        PLAIN, optimizer="adamw", learning_rate=0.02, schedule="one-cycle", averaging=0.9
    )
    straight, broken, resumed = model(0, 0.2), model(0, 0.2), model(7, 0.2)
    history = run(fit_passages(straight, text(), text(seed=1), settings))
    steps = fit_passages(broken, text(), text(seed=1), settings, tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    again = run(fit_passages(resumed, text(), text(seed=1), settings, tmp_path))
    assert torch.equal(weights(straight), weights(resumed))
    assert [row["validation_loss"] for row in history] == [row["validation_loss"] for row in again]
    with pytest.raises(InputError, match="differs in context"):
        run(fit_passages(model(), text(), None, replace(settings, context=5), tmp_path))


def test_patience_keeps_the_best_weights() -> None:
    network = model()
    settings = replace(PLAIN, learning_rate=2.0, epochs=8, patience=2)
    history = run(fit_passages(network, text(30), text(seed=1), settings))
    best = min(record["validation_loss"] for record in history)
    assert passage_loss(network, text(seed=1), CONTEXT) == pytest.approx(best)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"context": 0}, "--context must be at least 2"),
        ({"epoch_steps": 0}, "--epoch-steps must be at least 1"),
        ({"last_rate": 1.5}, "--last-rate must be at most 1"),
        ({"beta_2": 1.0}, "--beta-2 below 1"),
        ({"label_smoothing": 0.1}, "a text has none"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        PassageSettings(**settings)


def test_texts_that_cannot_be_read_are_refused() -> None:
    x, y = text(5)
    with pytest.raises(InputError, match="training text has 5 tokens to read; expected at least 6"):
        run(fit_passages(model(), (x, y), None, PLAIN))
    with pytest.raises(InputError, match="validation text has 5 tokens"):
        run(fit_passages(model(), text(), (x, y), PLAIN))
    with pytest.raises(InputError, match=r"equally long, got \(5,\), \(4,\)"):
        run(fit_passages(model(), (x, y[1:]), None, PLAIN))
    with pytest.raises(InputError, match="expected whole numbers as tokens of the training text"):
        run(fit_passages(model(), (x.float(), y), None, PLAIN))
