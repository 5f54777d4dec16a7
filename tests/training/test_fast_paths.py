"""Runs on the fast paths of the engine: repeatable, resumable, and close to plain autograd."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from chainrule.models.feedforward import MLP
from chainrule.nn.kernels.float_products import onednn_is_faster
from chainrule.training import Settings, iterate, precision
from chainrule.training.trainer import NetworkTrainer

torch.manual_seed(0)
DATA = torch.randn(512, 300), torch.randint(5, (512,))
PATHS: list[dict[str, Any]] = [
    {},
    {"precision": "mixed"},
    {"accumulate": 2, "clip_norm": 1.0, "class_weights": "balanced", "ema_decay": 0.9},
]


def trained(folder: Path | None = None, stop: int | None = None, **changes: Any) -> nn.Module:
    """A network whose products are large, trained for two epochs, or stopped at a report."""
    torch.manual_seed(1)
    model = MLP(300, [256], 5, dropout=0.1)
    settings = Settings(epochs=2, batch_size=128, threads=1, **changes)
    steps = iterate(model, DATA, settings=settings, folder=folder, device="cpu", tick=0.0)
    for number, _ in enumerate(steps):
        if number == stop:
            steps.close()
            break
    return model


def equal(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("changes", PATHS, ids=str)
def test_the_same_seed_gives_the_same_bits_also_when_resumed(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    whole = trained(**changes)
    assert equal(whole, trained(**changes))
    trained(tmp_path, stop=2, **changes)
    assert equal(whole, trained(tmp_path, **changes))


@pytest.mark.skipif(not onednn_is_faster(), reason="MKL is kept on this machine")
def test_large_products_go_to_onednn_and_change_rounding_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fast = trained()
    monkeypatch.setattr("chainrule.training.trainer.worth_onednn", lambda *_: False)
    plain = trained()
    assert not equal(fast, plain)
    for a, b in zip(fast.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4)


def test_torch_is_left_as_it_was_found() -> None:
    before = torch.get_float32_matmul_precision()
    trained(stop=1)
    assert torch.get_float32_matmul_precision() == before


def test_the_trainer_counts_the_tokens_of_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(
        "chainrule.training.trainer.worth_onednn", lambda _, rows: seen.append(rows)
    )
    tokens = torch.randint(7, (32, 16))
    model = nn.Sequential(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(64, 5))
    next(iterate(model, (tokens, DATA[1][:32]), epochs=1, batch_size=8, device="cpu"))
    assert seen == [8 * 16]
    assert NetworkTrainer.large_products is False


def test_auto_is_mixed_where_bfloat16_gains_and_full_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu, wide = torch.device("cpu"), nn.Sequential(nn.Linear(1000, 1000), nn.GELU())
    monkeypatch.setattr(precision, "has_bfloat16", lambda: True)
    assert precision.chosen_precision("auto", wide, 128, cpu) == "mixed"
    assert precision.chosen_precision("auto", wide, 1, cpu) == "full"
    assert precision.chosen_precision("auto", nn.LSTM(500, 500), 10**6, cpu) == "full"
    assert precision.chosen_precision("mixed", wide, 1, cpu) == "mixed"
    monkeypatch.setattr(precision, "has_bfloat16", lambda: False)
    assert precision.chosen_precision("auto", wide, 128, cpu) == "full"


def test_a_resumed_run_keeps_the_precision_that_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for chosen in ("mixed", "full"):
        folder = tmp_path / chosen
        monkeypatch.setattr(
            "chainrule.training.trainer.chosen_precision", lambda *_, found=chosen: found
        )
        whole = trained(precision="auto")
        assert equal(whole, trained(precision=chosen))
        trained(folder, stop=2, precision="auto")
        monkeypatch.setattr("chainrule.training.trainer.chosen_precision", lambda *_: "other")
        assert equal(whole, trained(folder, precision="auto"))
