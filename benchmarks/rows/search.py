"""A search by cross-validation: 5 folds × 8 settings of a perceptron on 1,000 rows, or on 150."""

from typing import Any

import numpy as np

from benchmarks.suite.contract import Contender, Quality, Race, Ready

RATES, PENALTIES, FOLDS = [1e-3, 3e-3, 1e-2, 3e-2], [1e-4, 1e-2], 5


def table(rows: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    x, y = make_classification(rows, 30, n_informative=10, random_state=0)
    return x.astype(np.float32), y


def ours(hidden: int, epochs: int) -> Any:
    from chainrule.estimators import MLPClassifier

    return MLPClassifier(
        hidden_layer_sizes=(hidden,),
        batch_size=64,
        max_iter=epochs,
        n_iter_no_change=epochs,
        random_state=0,
    )


def together(rows: int, hidden: int, epochs: int) -> Ready:
    """chainrule.tuning.GridSearchCV over our MLPClassifier: all candidates and folds at once."""
    from chainrule.tuning import GridSearchCV

    grid = {"learning_rate_init": RATES, "weight_decay": PENALTIES}
    return searching(lambda: GridSearchCV(ours(hidden, epochs), grid, cv=FOLDS, refit=False), rows)


def one_by_one(rows: int, hidden: int, epochs: int) -> Ready:
    """scikit-learn's GridSearchCV over our MLPClassifier."""
    grid = {"learning_rate_init": RATES, "weight_decay": PENALTIES}
    return by_scikit_learn(ours(hidden, epochs), grid, rows)


def scikit_learn(rows: int, hidden: int, epochs: int) -> Ready:
    """scikit-learn's GridSearchCV over its own MLPClassifier."""
    from sklearn.neural_network import MLPClassifier

    from benchmarks.suite.tuning import quiet_warnings

    quiet_warnings()
    network = MLPClassifier(
        (hidden,), batch_size=64, max_iter=epochs, n_iter_no_change=epochs, random_state=0
    )
    return by_scikit_learn(network, {"learning_rate_init": RATES, "alpha": PENALTIES}, rows)


def by_scikit_learn(network: Any, grid: Any, rows: int) -> Ready:
    """In as many processes as threads are allowed."""
    import os

    from sklearn.model_selection import GridSearchCV

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
        "chainrule, one by one": Contender(one_by_one),
        "scikit-learn": Contender(scikit_learn, ("scikit-learn",)),
    },
    cases={
        "10 units": {"rows": 1000, "hidden": 10, "epochs": 20},
        "100 units": {"rows": 1000, "hidden": 100, "epochs": 20},
        "100 units, 150 rows": {"rows": 150, "hidden": 100, "epochs": 200},
    },
    tiny={"rows": 60, "hidden": 2, "epochs": 1},
    quality=Quality("best cross-validated accuracy", 0.03, absolute=True),
)
