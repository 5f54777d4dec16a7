"""Which trick helped: variants that differ in one trick only, measured on rows of their own."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from chainrule.data.datasets import spam
from chainrule.data.readers.tables.column_encodings import NumericColumn
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.recipes.families import ablation as tricks
from chainrule.recipes.tricks.spam_tuned import OFF, Recipe
from chainrule.runs.configuration import Configuration
from chainrule.training.batched.run import k_folds

TINY = Recipe.configured(
    hidden=(3,), epochs=1, batch_size=64, table_folds=2, repeats=2, members=2, tricks=("dropout",)
)


@pytest.fixture(scope="module")
def data(big_data: Path) -> Splits:
    """200 e-mails of each split."""
    whole = spam.load(big_data, 0)
    parts = {
        name: Split(*(t[:200] for t in getattr(whole, name)))
        for name in ("train", "validation", "test")
    }
    return replace(whole, **parts)


def raw_train(data: Splits) -> torch.Tensor:
    return tricks.prepared(data, "none", "none").train.x


def differences(a: Recipe, b: Recipe) -> dict[str, object]:
    ours, theirs = (Configuration(recipe).values() for recipe in (a, b))
    return {name: value for name, value in ours.items() if value != theirs[name]}


def test_every_variant_differs_by_one_trick_from_all_or_from_none() -> None:
    full = Recipe()
    variants = dict(full.variants())
    assert len(variants) == 2 + 2 * len(OFF)
    assert variants["all tricks"] == full
    bare = variants["no trick"]
    for trick, off in OFF.items():
        assert differences(variants[f"all but {trick}"], full) == off
        assert set(differences(variants[f"only {trick}"], bare)) == set(off)
        assert not set(off.items()) & set(differences(full, bare).items()), "not off in bare"


def test_undone_inputs_lead_back_to_the_same_numbers(data: Splits) -> None:
    assert isinstance(data.encoder, TableEncoder)
    columns = [c for c in data.encoder.columns if isinstance(c, NumericColumn)]
    mean, std, log = (
        torch.tensor([getattr(c, name) for c in columns]).double()
        for name in ("mean", "std", "log")
    )
    raw = tricks.prepared(data, "none", "none").test.x.double()
    assert raw.min() > -1e-4  # frequencies and lengths
    again = ((raw / log).log1p() - mean) / std
    torch.testing.assert_close(again, data.test.x.double(), atol=1e-4, rtol=1e-4)
    scaled = tricks.prepared(data, "none", "standard").train.x
    torch.testing.assert_close(scaled.mean(0), torch.zeros(57), atol=1e-4, rtol=0)
    varied = raw_train(data).std(0) > 1e-6
    assert 40 < varied.sum() < 57  # some words are in none of so few e-mails
    torch.testing.assert_close(scaled.std(0)[varied], torch.ones(57)[varied], atol=1e-3, rtol=0)
    assert scaled[:, ~varied].abs().max() < 1e-4
    assert tricks.prepared(data, "log", "standard") is data


def test_rows_for_early_stopping_are_neither_learned_from_nor_held_out() -> None:
    for learned, held in k_folds(200, 5, seed=0):
        rows, aside = tricks.stop_early(learned, held, seed=0)
        assert len(aside) == 12
        assert sorted(torch.cat([rows, aside]).tolist()) == sorted(learned.tolist())
        assert not set(aside.tolist()) & set(held.tolist())


def test_the_table_has_an_error_and_its_uncertainty_in_every_row(
    data: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tricks, "RATES", {"sgd": (0.1,)})
    monkeypatch.setattr(tricks, "ADAPTIVE", (0.01,))
    found = TINY.baselines(data)
    assert list(found) == ["all tricks", "all but dropout", "no trick", "only dropout"]
    for row in found.values():
        for split in ("validation", "test"):
            assert 0 < row[split]["error"] < 1
            assert row[split]["standard error"] >= 0
    poisoned = replace(data, test=Split(torch.zeros_like(data.test.x), 1 - data.test.y))
    again = tricks.worth(TINY, poisoned)
    assert again["validation"] == found["all tricks"]["validation"]
    assert again["test"] != found["all tricks"]["test"]


def test_the_rate_is_the_best_by_cross_validation(
    data: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tricks, "ADAPTIVE", (1e-9, 0.02))
    tested = []
    monkeypatch.setattr(tricks, "tested", lambda variant, _: tested.append(variant) or [0.1, 0.3])
    found = tricks.worth(TINY.changed(epochs=4), data)
    assert [variant.settings.learning_rate for variant in tested] == [0.02]
    assert found["test"] == pytest.approx({"error": 0.2, "standard error": 0.1})


def test_unknown_tricks_single_folds_and_no_repeats_are_refused() -> None:
    with pytest.raises(InputError, match="dropout"):
        Recipe(tricks=("dropuot",))
    with pytest.raises(InputError, match="`repeats` must be at least 1, got 0"):
        Recipe(repeats=0)
    with pytest.raises(InputError, match="`table_folds` must be at least 2, got 1"):
        Recipe(table_folds=1)
