"""Tables, pages and pictures of records."""

import json
from io import StringIO

import pytest
from rich.console import Console

from benchmarks.suite import growth, page, tables
from benchmarks.suite.contract import Line
from benchmarks.suite.pictures import bars, overview
from benchmarks.suite.pictures import growth as growth_picture

MACHINE = {
    "processor": "A processor",
    "cores": 2,
    "threads": 2,
    "torch": "2",
    "python": "3",
    "date": "2026-11-18",
}


def contender(
    name: str, seconds: float, ratio: list[float] | None, agrees: bool | None = True
) -> dict:
    return {
        "name": name,
        "seconds": seconds,
        "ratio": ratio,
        "rounds": 9,
        "agrees": agrees,
        "peak_mb": 1234,
        "share_of_limit": 0.42,
        "limit": "float32 products",
    }


RACE = {
    "row": "mlp",
    "kind": "race",
    "title": "A perceptron",
    "unit": "an epoch",
    "quality": "loss",
    "ours": "chainrule",
    "machine": MACHINE,
    "cases": [
        {
            "case": "small",
            "contenders": [
                contender("chainrule", 0.02, [1, 1, 1]),
                contender("hand-tuned PyTorch", 0.026, [1.3, 1.28, 1.33]),
                contender("a cheat of a very long name", 0.001, [0.05, 0.04, 0.06], False),
            ],
            "skipped": {"fastai": "fastai not installed"},
            "failed": {},
            "disturbed": ["busy machine: other processes took 30 % of the cores"],
        }
    ],
}
LINE = Line(lambda size: lambda: None, [10, 20, 40], 1.0, 1.0)


def grown() -> dict:
    measured = [
        {"size": size, "seconds": size / 1e3, "extra": size * 2**20, "units": 3}
        for size in LINE.sizes
    ]
    line = growth.of_line("a line", LINE, measured)
    return {
        "row": "growth",
        "kind": "growth",
        "title": "Growth",
        "axis": "steps",
        "machine": MACHINE,
        "lines": [line],
    }


def printed(table) -> str:
    stream = StringIO()
    Console(width=80, file=stream).print(table)
    return stream.getvalue()


def test_a_table_of_a_race_fits_80_columns_and_marks_what_does_not_agree():
    text = printed(tables.race_table(RACE, RACE["cases"][0]))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "hand-tuned PyTorch" in text and "1.28 – 1.33" in text and "42 %" in text
    assert text.count("NO") == 1


def test_the_remarks_name_who_was_skipped_and_the_busy_machine():
    assert tables.remarks(RACE["cases"][0]) == [
        "skipped: fastai (fastai not installed)",
        "note: busy machine: other processes took 30 % of the cores",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1234.0, "1234 s"), (1.5, "1.5 s"), (0.0123, "12.3 ms"), (2e-7, "0.2 µs")]
)
def test_durations_have_the_unit_that_fits(seconds, text):
    assert tables.duration(seconds) == text


def test_slopes_of_time_and_memory_are_fitted():
    line = grown()["lines"][0]
    assert line["slope"] == pytest.approx(1) and line["memory_slope"] == pytest.approx(1)
    assert line["failed_at"] is None


def test_a_line_that_ends_early_says_at_which_size():
    line = growth.of_line("a line", LINE, [{"size": 10, "seconds": 1.0, "extra": 0, "units": 3}])
    assert line["failed_at"] == 20 and line["memory_slope"] is None


def test_the_leads_name_the_closest_peer_that_learns_as_much():
    case = RACE["cases"][0]
    more = [
        contender("chainrule, auto precision", 0.01, [0.5, 0.4, 0.6]),
        contender("hand-tuned, autocast", 0.018, [0.9, 0.8, 1.0]),
        contender("Lightning", 0.03, [1.5, 1.4, 1.6]),
    ]
    told = page.leads([{**RACE, "cases": [{**case, "contenders": [*case["contenders"], *more]}]}])
    cells = [cell.strip() for cell in told.splitlines()[2].split("|")[1:-1]]
    assert cells == [
        "A perceptron, small",
        "1.30 × hand-tuned PyTorch",
        "1.80 × hand-tuned, autocast",
        "3.00 × Lightning",
    ]


def test_the_page_has_every_contender_and_slope(tmp_path):
    for found in (RACE, grown()):
        (tmp_path / f"{found['row']}.json").write_text(json.dumps(found))
    (tmp_path / "other.json").write_text(json.dumps({"rows": []}))
    found = page.records(tmp_path)
    races = page.races(found)
    assert "| hand-tuned PyTorch | 26 ms | 1.30 × | 1.28 – 1.33 | 9 | 42 %" in races
    assert "**no**" in races and "A processor, 2 cores" in races
    assert "| a line | 10 … 40 | 40 ms | 1.00 ± 0.00 | 1 |" in page.growths(found)


def test_a_race_without_ours_is_shown_without_ratios():
    peer = contender("hand-tuned PyTorch", 0.026, None)
    lost = {"contenders": [peer], "failed": {"chainrule": "it broke"}}
    found = RACE | {"cases": [RACE["cases"][0] | lost]}
    assert "| hand-tuned PyTorch | 26 ms |  |  | 9 |" in page.races([found])
    assert "| chainrule | it broke |" in page.races([found])
    assert "26 ms" in printed(tables.race_table(found, found["cases"][0]))
    assert bars([found]).axes[0].get_yticklabels() == []
    assert overview([found]).axes[0].get_legend_handles_labels()[1] == []


def test_a_page_without_records_says_so():
    assert page.races([]) == "No row is recorded yet.\n"
    assert page.growths([]) == "No growth is recorded yet.\n"


def test_pictures_name_rows_and_peers():
    axes = bars([RACE]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "hand-tuned PyTorch"
    assert "1.30 ×" in [text.get_text() for text in axes.texts]
    labels = overview([RACE]).axes[0].get_legend_handles_labels()[1]
    assert "hand-tuned PyTorch" in labels
    (upper, lower) = growth_picture([grown()]).axes
    legends = [axes.get_legend().get_texts()[0].get_text() for axes in (upper, lower)]
    assert legends == ["a line: slope 1.00, expected 1"] * 2
