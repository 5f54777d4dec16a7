"""The folder of a search: its plan, study, result and pictures.

tune.json       recipe, settings and plan, enough to resume
study.db        every trial (SQLite, Optuna's own format)
result.json     every trial with its folds, the best one, the importance of each setting, the
                command that trains with the best settings
*.png           values in the order of the trials; from ten complete trials on, the importance of
                each setting and the value against the two most important ones
"""

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import InputError
from chainrule.runs.folder import Json, claim, is_empty, read_json, versions, write_json
from chainrule.runs.lock import locked
from chainrule.runs.schema import TuneConfig
from chainrule.training.schema import conform
from chainrule.tuning import study as studies
from chainrule.tuning.cross_validation import mean_and_error
from chainrule.tuning.database import check_url, optuna_or_refuse
from chainrule.tuning.search import Plan, Tuning, best_of, command_of, jsonable, rungs_of
from chainrule.tuning.space import changed

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

PLAN, STUDY = "tune.json", "study.db"
ENOUGH = 10  # trials needed to estimate importance


def begin(plan: Plan, folder: Path, study: str, trials: int | None, data: Path | None) -> str:
    """Claim a folder for a search, or find the same search in it; returns where its study is.

    study: a path or URL; empty for the one in the folder.
    """
    if "://" in study:
        check_url(study)
    elsewhere = study if "://" in study else str(Path(study).resolve()) if study else ""
    if elsewhere == str((folder / STUDY).resolve()):
        elsewhere = ""  # so that the folder can be moved
    config = {
        "plan": asdict(plan),
        "study": elsewhere or None,
        "trials": trials,
        "data": str(data.resolve()) if data else None,
        "versions": versions(),
    }
    claim(folder)
    with locked(folder):
        if (folder / PLAN).exists():
            known, before = open_plan(folder)
            if known == plan and (
                not study or place_of(folder, config) == place_of(folder, before)
            ):
                return place_of(folder, before)
            raise InputError(
                f"{folder} holds another search; choose another `out`, or resume it: "
                f"chainrule tune --resume {folder}"
            )
        if not is_empty(folder):
            raise InputError(f"the folder {folder} is not empty; choose another `out`")
        write_json(folder / PLAN, config)
        return place_of(folder, config)


def place_of(folder: Path, config: Json) -> str:
    """The path or URL of a folder's study, independent of the working directory."""
    return config["study"] or str((folder / STUDY).resolve())


def open_plan(folder: Path) -> tuple[Plan, Json]:
    """The plan of a folder, and where its study, data and trials are."""
    if not (folder / PLAN).is_file():
        raise InputError(f"{folder} holds no search: it has no {PLAN}; chainrule tune makes one")
    config: Json = dict(read_json(folder / PLAN, TuneConfig))
    conform(config["plan"], Plan, folder / PLAN, "plan")
    return Plan(**config["plan"] | {"space": tuple(config["plan"]["space"])}), config


def summary(tuning: Tuning, seconds: float) -> Json:
    """The result of a search."""
    trials = studies.living(tuning.study)
    rows = [row_of(tuning, trial) for trial in trials if trial.state.name != "WAITING"]
    best = best_of(trials, tuning.sign)
    running = sum(trial.state.name == "RUNNING" for trial in trials)
    remarks = list(tuning.remarks)
    if running:
        remarks.append(f"{running} trials are still running elsewhere")
    return {
        "recipe": tuning.plan.recipe,
        "metric": tuning.metric.name,
        "folds": tuning.plan.folds,
        "examples": len(tuning.pool.data.train.x),
        "better": "smaller" if tuning.sign > 0 else "greater",
        "trials": rows,
        "best": row_of(tuning, best) if best else None,
        "importance": importance(tuning),
        "command": command_of(tuning, best) if best else None,
        "plan": asdict(tuning.plan),
        "remarks": remarks,
        "seconds": seconds,
        "versions": versions() | {"optuna": optuna_or_refuse().__version__},
    }


