"""Hitters: salaries of 263 baseball players (in thousands of dollars, 1987).

The 59 players without a salary are dropped. The test split is the third that the book's lab holds
out; the seed draws 35 players for validation.
"""

from pathlib import Path

from chainrule.data.readers.islp import about, islp_table
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.table import TableOptions, table
from chainrule.data.splits import Splits

ABOUT = about(
    "regression",
    "Hitters",
    "x (n, 22): 16 standardized numbers, 3 one-hot categories; y salary; 140 / 35 / 88",
)
CHECKSUM = "ebf7b9dff89366b0544fea09c0ac2df9abdbf5b4ce8d96651316c2c12793d952"
COLUMNS = (
    "AtBat Hits HmRun Runs RBI Walks Years CAtBat CHits CHmRun CRuns CRBI CWalks "
    "League Division PutOuts Assists Errors Salary NewLeague"
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    from sklearn.model_selection import train_test_split

    columns = islp_table("Hitters", CHECKSUM, 322, tuple(COLUMNS.split()), folder)
    salaries = columns["Salary"]
    known = [row for row, salary in enumerate(salaries) if not is_missing(salary)]
    test_rows = set(train_test_split(known, test_size=1 / 3, random_state=1)[1])
    return table(
        columns,
        target="Salary",
        seed=seed,
        validation_fraction=35 / 263,
        task="regression",
        options=TableOptions(test_rows=[row in test_rows for row in range(len(salaries))]),
    )
