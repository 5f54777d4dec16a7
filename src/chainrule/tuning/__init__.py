"""Search spaces, cross-validation, studies, and scikit-learn's grid search at our speed."""

from typing import Any


def __getattr__(name: str) -> Any:
    """GridSearchCV, imported when it is first asked for."""
    if name != "GridSearchCV":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from chainrule.tuning.grid_search import GridSearchCV

    return GridSearchCV
