"""Your own labeled texts: two columns of a table, a text and its class, in three splits.

    text,label
    "a quiet film, and a wonderful one",good

A fifth of the rows is the test split, unless a table of test rows is given, and a fifth of the
others is for validation. Rows without a text or a label are dropped and counted.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from chainrule.arguments import checked
from chainrule.data.readers.tables.columns import as_columns
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.reading import one_spelling
from chainrule.data.readers.tables.table import MIN_ROWS, infer_classes, rare_class_remarks
from chainrule.data.readers.tables.table_encoder import class_names
from chainrule.data.splits import TEST_SEED, Seed, stratified_indices
from chainrule.errors import InputError
from chainrule.registry import unknown

SHARE = 0.2  # of the rows, for the test split and for validation
SPLITS = ("train", "validation", "test")


class LabeledTexts(NamedTuple):
    """Texts with their classes.

    texts: of each split.
    labels: the class index of each text, by split.
    classes: the class names in label order.
    remarks: what was dropped or noticed.
    """

    texts: dict[str, list[str]]
    labels: dict[str, Tensor]
    classes: tuple[str, ...]
    remarks: tuple[str, ...]


@checked
def labeled_texts(
    source: Any, text: str, target: str, seed: Seed = 0, test: Any = None
) -> LabeledTexts:
    """The texts and classes of each split.

    source: the path of a CSV file, a pandas DataFrame or a dictionary of columns.
    text: the column of the texts.
    target: the column of the classes.
    seed: draws the validation split; the test split is always the same.
    test: a table of the test split; None holds out a fifth of the rows.

    >>> reviews = {"text": [f"film {k} was fine" for k in range(20)], "label": ["good", "bad"] * 10}
    >>> found = labeled_texts(reviews, "text", "label")
    >>> found.classes, len(found.texts["train"]), found.labels["test"].shape
    (('bad', 'good'), 13, torch.Size([4]))
    """
    texts, labels, remarks = rows(source, text, target)
    if len(texts) < MIN_ROWS:
        raise InputError(f"expected at least {MIN_ROWS} labeled texts, got {len(texts)}")
    classes = infer_classes(target, labels, "classification")
    index = {name: k for k, name in enumerate(classes)}
    y = torch.tensor([index[name] for name in labels])
    kept = torch.arange(len(y))
    if test is None:
        kept, tested = stratified_indices(y, round(SHARE * len(y)), TEST_SEED)
        last, y_last = [texts[k] for k in tested.tolist()], y[tested]
    else:
        last, known, more = rows(test, text, target)
        strange = next((name for name in known if name not in index), None)
        if strange is not None or not last:
            got = "no row" if strange is None else repr(strange)
            raise InputError(f"test rows: expected classes of the training rows, got {got}")
        y_last = torch.tensor([index[name] for name in known])
        remarks += more
    train, held = stratified_indices(y[kept], round(SHARE * len(kept)), seed)
    train, held = kept[train], kept[held]
    parts = [[texts[k] for k in part.tolist()] for part in (train, held)] + [last]
    remarks += rare_class_remarks(classes, y) + repeated(parts)
    return LabeledTexts(
        dict(zip(SPLITS, parts, strict=True)),
        dict(zip(SPLITS, (y[train], y[held], y_last), strict=True)),
        classes,
        remarks,
    )


def rows(source: Any, text: str, target: str) -> tuple[list[str], list[str], tuple[str, ...]]:
    """(texts, labels, remarks) of a table, without rows that lack one of both."""
    columns = as_columns(source)
    for name in (text, target):
        if name not in columns:
            raise InputError(unknown("column", name, list(columns)))
    if text == target:
        raise InputError(f"expected different columns as `text` and `target`, got {text!r} twice")
    pairs = list(zip(columns[text], columns[target], strict=True))
    whole = [(t, y) for t, y in pairs if not (is_missing(t) or is_missing(y))]
    dropped = len(pairs) - len(whole)
    said = (f"{dropped:,} of {len(pairs):,} rows were dropped: no {text!r} or no {target!r}",)
    labels, folded = one_spelling(target, [y for _, y in whole])
    return [t for t, _ in whole], class_names(labels), (said if dropped else ()) + folded


def repeated(parts: list[list[str]]) -> tuple[str, ...]:
    """A note on test texts that training has seen."""
    seen = {*parts[0], *parts[1]}
    count = sum(text in seen for text in parts[2])
    return (f"{count:,} of {len(parts[2]):,} test texts also occur in training",) if count else ()
