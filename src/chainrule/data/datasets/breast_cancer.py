"""Breast cancer: 569 tumors, benign or malignant, by 30 measurements of cell nuclei.

Part of scikit-learn. A fixed, stratified fifth is the test split; the seed draws another fifth for
validation.
"""

from pathlib import Path

from chainrule.data.readers.tables.table import table
from chainrule.data.splits import About, Splits

ABOUT = About(
    task="classification",
    source="scikit-learn, sklearn.datasets.load_breast_cancer (UCI 17)",
    license="CC BY 4.0",
    citation="Street, Wolberg and Mangasarian (1993), Nuclear feature extraction for breast tumor "
    "diagnosis",
    shapes="x (n, 30) standardized; y benign, malignant; 341 / 114 / 114",
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    columns["diagnosis"] = bunch.target_names[bunch.target]
    return table(columns, target="diagnosis", seed=seed)