def row_of(tuning: Tuning, trial: "FrozenTrial") -> Json:
    """A trial: its settings, the mean over the folds with its standard error, its state."""
    drawn = {d.name for d in tuning.space}
    settings: Json = {}
    if drawn <= set(trial.params):
        recipe = changed(tuning.recipe, tuning.space, trial.params)
        settings = {d.name: recipe.value(d.name) for d in tuning.space}
    folds = trial.user_attrs.get("folds", [])
    value, error = mean_and_error(folds) if folds else (math.nan, math.nan)
    return {
        "trial": studies.planned(trial),
        "state": trial.state.name.lower(),
        "value": value,
        "standard_error": error,
        "folds": folds,
        "settings": jsonable(settings),
        "seconds": trial.user_attrs.get("seconds"),
    }


def importance(tuning: Tuning) -> dict[str, float]:
    """The share of the variance that each setting explains (fANOVA); empty with few trials.

    Only values after equally many epochs are compared: of trials that came to the end or, with
    halving, of all in the first rung.
    """
    optuna = optuna_or_refuse()
    short = optuna.create_study(direction=tuning.study.direction)
    rung = rungs_of(tuning.recipe.settings.epochs, tuning.plan.halving)[0]
    ended = ("COMPLETE", "PRUNED") if tuning.plan.halving else ("COMPLETE",)
    for trial in studies.in_state(tuning.study, *ended):
        value = trial.intermediate_values.get(rung) if tuning.plan.halving else trial.value
        if value is not None and math.isfinite(value) and trial.params:
            short.add_trial(
                optuna.trial.create_trial(
                    params=used(tuning, trial), distributions=trial.distributions, value=value
                )
            )
    values = [trial.value for trial in short.get_trials(deepcopy=False)]
    if len(values) < ENOUGH or len(set(values)) < 2:
        return {}
    judge = optuna.importance.FanovaImportanceEvaluator(seed=0)
    try:
        return dict(optuna.importance.get_param_importances(short, evaluator=judge))
    except (RuntimeError, ValueError):  # the values vary too little
        return {}


def used(tuning: Tuning, trial: "FrozenTrial") -> Json:
    """The drawn values, the same for all draws that mean the same setting, such as 0."""
    same = {d.name: d.drawn(d.value(trial.params[d.name])) for d in tuning.space}
    return trial.params | {name: drawn for name, drawn in same.items() if drawn is not None}


def draw(result: Json, tuning: Tuning, folder: Path) -> None:
    """Draw the pictures for which there are enough trials."""
    from chainrule.learning.metrics import format_metric
    from chainrule.plots.style import save
    from chainrule.plots.tuning import (
        hyperparameter_importance,
        optimization_history,
        slice_plot,
    )

    found = [row for row in result["trials"] if math.isfinite(row["value"])]
    metric, matters = result["metric"], result["importance"]
    rising = result["better"] == "greater"
    if len(found) > 1:
        values = [row["value"] for row in found]
        ended = [row["state"] == "complete" for row in found]
        history = optimization_history(values, ended, metric, rising, format_metric)
        save(history, folder / "history.png")
    if matters:
        title = f"hyperparameter importance for the {metric} of {result['recipe']}"
        save(hyperparameter_importance(matters, title), folder / "importance.png")
        series: dict[str, Any] = {}
        logarithmic = {d.name for d in tuning.space if d.logarithmic}
        for name in list(matters)[:2]:
            series[name] = [written(row["settings"][name]) for row in found]
        values, errors = ([row[key] for row in found] for key in ("value", "standard_error"))
        ended = [row["state"] == "complete" for row in found]
        slices = slice_plot(
            series, values, errors, ended, metric, logarithmic, rising, format_metric
        )
        save(slices, folder / "slices.png")


def written(value: Any) -> Any:
    """A number unchanged, equal numbers as one, anything else as text."""
    if isinstance(value, list) and len(set(value)) == 1 and isinstance(value[0], float):
        return value[0]
    return value if isinstance(value, int | float) else " ".join(map(str, as_list(value)))


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
