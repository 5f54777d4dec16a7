"""The published sets: figures of their books as oracles, and both forms in which they come."""

import gzip
import shutil

import numpy as np
import pytest
import torch

from chainrule.data.datasets import default, fashion_mnist, hitters, mnist, nyse, spam, usps
from chainrule.data.readers.tables.columns import read_csv
from chainrule.errors import InputError


def least_squares(splits) -> torch.Tensor:
    """Predictions for the test split by least squares on everything before it."""
    x = torch.cat([splits.train.x, splits.validation.x]).flatten(1).double()
    y = torch.cat([splits.train.y, splits.validation.y]).double()
    w = np.linalg.lstsq(np.c_[x, np.ones(len(x))], y.numpy(), rcond=None)[0]
    tested = splits.test.x.flatten(1).double()
    return torch.from_numpy(np.c_[tested, np.ones(len(tested))] @ w)


def test_linear_regression_on_hitters_errs_as_the_book_says(big_data):
    splits = hitters.load(big_data)
    assert splits.remarks == ("59 of 322 rows were dropped: no 'Salary'",)
    error = (least_squares(splits) - splits.test.y).abs().mean()
    assert round(float(error), 2) == 259.72  # ISLP lab 10.9.1: 259.7153


def test_linear_autoregression_on_nyse_explains_as_much_as_the_book_says(big_data):
    splits = nyse.load(big_data)
    y = splits.test.y.double()
    left = (least_squares(splits) - y).square().sum() / (y - y.mean()).square().sum()
    assert round(1 - float(left), 3) == 0.413  # ISLP lab 10.9.6: 0.4129


def test_the_newest_day_of_nyse_comes_last_and_the_parts_follow_in_time(big_data):
    splits = nyse.load(big_data)
    volume = splits.test.x[:, :, 1]
    assert torch.equal(volume[1:, -1], splits.test.y[:-1])
    assert torch.equal(volume[0], splits.validation.y[-5:])
    assert torch.equal(splits.validation.x[0, :, 1], splits.train.y[-5:])
    both = torch.cat([splits.train.x[0, :, 1], splits.train.y])
    torch.testing.assert_close(both.mean(), torch.tensor(0.0), atol=1e-5, rtol=0)


def test_every_third_percent_of_customers_defaults_in_every_part(big_data):
    splits = default.load(big_data)
    for part in (splits.train, splits.validation, splits.test):
        assert part.y.float().mean() == pytest.approx(0.0333, abs=0.0005)


@pytest.mark.parametrize("data", [mnist, fashion_mnist])
def test_the_idx_sets_have_their_published_class_counts(big_data, data):
    splits = data.load(big_data, validation=10_000)
    counts = torch.bincount(torch.cat([splits.train.y, splits.validation.y]))
    if data is mnist:
        assert counts[:3].tolist() == [5923, 6742, 5958]
    else:
        assert counts.tolist() == [6000] * 10
    assert [len(part.y) for part in (splits.train, splits.validation)] == [50_000, 10_000]


def test_mnist_has_the_published_mean_and_spread(big_data):
    splits = mnist.load(big_data)
    x = torch.cat([splits.train.x, splits.validation.x])
    assert round(float(x.mean()), 4) == 0.1307
    assert round(float(x.std()), 4) == 0.3081


def test_spam_reads_the_same_from_either_form(big_data, tmp_path):
    columns = read_csv(big_data / "spam/Spam.txt")
    flags = columns.pop("test")
    (tmp_path / "spam").mkdir()
    rows = "\n".join(" ".join(row) for row in zip(*columns.values(), strict=True))
    (tmp_path / "spam/spam.data").write_text(rows + "\n")
    (tmp_path / "spam/spam.traintest").write_text("\n".join(flags))
    expected, splits = spam.load(big_data), spam.load(tmp_path)
    assert torch.equal(splits.train.x, expected.train.x)
    assert torch.equal(splits.test.y, expected.test.y)
    (tmp_path / "spam/spam.data").write_text(rows[:-200])
    with pytest.raises(InputError, match=r"spam.data is damaged .*; delete it"):
        spam.load(tmp_path)


def test_usps_reads_the_same_from_either_form(big_data, tmp_path):
    with np.load(big_data / "usps_zip/zip.npy.npz") as archive:
        rows = archive["arr_0"]
    (tmp_path / "usps_zip").mkdir()
    for name, flag in (("train", 0), ("test", 1)):
        text = "\n".join(
            f"{row[0]:.4f} " + " ".join(f"{v:.3f}" for v in row[1:257])
            for row in rows[rows[:, 257] == flag]
        )
        packed = gzip.compress(text.encode(), 1)
        (tmp_path / f"usps_zip/zip.{name}.gz").write_bytes(packed)
    expected, splits = usps.load(big_data), usps.load(tmp_path)
    torch.testing.assert_close(splits.train.x, expected.train.x, atol=1e-3, rtol=0)
    assert torch.equal(splits.test.y, expected.test.y)
    (tmp_path / "usps_zip/zip.test.gz").write_bytes(packed[:-100])
    with pytest.raises(InputError, match=r"zip.test.gz is damaged .*; delete it"):
        usps.load(tmp_path)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (mnist, "mnist/train-images-idx3-ubyte.gz"),
        (default, "islp/Default.csv"),
        (hitters, "islp/Hitters.csv"),
        (nyse, "islp/NYSE.csv"),
        (spam, "spam/Spam.txt"),
        (usps, "usps_zip/zip.npy.npz"),
    ],
)
def test_a_truncated_file_is_named_with_the_cure(big_data, tmp_path, data, name):
    part = name.split("/")[0]
    shutil.copytree(big_data / part, tmp_path / part, copy_function=shutil.copyfile)
    (tmp_path / part).chmod(0o755)
    whole = (big_data / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) * 3 // 4])
    with pytest.raises(InputError, match=f"{name} is damaged .*; delete it"):
        data.load(tmp_path)
