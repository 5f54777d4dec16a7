"""A search by cross-validation: 5 folds × 8 settings of a perceptron on 1,000 rows."""

from typing import Any

import numpy as np

from benchmarks.suite.contract import Contender, Quality, Race, Ready

RATES, PENALTIES, FOLDS = [1e-3, 3e-3, 1e-2, 3e-2], [1e-4, 1e-2], 5


def table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    x, y = make_classification(rows, 30, n_informative=10, random_state=0)
    return x.astype(np.float32), y


def together(rows: int, hidden: int, epochs: int) -> Ready:
    """chainrule.tuning.GridSearchCV over our MLPClassifier: all candidates and folds at once."""
    from chainrule import estimators, tuning

    network = estimators.MLPClassifier(
        hidden_layer_sizes=(hidden,), max_iter=epochs, batch_size=64, random_state=0
    )
    grid = {"learning_rate_init": RATES, "weight_decay": PENALTIES}
    return searching(lambda: tuning.GridSearchCV(network, grid, cv=FOLDS, refit=False), rows)


def scikit_learn(rows: int, hidden: int, epochs: int) -> Ready:
    """scikit-learn's GridSearchCV in as many processes as threads are allowed."""
    import os

    from sklearn.model_selection import GridSearchCV
    from sklearn.neural_network import MLPClassifier

    from benchmarks.suite.tuning import quiet_warnings

    quiet_warnings()
    network = MLPClassifier(
        (hidden,), batch_size=64, max_iter=epochs, n_iter_no_change=epochs, random_state=0
    )
    grid = {"learning_rate_init": RATES, "alpha": PENALTIES}
    jobs = int(os.environ.get("OMP_NUM_THREADS", "1"))
    return searching(lambda: GridSearchCV(network, grid, cv=FOLDS, refit=False, n_jobs=jobs), rows)


def searching(search: Any, rows: int) -> Ready:
    x, y = table(rows)
    return Ready(
        lambda: search().fit(x, y) is None, lambda _: float(search().fit(x, y).best_score_)
    )


ROW = Race(
    unit="the search",
    contenders={
        "chainrule": Contender(together),
        "scikit-learn": Contender(scikit_learn, ("scikit-learn",)),
    },
    cases={
        f"{hidden} units": {"rows": 1000, "hidden": hidden, "epochs": 20} for hidden in (10, 100)
    },
    tiny={"rows": 60, "hidden": 2, "epochs": 1},
    quality=Quality("best cross-validated accuracy", 0.03, absolute=True),
)
