"""Time series: dates, grids, windows and gaps, by hand."""

import json
from datetime import date, timedelta

import numpy as np
import pytest
import torch

from chainrule.data import encoder_from_json, series
from chainrule.data.readers.series.series import SeriesOptions
from chainrule.data.readers.series.times import TimeGrid, given_grid, infer_grid, parse_times
from chainrule.errors import InputError


def days(number: int, start: date = date(2024, 1, 1)) -> list[str]:
    return [str(start + timedelta(k)) for k in range(number)]


def ramp(number: int = 60) -> dict[str, list[str]]:
    """One value per day, which is the number of the day."""
    return {"date": days(number), "y": [str(k) for k in range(number)]}


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-03-01", "2024-03-31"],
        ["2024/3/1", "2024/3/31"],
        ["1.3.2024", "31.3.2024"],
        ["01/03/2024", "31/03/2024"],
        ["03/01/2024", "03/31/2024"],
        ["20240301", "20240331"],
        ["2024-03-01 00:00", "2024-03-31T00:00:00Z"],
    ],
)
def test_dates_in_every_spelling_are_the_same_days(cells: list[str]) -> None:
    times, dates = parse_times("t", cells)
    assert dates
    assert times.astype("datetime64[s]").astype("datetime64[D]").astype(str).tolist() == [
        "2024-03-01",
        "2024-03-31",
    ]


@pytest.mark.parametrize(
    ("cells", "grid", "following"),
    [
        (days(5), "steps of 1 day", "2024-01-06"),
        (["2024-01-01 00:00", "2024-01-01 01:00", "2024-01-01 03:00"], "steps of 1 hour", "04:00"),
        (
            ["2023-01-31", "2023-02-28", "2023-03-31", "2023-05-31"],
            "steps of 1 month",
            "2023-06-30",
        ),
        (["2023-01", "2023-04", "2023-07"], "steps of 1 quarter", "2023-10-01"),
        (["2020-01-01", "2021-01-01", "2022-01-01"], "steps of 1 year", "2023-01-01"),
        ([d for d in days(40) if date.fromisoformat(d).weekday() < 5], "weekdays", "2024-02-12"),
        (["3", "5", "9"], "steps of 2", "11"),
    ],
)
def test_the_step_is_inferred_and_the_next_one_follows(
    cells: list[str], grid: str, following: str
) -> None:
    times, dates = parse_times("t", cells)
    found = infer_grid("t", times, dates)
    assert str(found) == grid
    last = found.index(times)[-1:]
    assert found.names(last + 1)[0].endswith(following)
    assert (found.times(found.index(times)) == times).all()
    assert TimeGrid.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_a_given_step_takes_in_what_falls_into_it() -> None:
    times, dates = parse_times("t", ["2024-01-03 10:07", "2024-01-03 10:21", "2024-01-04 00:00"])
    assert given_grid("15 minutes", times, dates).index(times).tolist() == [0, 1, 56]
    week = given_grid("week", times, dates)
    assert week.index(times).tolist() == [0, 0, 0]
    assert week.names(np.array([0])) == ["2024-01-01"]  # a Monday


