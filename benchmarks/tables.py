"""Five tables: `train mlp` beside gradient boosting and the perceptron of scikit-learn.

    python benchmarks/tables.py --data FOLDER            five folds, three seeds: tables.json
    python benchmarks/tables.py --data FOLDER --choose   settings of ours on validation rows

Every method gets the same rows, encoded by the same `chainrule.data.table` on the training rows of
the fold. Ours keeps the weights of the best validation loss; the others get the validation rows as
further training rows, of which the perceptron holds out its own tenth for early stopping.
All run with one thread, beside other work.
"""

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor

from chainrule.data.datasets import spam
from chainrule.data.readers.tables.columns import Columns, read_csv
from chainrule.data.readers.tables.table import TableOptions, table
from chainrule.data.splits import Splits
from chainrule.recipes.feedforward.mlp import Recipe
from chainrule.runs.configuration import Configuration
from chainrule.runs.predictions import Predictions
from chainrule.runs.run import build

RESULT = Path(__file__).parent / "tables.json"
FOLDS, SEEDS = 5, (0, 1, 2)
Row = dict[str, float]


def breast_cancer() -> Columns:
    found = load_breast_cancer()
    columns = {
        str(n): [repr(float(v)) for v in found.data[:, k]]
        for k, n in enumerate(found.feature_names)
    }
    return columns | {"diagnosis": [str(found.target_names[k]) for k in found.target]}


def tables(folder: Path) -> dict[str, tuple[Columns, str]]:
    """Name: (columns, target)."""
    islp = folder / "islp"
    mails = spam.from_table(folder / "spam/Spam.txt")
    mails = {name: values for name, values in mails.items() if name != "test"}
    mails["spam"] = ["spam" if float(flag) else "email" for flag in mails["spam"]]
    return {
        "Default": (read_csv(islp / "Default.csv"), "default"),
        "Spam": (mails, "spam"),
        "Breast cancer": (breast_cancer(), "diagnosis"),
        "Auto": (read_csv(islp / "Auto.csv"), "mpg"),
        "Hitters": (read_csv(islp / "Hitters.csv"), "Salary"),
    }


def folds(columns: Columns, target: str, options: TableOptions) -> Iterator[tuple[Splits, int]]:
    """Every fold as the test split, for every seed."""
    values = columns[target]
    numbers = target in ("mpg", "Salary")
    kind = KFold if numbers else StratifiedKFold
    for seed in SEEDS:
        cut = kind(FOLDS, shuffle=True, random_state=seed)
        for _, held in cut.split(np.zeros(len(values)), None if numbers else values):
            rows = np.zeros(len(values), bool)
            rows[held] = True
            task = "regression" if numbers else None
            given = replace(options, test_rows=rows.tolist())
            yield table(columns, target, seed, task=task, options=given), seed


def ours(data: Splits, recipe: Recipe, split: str = "test") -> np.ndarray:
    """Probabilities or numbers by `train mlp`."""
    model = build(Configuration(recipe), recipe.summarize(data))
    for _ in recipe.fit(model, data, None, "cpu"):
        pass
    output = Predictions(recipe, model.eval(), data).outputs(split)
    return output.softmax(1).double().numpy() if data.classes else output.flatten().double().numpy()


def peer(data: Splits, estimator: Any) -> np.ndarray:
    """Probabilities or numbers by an estimator of scikit-learn."""
    x = np.concatenate([data.train.x.numpy(), data.validation.x.numpy()])
    y = np.concatenate([data.train.y.numpy(), data.validation.y.numpy()])
    mean, std = (0.0, 1.0) if data.classes else (y.mean(), y.std())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(x, y if data.classes else (y - mean) / std)
    test = data.test.x.numpy()
    return estimator.predict_proba(test) if data.classes else estimator.predict(test) * std + mean


def measured(found: np.ndarray, y: np.ndarray, classes: bool) -> Row:
    if not classes:
        missed = float(np.sqrt(np.mean((found - y) ** 2)))
        return {"rmse": missed, "r2": float(1 - missed**2 / np.var(y))}
    found = np.clip(found, 1e-7, 1) / np.clip(found, 1e-7, 1).sum(1, keepdims=True)
    return {
        "log_loss": float(log_loss(y, found, labels=range(found.shape[1]))),
        "error": float((found.argmax(1) != y).mean()),
        "auc": float(roc_auc_score(y, found[:, 1])),
    }


