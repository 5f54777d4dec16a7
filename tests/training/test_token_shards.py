"""Tokens on the disk and in shards give the batches and losses of tokens in memory."""

from pathlib import Path

import numpy as np
import pytest
import torch

import chainrule as cr
from chainrule.errors import InputError
from chainrule.learning.tasks import LANGUAGE_MODELING
from chainrule.models.attention.gpt import GPT
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.training import Settings, fit, iterate
from chainrule.training.sources import RandomWindows, TokenShards, TruncatedBPTT
from chainrule.training.sources import random_windows as module

CPU = torch.device("cpu")


def gpt() -> GPT:
    torch.manual_seed(0)
    return GPT(10, 8, 8, 1, 2)


def tokens(number: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(10, (number,), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.int32])
def test_small_types_give_the_same_batches_and_losses(dtype: torch.dtype) -> None:
    t = tokens(300)
    torch.manual_seed(0)
    recurrent = LanguageModel(10, "gru", 8, 1, 8)
    for kind, model in ((RandomWindows, gpt()), (TruncatedBPTT, recurrent)):
        whole, small = kind((t[:-1], t[1:]), 8), kind((t[:-1].to(dtype), t[1:].to(dtype)), 8)
        ready = [s.prepared(LANGUAGE_MODELING, CPU, True) for s in (whole, small)]
        assert ready[1].text[0].dtype == dtype  # not a copy eight times as large
        found = []
        for source in ready:
            torch.manual_seed(1)
            batch = source.epoch(Settings(batch_size=4), 0)(0)
            found.append(torch.cat([batch.inputs[0], batch.targets[0]]))
        assert torch.equal(*found)
        losses = [s.evaluate(model, LANGUAGE_MODELING)["loss"] for s in ready]
        assert losses[0] == losses[1]


def test_windows_stay_within_shards_and_reach_every_place() -> None:
    shards = [torch.arange(10, 30, dtype=torch.uint8), torch.arange(100, 112, dtype=torch.uint8)]
    source = TokenShards(shards, context_length=4)
    batch = source.epoch(Settings(batch_size=2000), 0)(0)
    x, y = batch.inputs[0], batch.targets[0]
    assert torch.equal(y, x + 1)
    assert sorted(x[:, 0].unique().tolist()) == [*range(10, 26), *range(100, 108)]
    firsts = torch.bincount(x[:, 0], minlength=256)
    assert firsts[firsts > 0].min() > 40  # about 83 each


def test_a_model_learns_from_mapped_shards_and_resumes(tmp_path: Path) -> None:
    for k in range(2):
        np.save(tmp_path / f"{k}.npy", tokens(200, k).numpy().astype(np.uint16))
    shards = [cr.data.memory_mapped(tmp_path / f"{k}.npy") for k in range(2)]
    source = TokenShards(shards, context_length=8, epoch_steps=6)
    straight, broken, chosen = gpt(), gpt(), Settings(epochs=2, batch_size=4)
    fit(straight, source, source, settings=chosen)
    steps = iterate(broken, source, source, settings=chosen, folder=tmp_path / "run", tick=0.0)
    for number, _ in enumerate(steps, 1):
        if number == 8:
            steps.close()
    fit(broken, source, source, settings=chosen, folder=tmp_path / "run")
    for a, b in zip(straight.parameters(), broken.parameters(), strict=True):
        assert torch.equal(a, b)


def test_the_loss_of_shards_is_that_of_their_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    model, shards = gpt(), [tokens(41), tokens(25, 1)]
    both = TokenShards(shards, 8).evaluate(model, LANGUAGE_MODELING)["loss"]
    alone = [
        RandomWindows((s[:-1], s[1:]), 8).evaluate(model, LANGUAGE_MODELING)["loss"] for s in shards
    ]
    assert both == pytest.approx((5 * alone[0] + 3 * alone[1]) / 8)
    monkeypatch.setattr(module, "EVALUATED", 16)  # every third of five windows
    source = RandomWindows((shards[0][:-1], shards[0][1:]), 8)
    chosen = torch.cat([shards[0][0:9], shards[0][24:33]]).view(2, 9)
    loss = torch.nn.functional.cross_entropy(
        model(chosen[:, :-1]).flatten(0, 1), chosen[:, 1:].flatten()
    )
    found = source.evaluate(model, LANGUAGE_MODELING)["loss"]
    assert found == pytest.approx(loss.item(), abs=1e-6)


def test_bad_shards_are_refused() -> None:
    with pytest.raises(InputError, match="one tensor of tokens or more"):
        TokenShards([])
    with pytest.raises(InputError, match="has 4 tokens; expected at least 8"):
        fit(gpt(), TokenShards([tokens(40), tokens(5)], 8), epochs=1)
