"""Tables that are larger than memory are prepared as those in memory are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from chainrule.data import table, table_blocks
from chainrule.data.readers.tables import table_blocks as module
from chainrule.data.readers.tables import table_survey
from chainrule.data.readers.tables.parquet import is_large
from chainrule.errors import InputError

pandas = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 2_000


def frame(seed: int = 0, rows: int = ROWS) -> Any:
    draw = np.random.default_rng(seed)
    x = draw.normal(50, 10, rows)
    city = draw.choice(["Oslo", "Rome", "Bonn"], rows)
    return pandas.DataFrame(
        {
            "x": np.where(draw.random(rows) < 0.1, np.nan, x),
            "city": np.where(draw.random(rows) < 0.1, None, city),
            "member": draw.random(rows) < 0.5,
            "count": draw.integers(0, 1_000_000, rows),
            "constant": 1.0,
            "row": np.arange(rows),
            "when": pandas.Timestamp("2026-01-01"),
            "label": np.where(x + 10 * (city == "Oslo") > 53, "yes", "no"),
            "price": 3 * x + 5 * (city == "Rome"),
        }
    )


def write(path: Path, table: Any, group: int = 150) -> Path:
    table.to_parquet(path, row_group_size=group, index=False)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "table.parquet", frame())


def everything(splits: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """All rows: those on the disk, then validation and test."""
    parts = [splits.blocks.read(k) for k in range(len(splits.blocks.sizes))]
    parts += [tuple(splits.validation), tuple(splits.test)]
    x, y = zip(*parts, strict=True)
    return torch.cat(x), torch.cat(y)


def test_every_row_is_in_one_split(path: Path) -> None:
    found = table_blocks(path, "price", ignore=("label",))
    assert (len(found.validation.y), len(found.test.y)) == (400, 400)
    assert sum(found.blocks.sizes) == 1200 and len(found.blocks.sizes) == 14
    y = everything(found)[1]
    expected = torch.tensor(frame()["price"].tolist())
    assert torch.equal(y.sort().values, expected.sort().values)
    other = table_blocks(path, "price", seed=1, ignore=("label",))
    assert torch.equal(other.test.y, found.test.y)
    assert not torch.equal(other.validation.y, found.validation.y)


def test_rows_are_encoded_as_the_encoder_of_a_run_does(path: Path) -> None:
    found = table_blocks(path, "label", ignore=("price",))
    assert found.classes == ("no", "yes")
    assert found.encoder is not None
    names = ("x", "x missing", "city=Bonn", "city=Oslo", "city=Rome")
    assert found.encoder.features == (*names, "member=False", "member=True", "count")
    whole = frame().drop(columns="when")
    x, y = found.blocks.read(3)
    kept = np.delete(np.arange(450, 600), found.blocks.left_out[3])
    assert torch.equal(x, found.encoder.encode(whole.iloc[kept]))
    assert torch.equal(y, found.encoder.encode_target(whole.iloc[kept]))
    some = np.array([5, 2])
    assert torch.equal(found.blocks.read(3, some)[0], x[some])


def test_statistics_are_those_of_the_training_rows(path: Path) -> None:
    found = table_blocks(path, "label", ignore=("price",))
    kept = np.concatenate(
        [150 * k + np.delete(np.arange(n), out) for k, (n, out) in enumerate(groups(found))]
    )
    training = frame().iloc[kept]
    x, count = found.encoder.columns[0], found.encoder.columns[3]  # type: ignore[union-attr]
    filled = training["x"].fillna(x.median)
    assert x.mean == pytest.approx(filled.mean()) and x.std == pytest.approx(filled.std(ddof=0))
    assert x.median == pytest.approx(training["x"].median())  # the sample is all of them
    assert count.mean == pytest.approx(training["count"].mean())


def groups(found: Any) -> Any:
    return zip([g.rows for g in found.blocks.files.groups], found.blocks.left_out, strict=True)


def test_remarks_name_what_was_dropped(path: Path) -> None:
    remarks = " | ".join(table_blocks(path, "label").remarks)
    for words in (
        "1,200 training rows stay on the disk, in 14 row groups; validation 400, test 400 rows",
        "column 'constant' was dropped: it is the same",
        "column 'row' was dropped: it numbers the rows",
        "column 'when' was dropped: it is the same",
    ):
        assert words in remarks


def test_rows_without_a_target_are_dropped(tmp_path: Path) -> None:
    given = frame()
    given.loc[:99, "label"] = None
    given.loc[50:199, "price"] = np.nan
    path = write(tmp_path / "table.parquet", given)
    for target, other, dropped in (("label", "price", 100), ("price", "label", 150)):
        found = table_blocks(path, target, ignore=(other,))
        assert f"{dropped} of 2,000 rows were dropped" in " ".join(found.remarks)
        x, y = everything(found)
        assert len(y) == ROWS - dropped and x.isfinite().all() and (y >= -1000).all()


def test_a_folder_of_files_is_one_table_and_memory_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_survey, "MOST_HELD", 100)
    folder = tmp_path / "tables"
    folder.mkdir()
    for k in range(3):
        write(folder / f"{k}.parquet", frame(k))
    found = table_blocks(folder, "price", ignore=("label",))
    assert sum(found.blocks.sizes) == 3 * ROWS - 200
    assert [len(s.y) for s in (found.train, found.validation, found.test)] == [100] * 3
    assert is_large(folder)


def test_whole_numbers_are_classes_as_in_memory(tmp_path: Path) -> None:
    given = frame().assign(grade=np.arange(ROWS) % 3 + 1.0)
    path = write(tmp_path / "table.parquet", given)
    found, known = table_blocks(path, "grade"), table(given, "grade")
    assert found.classes == known.classes == ("1", "2", "3")
    assert sorted(everything(found)[1].unique().tolist()) == [0, 1, 2]
    assert table_blocks(path, "grade", task="regression").classes == ()


def test_targets_that_cannot_work_are_refused(path: Path) -> None:
    with pytest.raises(InputError, match="did you mean label"):
        table_blocks(path, "lable")
    with pytest.raises(InputError, match="cannot be in ignore"):
        table_blocks(path, "label", ignore=("label",))
    with pytest.raises(InputError, match="the target 'when' holds timestamp"):
        table_blocks(path, "when")
    with pytest.raises(InputError, match="expected numbers for a regression"):
        table_blocks(path, "label", task="regression")
    with pytest.raises(InputError, match="the same value in all rows"):
        table_blocks(path, "constant")
    with pytest.raises(InputError, match="more than 1,000 different values"):
        table_blocks(path, "count", task="classification")


def test_files_that_cannot_be_read_are_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wild = write(tmp_path / "wild.parquet", frame().assign(x=np.inf))
    with pytest.raises(InputError, match="column 'x': expected finite numbers"):
        table_blocks(wild, "label")
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="cannot be read as a Parquet file"):
        table_blocks(cut, "label")
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="only those are read part by part"):
        table_blocks(tmp_path / "text.csv", "a")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InputError, match=r"holds no \.parquet files"):
        table_blocks(other, "label")
    write(other / "a.parquet", frame())
    write(other / "b.parquet", frame().drop(columns="x"))
    with pytest.raises(InputError, match=r"b\.parquet has other columns"):
        table_blocks(other, "label")
    monkeypatch.setattr(module, "MAX_BLOCK", 1000)
    with pytest.raises(InputError, match="write it with at most"):
        table_blocks(path, "label")


def busy(rows: int = 1_200) -> Any:
    """Ids, dates, a long tail and a column of many words, of which the target is the mean."""
    draw = np.random.default_rng(0)
    street = draw.integers(0, 80, rows)
    return pandas.DataFrame(
        {
            "user_id": draw.permutation(rows) + 7_000,
            "Uuid": [f"u-{k:x}" for k in draw.permutation(rows)],
            "note": [f"text {k}" for k in draw.permutation(rows)],
            "seen": pandas.Timestamp("2026-01-01")
            + pandas.to_timedelta(draw.random(rows), "D") * 99,
            "day": pandas.Series(draw.integers(0, 300, rows)).map(
                lambda k: str(pandas.Timestamp("2025-03-01") + pandas.Timedelta(days=k))[:10]
            ),
            "income": np.exp(3 * draw.standard_normal(rows)),
            "street": [f"street {k}" for k in street],
            "price": street + draw.standard_normal(rows),
        }
    )


@pytest.fixture
def both(tmp_path: Path) -> Any:
    """The same table read part by part and in memory."""
    path = write(tmp_path / "busy.parquet", busy())
    options = module.TableOptions(long_tails=True)
    return table_blocks(path, "price", options=options), table(path, "price", options=options)


def test_columns_are_decided_on_as_in_memory(both: Any) -> None:
    blocks, whole = both
    assert blocks.encoder.features == whole.encoder.features
    kinds = [[type(column) for column in found.encoder.columns] for found in both]
    assert kinds[0] == kinds[1]
    said = " | ".join(blocks.remarks)
    for name in ("user_id", "Uuid", "note"):
        assert f"column {name!r} was dropped" in said
    for words in ("'income' has a long tail", "'seen' is read as dates", "is encoded by the mean"):
        assert words in said


def test_many_words_are_encoded_without_the_targets_of_their_own_fold(both: Any) -> None:
    blocks = both[0].blocks
    place = blocks.encoder.features.index("mean price by street")
    street = next(c for c in blocks.encoder.columns if c.name == "street")
    frame = busy()
    for block in (0, 3):
        kept = np.delete(np.arange(150), blocks.left_out[block])
        own = frame.iloc[150 * block + kept]
        found = blocks.read(block)[0][:, place].numpy()
        assert np.abs(found - street.encode(own["street"].tolist())[:, 0]).max() > 1e-3
        assert np.corrcoef(found, own["price"])[0, 1] > 0.9


def test_an_id_may_be_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "busy.parquet", busy())
    options = module.TableOptions(keep=("user_id",))
    assert "user_id" in table_blocks(path, "price", options=options).encoder.features
