"""NYSE: forecasting a day's trading volume from the five days before.

Daily return, log volume and log volatility from 1962 to 1986; x holds the five days before, oldest
first, y the log volume of the day. The split is chronological, as in the book: 1980 onward is the
test split, and validation is the last fifth of the training period, so no future leaks into the
past; the seed has no effect. All values are standardized by the days before validation.
"""

from pathlib import Path

import numpy as np
import torch

from chainrule.data.readers.islp import about, islp_table
from chainrule.data.readers.tables.column_kinds import numeric_column
from chainrule.data.splits import Split, Splits

ABOUT = about(
    "regression",
    "NYSE",
    "x (n, 5, 3): days, then return, volume, volatility; y log volume; 3,421 / 855 / 1,770",
)
CHECKSUM = "4bb3e2e9872b2f7e6e8701afb8873cd9f4b7e66ee0b1ba62c116ff2b3a2eec60"
SERIES = ("DJ_return", "log_volume", "log_volatility")
LAGS = 5


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    header = ("date", "day_of_week", *SERIES, "train")
    columns = islp_table("NYSE", CHECKSUM, 6_051, header, folder)
    series = np.stack([numeric_column(name, columns[name]) for name in SERIES], axis=1)
    test_start = columns["train"].index("FALSE")
    validation_start = test_start - (test_start - LAGS) // 5
    past = series[:validation_start]
    z = torch.from_numpy((series - past.mean(axis=0)) / past.std(axis=0)).float()
    x = z.unfold(0, LAGS, 1)[:-1].transpose(1, 2).contiguous()
    y = z[LAGS:, SERIES.index("log_volume")].clone()
    train, validation = validation_start - LAGS, test_start - LAGS
    return Splits(
        Split(x[:train], y[:train]),
        Split(x[train:validation], y[train:validation]),
        Split(x[validation:], y[validation:]),
    )
