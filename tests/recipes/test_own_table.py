"""A user's table from file to report: dates, words, importance and effects."""

import csv
import json

import numpy as np
import pytest
import torch

import chainrule as cr
from chainrule.data.readers.tables.column_encodings import NumericColumn
from chainrule.runs.column_effects import grid

ROWS = 240


@pytest.fixture(scope="module")
def sales(tmp_path_factory) -> str:
    """A class that follows the weekday and one of 60 shops, with decimal commas and gaps."""
    draw = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("own") / "sales.csv"
    days = np.datetime64("2024-01-01") + draw.integers(0, 400, ROWS)
    shops, noise = draw.integers(0, 60, ROWS), draw.normal(size=ROWS)
    weekend = (days.astype(int) + 3) % 7 >= 5
    label = np.where(weekend * 2.0 + (shops % 2) + 0.1 * noise > 0.5, "yes", "no")
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["order_id", "day", "shop", "noise", "buys", "spent"])
        for k in range(ROWS):
            number = "-" if k % 17 == 0 else f"{noise[k]:.3f}".replace(".", ",")
            spent = f"{12_000 * (shops[k] % 2) + 30_000:.2f}".replace(".", ",")
            writer.writerow([f"A{7 * k}", days[k], f"shop {shops[k]}", number, label[k], spent])
    return str(path)


@pytest.mark.parametrize("categories", ["auto", "embedding"])
def test_a_run_on_classes_reports_and_explains(sales, tmp_path, categories):
    settings = {"table": sales, "target": "buys", "ignore": ("spent",), "epochs": 30}
    run = cr.train("mlp", out=tmp_path / "run", categories=categories, threshold="f1", **settings)
    test = run.result["metrics"]["test"]
    names = {"precision", "recall", "f1", "average_precision", "calibration error"}
    assert names <= set(test)
    ranked = [line.split()[0] for line in (run.folder / "importance.txt").read_text().splitlines()]
    assert set(ranked[1:]) == {"day", "shop", "noise"} and ranked[-1] == "noise"
    assert "F1" in (run.folder / "report.txt").read_text()
    for name in ("importance", "effects", "calibration"):
        assert (run.folder / f"{name}.png").stat().st_size > 5000
    row = {"day": ["2024-06-01"], "shop": ["shop 1"], "noise": ["0,5"]}
    (answer,) = run.predict(row)
    assert answer["prediction"] == "yes"
    assert run.evaluate()["test"] == test


def test_a_run_on_numbers_explains_in_their_units(sales, tmp_path):
    settings = {"table": sales, "target": "spent", "ignore": ("buys",), "epochs": 20}
    run = cr.train("mlp", out=tmp_path / "run", target_type="regression", **settings)
    lines = (run.folder / "importance.txt").read_text().splitlines()
    assert "rmse" in lines[0] and lines[1].startswith("shop")
    assert json.loads((run.folder / "result.json").read_text())["decision"]["radius"] > 0


def test_an_ensemble_learns_vectors_of_words(sales, tmp_path):
    settings = {"table": sales, "target": "buys", "ignore": ("spent",), "epochs": 2}
    run = cr.train("mlp", out=tmp_path / "run", categories="embedding", members=2, **settings)
    assert len(run.model.members) == 2
    assert torch.isfinite(torch.tensor(run.result["metrics"]["test"]["loss"]))


def test_the_values_of_an_effect_are_those_of_the_column():
    column = NumericColumn("x", mean=10.0, std=2.0, median=10.0, missing=True)
    block = np.stack([np.linspace(-1, 1, 50), np.zeros(50)], 1)
    values, rows = grid(column, block)
    np.testing.assert_allclose(values, 10 + 2 * rows[:, 0], rtol=1e-6)
    assert rows[:, 1].sum() == 0 and 8 < values.min() < values.max() < 12
