"""What a reader of a table should know about its columns: ids, leaks, marks that look like numbers.

A column leaks if it alone gives the target away: a small tree on it decides 99.9 % of the training
rows rightly, or its order is that of a target of numbers (Spearman's |ρ| ≥ 0.9999).
"""

import re
from collections.abc import Mapping

import numpy as np

from chainrule.data.readers.tables.column_kinds import is_row_index
from chainrule.data.readers.tables.columns import Columns, listed
from chainrule.data.readers.tables.numbers import MARKS, has_words, is_missing, parse_numbers

ID = re.compile(r"(?:.*[\s_.-])?(?:id|ids|uuid|guid|identifier)|.*[a-z](?:Id|ID)")
MIN_LEAK_ROWS = 50  # of the training split; with fewer, separation by chance is usual
LEAK_ROWS = 2_000  # that are looked at
LEAK_ACCURACY = 0.999
LEAK_RANK = 0.9999
SENTINELS = frozenset(s * float("9" * n) for n in range(2, 7) for s in (-1, 1)) | {-1.0}
MIN_SENTINELS = 3
FIRST = 50  # cells that tell most columns of words


def is_identifier(name: str, values: list[str]) -> bool:
    """Whether a column is called an id and has another whole number or word in every row."""
    if not (ID.fullmatch(name) or ID.fullmatch(name.casefold())):
        return False
    if len(set(values)) < len(values) or any(map(is_missing, values)):
        return False
    x, words = parse_numbers(values)
    return bool(words) or bool((x % 1 == 0).all())


def without_identifiers(
    columns: Columns, target: str, keep: tuple[str, ...]
) -> tuple[Columns, tuple[str, ...]]:
    """(columns, remarks) without columns that number or name the rows, unless they are kept."""
    dropped = {}
    for name, values in columns.items():
        if name in (target, *keep):
            continue
        if is_row_index(values):
            dropped[name] = "it numbers the rows"
        elif is_identifier(name, values):
            dropped[name] = "it is an id, another one in every row; `keep` keeps it"
    kept = {name: values for name, values in columns.items() if name not in dropped}
    return kept, tuple(f"column {name!r} was dropped: {why}" for name, why in dropped.items())


def leak_remarks(blocks: Mapping[str, np.ndarray], y: np.ndarray, classes: int) -> tuple[str, ...]:
    """A note for every column that alone gives the target away.

    blocks: (training rows, features) of each column.
    y: (training rows,) class labels or numbers.
    classes: how many; 0 for numbers.
    """
    if len(y) < MIN_LEAK_ROWS:
        return ()
    rows = np.linspace(0, len(y) - 1, min(len(y), LEAK_ROWS)).astype(int)
    leaking = [n for n, block in blocks.items() if gives_away(block[rows], y[rows], classes)]
    if not leaking:
        return ()
    several = len(leaking) > 1
    return (
        f"column{'s' * several} {listed(leaking)} alone give{'s' * (not several)} the target away; "
        f"`ignore` {'them' if several else 'it'} if {'they are' if several else 'it is'} not known "
        "when you predict",
    )


def gives_away(block: np.ndarray, y: np.ndarray, classes: int) -> bool:
    """Whether the features of one column decide on y."""
    if not classes:
        if block.shape[1] > 2 or np.ptp(block[:, 0]) == 0 or np.ptp(y) == 0:
            return False
        from scipy.stats import spearmanr  # half a second of imports

        return bool(abs(spearmanr(block[:, 0], y).statistic) >= LEAK_RANK)
    from sklearn.tree import DecisionTreeClassifier

    leaves = max(2 * classes, block.shape[1] + 1)
    if 10 * leaves > len(y):
        return False
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(block, y)
    return bool(tree.score(block, y) >= LEAK_ACCURACY)


def missing_remarks(columns: Columns) -> tuple[str, ...]:
    """A note for every mark that is read as missing, and for numbers that may be such marks."""
    remarks = []
    for name, values in columns.items():
        marks = {value for value in set(values) if value.casefold() in MARKS}
        if marks:
            remarks.append(f"column {name!r}: {listed(sorted(marks))} is read as missing")
        sentinel = sentinel_of(values)
        if sentinel:
            remarks.append(
                f"column {name!r}: {sentinel} is far from all other numbers; if it marks a missing "
                f"value, set `missing` to {sentinel}"
            )
    return tuple(remarks)


def sentinel_of(values: list[str]) -> str:
    """A repeated number such as -999, farther from the others than these are apart; else empty."""
    if has_words(values[:FIRST]):
        return ""
    x, words = parse_numbers(values)
    x = x[np.isfinite(x)]
    if words or len(x) < 2 * MIN_SENTINELS:
        return ""
    for end in (float(x.min()), float(x.max())):
        others = x[x != end]
        if end not in SENTINELS or len(x) - len(others) < MIN_SENTINELS or not len(others):
            continue
        if np.abs(others - end).min() > np.ptp(others) > 0:
            return f"{end:g}"
    return ""