def test_times_without_a_regular_step_are_refused_with_what_to_write() -> None:
    clock = [f"2024-01-01 {k:02}:{7 * k % 60:02}:{11 * k % 60:02}" for k in range(20)]
    with pytest.raises(InputError, match=r"no regular step.*set `step`, such as 'hour'"):
        series({"t": clock, "y": ["1"] * 20}, "t", "y", 2)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["01/02/2024", "03/04/2024"], "write dates as YYYY-MM-DD"),
        (["2024-02-30", "2024-03-01"], "'2024-02-30' is not a date"),
        (["2024-01-01", "soon"], "row 2 below the header: expected a date like"),
        (["2024-01-01", ""], "row 2 below the header: expected a time, got nothing"),
        (["2024-01-01 25:00", "2024-01-02"], "is not a time of day"),
        (["1.5", "2.5"], "expected dates or whole numbers"),
    ],
)
def test_doubtful_times_are_refused(cells: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_times("t", cells)


def test_windows_hold_the_past_and_the_future_that_follows_it() -> None:
    data = series(ramp(), "date", "y", horizon=3, context=7)
    encoder = data.encoder
    mean, std = encoder.scales[""]
    assert mean == pytest.approx(np.arange(36).mean())  # 60 days without two fifths
    for name, first, last in (("train", 7, 33), ("validation", 36, 45), ("test", 48, 57)):
        x, y = getattr(data, name)
        origin = data.origins[name][:, 1]
        assert (int(origin[0]), int(origin[-1])) == (first, last)
        past, future = x[:, :, 0] * std + mean, y[:, :, 0] * std + mean
        torch.testing.assert_close(past[:, -1], origin.float() - 1, atol=1e-4, rtol=0)
        torch.testing.assert_close(future[:, 2], origin.float() + 2, atol=1e-4, rtol=0)
    assert (data.train.y[:, :, 1] == 1).all()


def test_a_gap_carries_the_past_forward_and_is_no_target() -> None:
    table = ramp()
    table["y"][20] = ""  # no number
    del table["date"][25], table["y"][25]  # no row
    data = series(table, "date", "y", horizon=2, context=7)
    assert any("2 of 60 steps had no value" in said for said in data.remarks)
    x, y = data.train
    mean, std = data.encoder.scales[""]
    row = int((data.origins["train"][:, 1] == 26).nonzero())
    z = x[row, :, 0] * std + mean
    assert z.round().tolist() == [19, 19, 21, 22, 23, 24, 24]
    assert x[row, :, 1].tolist() == [0, 1, 0, 0, 0, 0, 1]
    row = int((data.origins["train"][:, 1] == 25).nonzero())
    assert y[row, :, 1].tolist() == [0, 1]


def test_series_of_different_size_are_scaled_by_themselves_and_split_at_one_date() -> None:
    low, high = ramp(), ramp(50)
    both = {
        "date": low["date"] + high["date"],
        "shop": ["a"] * 60 + ["b"] * 50,
        "y": low["y"] + [str(1000 * int(v) + 5) for v in high["y"]],
    }
    data = series(both, "date", "y", 2, "shop")
    a, b = (data.encoder.scales[name] for name in "ab")
    assert b[1] == pytest.approx(1000 * a[1])
    for name in ("train", "validation", "test"):
        number, origin = data.origins[name].T
        assert set(number.tolist()) == {0, 1} or name == "test"
        ends = [int(origin[number == k].max()) for k in (0, 1)]
        assert name == "test" or ends[0] == ends[1]


def test_the_encoder_takes_the_end_of_each_series_and_survives_json() -> None:
    data = series(ramp(), "date", "y", horizon=3, context=7)
    encoder = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    assert encoder == data.encoder
    mean, std = encoder.scales[""]
    new = {"date": days(10, date(2025, 1, 1)), "y": [str(k) for k in range(9)] + [""]}
    x = encoder.encode(new)
    torch.testing.assert_close(x[0, :, 0] * std + mean, torch.arange(2.0, 9.0), atol=1e-4, rtol=0)
    flat = torch.zeros(1, 3, 3)
    answers = encoder.answers(encoder.histories(new), flat)
    assert [answer["date"] for answer in answers] == ["2025-01-10", "2025-01-11", "2025-01-12"]
    assert answers[0]["prediction"] == pytest.approx(mean)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"date": ["2024-01-01", "2024-01-02"], "y": ["1", "2"]},
            "has 2 steps; expected at least 7",
        ),
        ({"date": ["1", "2"], "y": ["1", "2"]}, "expected times like those of training"),
        (
            {"date": ["2024-01-01 12:00", "2024-01-02"], "y": ["1", "2"]},
            "expected a time on the grid",
        ),
        ({"day": ["2024-01-01"], "y": ["1"]}, "date"),
    ],
)
def test_tables_that_do_not_fit_the_training_are_refused(
    change: dict[str, list[str]], said: str
) -> None:
    encoder = series(ramp(), "date", "y", horizon=3, context=7).encoder
    with pytest.raises(InputError, match=said):
        encoder.encode(change)


def test_two_rows_of_a_time_need_a_group_or_a_step() -> None:
    table = ramp()
    twice = {name: [v for v in values for _ in range(2)] for name, values in table.items()}
    with pytest.raises(InputError, match="2024-01-01 occurs twice; name the column"):
        series(twice, "date", "y", 2)
    data = series(twice, "date", "y", 2, options=SeriesOptions(step="day"))
    assert any("60 rows fell into a step" in said for said in data.remarks)


def test_covariates_are_read_in_the_past_and_carried_forward():
    weather = [str(10 * k) if k % 4 else "" for k in range(60)]
    table = ramp() | {"weather": weather, "other": ["x"] * 60}
    data = series(table, "date", "y", 3, context=7, options=SeriesOptions(covariates=("weather",)))
    plain = series(ramp(), "date", "y", horizon=3, context=7)
    assert data.train.x.shape[2] == plain.train.x.shape[2] + 1
    assert torch.equal(data.train.y, plain.train.y)
    (mean, std) = data.encoder.covariate_scales[0]
    seen = data.train.x[0, :, 2] * std + mean  # days 0 to 6; the first has no value at all
    torch.testing.assert_close(seen[1:], torch.tensor([10.0, 20, 30, 30, 50, 60]))
    torch.testing.assert_close(data.train.x[0, 0, 2], torch.tensor(0.0))  # the mean
    again = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    assert again == data.encoder
    assert any("not used: 'other'" in remark for remark in data.remarks)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("date",), r"`group` and `covariates`, got date, y, none and date"),
        (("absent",), "no column named 'absent'"),
        (("words",), "column 'words', row 1 below the header: expected a finite number, got 'a'"),
    ],
)
def test_covariates_that_cannot_be_read_are_refused(changed, message):
    table = ramp() | {"words": ["a"] * 60}
    with pytest.raises(InputError, match=message):
        series(table, "date", "y", 3, options=SeriesOptions(covariates=changed))


def test_decimal_commas_and_units_are_read_as_in_training(tmp_path):
    rows = [f"2024-{1 + k // 28:02}-{1 + k % 28:02};{k % 7},5 kg" for k in range(112)]
    path = tmp_path / "sales.csv"
    path.write_text("day;units\n" + "\n".join(rows) + "\n")
    data = series(path, "day", "units", 3)
    assert float(data.histories[0].values[:2].sum()) == 2.0
    again = encoder_from_json(json.loads(json.dumps(data.encoder.to_json())))
    assert torch.equal(again.encode_file(path), data.encoder.encode_file(path))
    path.write_text("day;units\n" + "\n".join(row.replace(",5", ".5") for row in rows) + "\n")
    with pytest.raises(InputError, match="as in training"):
        again.encode_file(path)