def methods(seed: int, classes: bool) -> dict[str, Callable[[Splits], np.ndarray]]:
    recipe = Recipe(table="", target="").changed(seed=seed)
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    perceptron = MLPClassifier if classes else MLPRegressor
    settings = {"early_stopping": True, "max_iter": 500, "n_iter_no_change": 25}
    return {
        "train mlp": lambda data: ours(data, recipe),
        "HistGradientBoosting": lambda data: peer(data, boosting(random_state=seed)),
        "scikit-learn MLP": lambda data: peer(
            data, perceptron(hidden_layer_sizes=(64, 64), random_state=seed, **settings)
        ),
    }


def summary(rows: list[Row]) -> dict[str, list[float]]:
    """Mean over all folds and seeds, and the deviation of the means of the seeds."""
    by_seed = [rows[k * FOLDS : (k + 1) * FOLDS] for k in range(len(SEEDS))]
    found = {}
    for name in rows[0]:
        means = [fmean(row[name] for row in part) for part in by_seed]
        found[name] = [fmean(means), stdev(means)]
    return found


def compare(name: str, columns: Columns, target: str, kept: Path | None) -> dict[str, Any]:
    rows: dict[str, list[Row]] = {}
    if kept and kept.exists():
        rows = json.loads(kept.read_text()).get(name, {})
    examples = 0
    for number, (data, seed) in enumerate(folds(columns, target, TableOptions(long_tails=True))):
        examples = sum(len(split.y) for split in (data.train, data.validation, data.test))
        for method, run in methods(seed, bool(data.classes)).items():
            if number < len(rows.get(method, [])):
                continue
            began = time.process_time()
            row = measured(run(data), data.test.y.numpy(), bool(data.classes))
            row["processor_seconds"] = time.process_time() - began
            rows.setdefault(method, []).append(row)
            if kept:
                kept.write_text(json.dumps({name: rows}))
    found = {method: summary(each) for method, each in rows.items()}
    for method, values in found.items():
        shown = "  ".join(f"{m} {v[0]:.4g} ± {v[1]:.2g}" for m, v in values.items())
        print(f"{name:14} {method:28} {shown}", flush=True)
    return {"rows": examples, "target": target, "methods": found}


BEFORE = {"long_tails": False, "weight_decay": 1e-4, "epochs": 200}
VARIANTS: dict[str, dict[str, Any]] = {
    "before": BEFORE,
    "long tails": BEFORE | {"long_tails": True},
    "decay 1e-2": BEFORE | {"weight_decay": 1e-2},
    "both": BEFORE | {"long_tails": True, "weight_decay": 1e-2},
    "now": {"long_tails": True},
}


def choose(name: str, columns: Columns, target: str) -> None:
    """The validation loss of several settings of ours, on the folds of the first seed."""
    found: dict[str, list[float]] = {}
    for variant, changed in VARIANTS.items():
        tails = {k: v for k, v in changed.items() if k == "long_tails"}
        rest = {k: v for k, v in changed.items() if k != "long_tails"}
        every = folds(columns, target, TableOptions(**tails))
        for data, seed in islice(every, FOLDS):
            recipe = Recipe(table="", target="").changed(seed=seed, **rest)
            output = ours(data, recipe, "validation")
            row = measured(output, data.validation.y.numpy(), bool(data.classes))
            found.setdefault(variant, []).append(row["log_loss" if data.classes else "rmse"])
    usual = fmean(found["before"])
    for variant, losses in found.items():
        print(
            f"{name:14} {variant:14} {fmean(losses):.5g}  {fmean(losses) / usual:.3f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--kept", type=Path, help="a file that keeps the folds of one table")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    torch.set_num_threads(1)
    chosen = {
        n: t for n, t in tables(options.data).items() if not options.only or n in options.only
    }
    if options.choose:
        for name, (columns, target) in chosen.items():
            choose(name, columns, target)
        return
    about = {
        "folds": FOLDS,
        "seeds": list(SEEDS),
        "date": datetime.now(UTC).date().isoformat(),
        "processor": platform.processor() or platform.machine(),
        "note": "one thread, beside other work; ± is the deviation of the means of the seeds",
    }
    for name, (columns, target) in chosen.items():
        known = json.loads(RESULT.read_text())["tables"] if RESULT.exists() else {}
        known[name] = compare(name, columns, target, options.kept)
        RESULT.write_text(json.dumps(about | {"tables": known}, indent=1) + "\n")


if __name__ == "__main__":
    main()
