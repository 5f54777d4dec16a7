"""Rows of a Parquet table as tensors, encoded as `TableEncoder` encodes them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.readers.tables.column_encodings import (
    CategoricalColumn,
    Column,
    NumericColumn,
    log_scaled,
)
from chainrule.data.readers.tables.date_column import DateColumn
from chainrule.data.readers.tables.parquet import days, kind_of, numbers, values, words
from chainrule.data.readers.tables.table_encoder import TableEncoder, class_names


def encoded(encoder: TableEncoder, table: Any, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    """Features and targets of these rows, as `TableEncoder` encodes them."""
    x, start = np.zeros((len(rows), len(encoder.features)), np.float32), 0
    for column in encoder.columns:
        cells = table.column(column.name)
        if isinstance(column, CategoricalColumn):
            places = placed(column, *words(cells))[rows]
            known = np.flatnonzero(places >= 0)
            x[known, start + places[known]] = 1
        elif not isinstance(column, NumericColumn):
            x[:, start : start + len(column.features)] = by_words(column, cells)[rows]
        else:
            value = log_scaled(values(cells)[rows], column.log)
            absent = np.isnan(value)
            value[absent] = column.median
            x[:, start] = (value - column.mean) / column.std
            if column.missing:
                x[:, start + 1] = absent
        start += len(column.features)
    return torch.from_numpy(x), encoded_target(encoder, table.column(encoder.target), rows)


def by_words(column: Column, cells: Any) -> np.ndarray:
    """The features of every row of a column that is encoded word by word: each word once."""
    kind = kind_of(cells.type)
    if kind == "dates":
        assert isinstance(column, DateColumn)
        return column.encode_days(days(cells))
    if kind == "numbers":
        different, codes = np.unique(values(cells), return_inverse=True)
        found = ["" if value != value else f"{value:.0f}" for value in different.tolist()]
    else:
        found, codes = words(cells)
    return column.encode([*found, ""])[codes]


def encoded_target(encoder: TableEncoder, cells: Any, rows: np.ndarray) -> Tensor:
    """Class labels, or (y - shift) / scale."""
    numeric = kind_of(cells.type) == "numbers"
    if not encoder.classes:
        y = (numbers(encoder.target, cells)[rows] - encoder.shift) / encoder.scale
        return torch.from_numpy(y).float()
    if numeric:
        different, codes = np.unique(numbers(encoder.target, cells)[rows], return_inverse=True)
        found = [str(value) for value in different.tolist()]
    else:
        found, every = words(cells)
        codes = every[rows]
    column = CategoricalColumn(encoder.target, encoder.classes)
    return torch.from_numpy(placed(column, class_names(found), codes))


def placed(column: CategoricalColumn, found: list[str], codes: np.ndarray) -> np.ndarray:
    """The place of each row's word among the column's; -1 for none."""
    places = [-1 if place is None else place for place in column.places(found)]
    return np.array([*places, -1], np.int64)[codes]
