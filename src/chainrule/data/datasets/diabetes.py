"""Diabetes: progression of the disease of 442 patients after one year.

Ten measurements at baseline; part of scikit-learn. A fixed fifth is the test split; the seed draws
another fifth for validation.
"""

from pathlib import Path

from chainrule.data.readers.tables.table import table
from chainrule.data.splits import About, Splits

ABOUT = About(
    task="regression",
    source="scikit-learn, sklearn.datasets.load_diabetes",
    license="BSD 3-Clause (package scikit-learn)",
    citation="Efron, Hastie, Johnstone and Tibshirani (2004), Least angle regression",
    shapes="x (n, 10) standardized; y progression from 25 to 346; 266 / 88 / 88",
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    columns["progression"] = bunch.target
    return table(columns, target="progression", seed=seed, task="regression")
