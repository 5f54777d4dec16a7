"""Truncated backpropagation through time: what a step is, what is carried, what a kill leaves."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.training import Progress, Settings, checkpoint, evaluate, iterate
from chainrule.training.sources import TruncatedBPTT

VOCAB_SIZE = 5


def text(length: int = 400, seed: int = 0) -> tuple[Tensor, Tensor]:
    """A cycle of tokens with some noise: easy to guess, not quite."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(length + 1, generator=generator) < 0.1
    tokens = (torch.arange(length + 1) + noise) % VOCAB_SIZE
    return tokens[:-1], tokens[1:]


def model(cell: str = "gru", seed: int = 0, dropout: float = 0.0) -> LanguageModel:
    torch.manual_seed(seed)
    return LanguageModel(VOCAB_SIZE, cell, 6, num_layers=2, embedding_dim=3, dropout=dropout)


def weights(network: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def streamed(
    network: nn.Module,
    train: tuple[Tensor, ...],
    validation: tuple[Tensor, ...] | None,
    settings: Settings,
    chunk_length: int,
    folder: Path | None = None,
) -> Generator[Progress]:
    held = validation and TruncatedBPTT(validation, chunk_length)
    data = TruncatedBPTT(train, chunk_length)
    return iterate(network, data, held, settings=settings, folder=folder)


def loss_of(network: nn.Module, whole: tuple[Tensor, Tensor]) -> float:
    return evaluate(network, TruncatedBPTT(whole))["loss"]


def run(steps: Iterator) -> list[dict[str, int | float]]:
    return [progress.record for progress in steps if progress.record]


def test_a_chunk_as_long_as_the_text_is_full_backpropagation_through_time() -> None:
    x, y = text(60)
    ours, plain = model(), model()
    settings = Settings(epochs=3, batch_size=1, optimizer="sgd", learning_rate=0.1)
    run(streamed(ours, (x, y), None, settings, chunk_length=60))
    for _ in range(3):
        plain.zero_grad()
        F.cross_entropy(plain(x[None])[0], y).backward()
        with torch.no_grad():
            for p in plain.parameters():
                p -= 0.1 * p.grad
    torch.testing.assert_close(weights(ours), weights(plain))


def test_the_state_is_carried_and_the_gradient_is_not() -> None:
    x, y = text(40)
    ours, plain = model(), model()
    settings = Settings(epochs=1, batch_size=2, optimizer="sgd", learning_rate=0.1)
    run(streamed(ours, (x, y), None, settings, chunk_length=5))
    carried = None
    for part in zip(x.view(2, 20).split(5, 1), y.view(2, 20).split(5, 1), strict=True):
        plain.zero_grad()
        logits, after = plain.decode_step(part[0], carried)
        F.cross_entropy(logits.flatten(0, 1), part[1].flatten()).backward()
        carried = tuple(tensor.detach() for tensor in after)
        with torch.no_grad():
            for p in plain.parameters():
                p -= 0.1 * p.grad
    torch.testing.assert_close(weights(ours), weights(plain))


def test_it_learns_and_reports_as_fit_does() -> None:
    network = model()
    settings = Settings(epochs=8, batch_size=4, learning_rate=0.02, clip_norm=1.0)
    history = run(streamed(network, text(), text(seed=1), settings, chunk_length=10))
    assert [record["epoch"] for record in history] == list(range(1, 9))
    assert history[-1]["validation_loss"] < 0.7 < 1.3 < history[0]["train_loss"]
    assert loss_of(network, text(seed=1)) == pytest.approx(history[-1]["validation_loss"])


@pytest.mark.parametrize("cell", ["lstm", "lru"])
@pytest.mark.parametrize("stop_after", [1, 4, 13, 20])
def test_a_run_stopped_anywhere_goes_on_to_the_identical_weights(
    stop_after: int, cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)  # report, and so stop, each step
    settings = Settings(
        epochs=3, batch_size=4, learning_rate=0.02, schedule="one-cycle", ema_decay=0.9
    )
    straight, broken, resumed = model(cell, 0, 0.2), model(cell, 0, 0.2), model(cell, 7, 0.2)
    history = run(streamed(straight, text(), text(seed=1), settings, 10))
    steps = streamed(broken, text(), text(seed=1), settings, 10, tmp_path)
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            steps.close()
    again = run(streamed(resumed, text(), text(seed=1), settings, 10, tmp_path))
    assert torch.equal(weights(straight), weights(resumed))
    for old, new in zip(history, again, strict=True):
        assert {k: v for k, v in old.items() if k != "seconds"} == {
            k: v for k, v in new.items() if k != "seconds"
        }


def test_without_the_carried_state_a_resumed_run_would_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chainrule.training.loop.TICK", 0.0)
    settings = Settings(epochs=1, batch_size=4, learning_rate=0.02)
    straight, broken, resumed = model(), model(), model(seed=7)
    run(streamed(straight, text(), None, settings, 10))
    steps = streamed(broken, text(), None, settings, 10, tmp_path)
    for _ in range(4):
        next(steps)
    steps.close()
    tensors, numbers = checkpoint.load(tmp_path / "last.safetensors")
    assert {name for name in tensors if name.startswith("carried.")} == {"carried.0", "carried.1"}
    forgetful = {k: v * 0 if k.startswith("carried.") else v for k, v in tensors.items()}
    checkpoint.save(tmp_path / "last.safetensors", forgetful, numbers)
    run(streamed(resumed, text(), None, settings, 10, tmp_path))
    assert not torch.equal(weights(straight), weights(resumed))


def test_what_is_left_over_is_skipped_at_an_offset_of_the_epochs_own() -> None:
    read: list[Tensor] = []

    class Watching(LanguageModel):
        def decode_step(
            self, tokens: Tensor, state: tuple[Tensor, ...] | None = None
        ) -> tuple[Tensor, tuple[Tensor, ...]]:
            read.append(tokens)
            return super().decode_step(tokens, state)

    torch.manual_seed(0)
    watching = Watching(100, "gru", 4, embedding_dim=2)
    tokens = torch.arange(96)
    settings = Settings(epochs=6, batch_size=3, learning_rate=1e-3)
    run(streamed(watching, (tokens, tokens), None, settings, chunk_length=10))
    starts = [int(part[0, 0]) for part in read[::3]]
    assert all(0 <= start <= 6 for start in starts) and len(set(starts)) > 1
    first = torch.cat(read[:3], 1)
    assert torch.equal(first.flatten(), tokens[starts[0] : starts[0] + 90])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_loss_of_a_text_does_not_depend_on_how_it_is_cut(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, whole = model("mingru", seed), text(800, seed)
    found = loss_of(network, whole)
    monkeypatch.setattr("chainrule.training.sources.truncated_bptt.CHUNK", 7)
    assert loss_of(network, whole) == pytest.approx(found, rel=1e-5)
    x, y = (t.view(16, 50) for t in whole)
    by_hand = F.cross_entropy(network(x).flatten(0, 1), y.flatten()).item()
    assert found == pytest.approx(by_hand, rel=1e-5)


def test_what_cannot_be_read_is_refused() -> None:
    x, y = text(50)

    def refused(
        match: str, train: tuple[Tensor, ...], settings: Settings, chunk_length: int = 5
    ) -> None:
        with pytest.raises(InputError, match=match):
            streamed(model(), train, None, settings, chunk_length)

    plain = Settings(batch_size=4)
    refused("has 50 tokens; expected at least 80", (x, y), plain, 20)
    refused("`chunk_length` must be at least 1, got 0", (x, y), plain, 0)
    refused("equally long", (x, y[1:]), plain)
    refused("got real ones", (x.float(), y), plain)
    refused("a text has no separate examples", (x, y), replace(plain, accumulate=2))
    refused("needs a validation split", (x, y), replace(plain, patience=2))


def test_a_checkpoint_of_another_chunk_length_is_refused(tmp_path: Path) -> None:
    settings = Settings(epochs=1, batch_size=4)
    run(streamed(model(), text(), None, settings, 10, tmp_path))
    with pytest.raises(InputError, match="it differs in chunk_length"):
        run(streamed(model(), text(), None, settings, 20, tmp_path))
