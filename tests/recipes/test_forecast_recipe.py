"""Forecasts of a user's series: the baselines by hand, and the way from file to answer."""

import csv
import math
from datetime import date, timedelta
from pathlib import Path

import pytest
import torch

import chainrule as cr
from chainrule.cli.main import main
from chainrule.learning.losses import pinball
from chainrule.recipes.families.series import (
    autoregression,
    baseline_metrics,
    in_units,
    iterated,
    observed_pinball,
    seasonal_naive,
)

WEEK = [4, 7, 1, 0, 3, 9, 12]


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Two shops with one week over and over, one day of which is missing."""
    rows = [
        (date(2024, 1, 1) + timedelta(k), shop, scale * WEEK[k % 7])
        for shop, scale in (("north", 1), ("south", 100))
        for k in range(140)
        if k != 40
    ]
    with (tmp_path / "sales.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("day", "shop", "units"), *rows])
    return tmp_path / "sales.csv"


def test_the_pinball_loss_is_least_at_the_quantile() -> None:
    y = torch.arange(101.0)
    tried = torch.arange(101.0)
    for tau in (0.1, 0.5, 0.9):
        losses = [pinball(t.expand(101, 1), y, (tau,)).mean() for t in tried]
        assert int(torch.stack(losses).argmin()) == round(100 * tau)


def test_steps_without_a_true_value_have_no_loss() -> None:
    y = torch.tensor([[[1.0, 1.0], [50.0, 0.0]]])
    output = torch.zeros(1, 2, 3)
    assert observed_pinball(output, y).item() == pytest.approx((0.1 + 0.5 + 0.9) / 3)
    found = in_units(output, y, torch.tensor([[10.0, 2.0]]))
    assert found["mae"] == pytest.approx(2.0)


def test_the_baselines_continue_a_season_and_a_recurrence() -> None:
    x = torch.tensor([[9.0, 9.0, 1.0, 2.0, 3.0]])[:, :, None]
    assert seasonal_naive(x, 3, 5).tolist() == [[1.0, 2.0, 3.0, 1.0, 2.0]]
    v = [1.0, 0.5]
    for _ in range(30):
        v.append(0.2 + 0.9 * v[-1] - 0.5 * v[-2])
    series = torch.tensor(v)
    windows = series.unfold(0, 5, 1)
    future = torch.stack([windows[:, 2:], torch.ones_like(windows[:, 2:])], 2)
    weights = autoregression(windows[:, :2, None], future)
    torch.testing.assert_close(weights, torch.tensor([0.2, -0.5, 0.9]).double(), atol=1e-4, rtol=0)
    found = iterated(windows[:, :2, None], weights, 3)
    torch.testing.assert_close(found, windows[:, 2:], atol=1e-4, rtol=0)


def test_a_season_without_noise_is_repeated_without_error(sales: Path) -> None:
    data = cr.data.series(sales, "day", "units", 7, "shop")
    found = baseline_metrics(data)["seasonal naive (7)"]["test"]
    assert found["mae"] < 1e-4
    assert found["r2"] == pytest.approx(1)


@pytest.mark.parametrize("model", ["rnn", "gru", "lru", "transformer"])
def test_from_a_file_to_the_next_steps_of_each_series(
    model: str, sales: Path, tmp_path: Path
) -> None:
    run, out = tmp_path / "run", tmp_path / "next.csv"
    command = ["train", "forecast", "--table", str(sales), "--time", "day", "--target", "units"]
    flags = ["--group", "shop", "--horizon", "4", "--epochs", "1", "--hidden-size", "4"]
    flags += ["--model", model, "--quiet", "--no-pictures", "--out", str(run)]
    assert main([*command, *flags]) == 0
    assert main(["predict", str(run), str(sales), "--out", str(out)]) == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["shop"] for row in rows] == ["north"] * 4 + ["south"] * 4
    assert [row["day"] for row in rows[:2]] == ["2024-05-20", "2024-05-21"]
    for row in rows:
        low, middle, high = (float(row[k]) for k in ("quantile 0.1", "prediction", "quantile 0.9"))
        assert low <= middle <= high and math.isfinite(low)


def test_a_finished_run_forecasts_columns_from_python(sales: Path, tmp_path: Path) -> None:
    run = cr.train(
        "forecast",
        table=str(sales),
        time="day",
        target="units",
        group="shop",
        horizon=3,
        epochs=1,
        hidden_size=4,
        out=tmp_path / "run",
        pictures=False,
    )
    days = [f"2025-01-{k:02}" for k in range(1, 31)]
    answers = run.predict({"day": days, "shop": ["new"] * 30, "units": list(range(30))})
    assert [answer["day"] for answer in answers] == ["2025-01-31", "2025-02-01", "2025-02-02"]
    assert {"seasonal naive (7)", "AR(14)"} < set(run.result["compared"])
