"""Tuning a recipe: an Optuna study whose trials are cross-validated many at once.

    round    claim P trials of one architecture, with their numeric settings
             train P points × K folds in one program, prune the program when all its points are bad
    halving  train all points for E/9 epochs, the best third for E/3, the best ninth for E

Each rung of halving trains from scratch: schedules depend on t/T, so the networks of a rung have
completed a whole schedule of its length and are compared at their best. Bergstra et al. (2011,
TPE), Jamieson and Talwalkar (2016, halving), Hutter et al. (2014, fANOVA).
Notes: L "Tuning and model selection".
"""

import math
import shlex
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import InputError
from chainrule.learning.metrics import Metric
from chainrule.runs.configuration import configure_from_json, require
from chainrule.runs.recipe import BaseRecipe
from chainrule.runs.run import recipe_entry
from chainrule.tuning import study as studies
from chainrule.tuning.cross_validation import (
    Pool,
    cross_validate,
    default_metric,
    groups,
    mean_and_error,
    pool_of,
    try_out,
)
from chainrule.tuning.space import Dimension, changed, flags, grid, own_point, space_of
from chainrule.tuning.workers import heartbeats

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

REPORTS = (0.125, 0.25, 0.5, 0.75)  # shares of the epochs after which a program may be pruned
ETA = 3  # 1 in ETA points is promoted to the next rung, for ETA times as many epochs
DEFAULT_TRIALS = 24
PAUSE = 0.2  # seconds between two looks at the trials of other workers


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The search space and method of a study, the same for all its workers."""

    recipe: str
    settings: dict[str, Any]
    space: tuple[str, ...] = ()
    folds: int = 5
    metric: str = ""
    sampler: str = "tpe"
    pruner: str = "median"
    halving: bool = False
    points: int = 0

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise InputError(f"`folds` must be at least 2, got {self.folds}")
        if self.points < 0:
            raise InputError(f"`points` must be at least 1, or 0 for a default, got {self.points}")
        object.__setattr__(self, "settings", jsonable(self.settings))

    @property
    def together(self) -> int:
        """Points of one architecture that are trained at once."""
        return self.points or (ETA**3 if self.halving else 8)


@dataclass(frozen=True)
class Step:
    """Progress of a search."""

    done: int
    trials: int
    fraction: float
    best: float | None


@dataclass
class Tuning:
    """A plan with its recipe, data, space and study, as one worker needs them."""

    plan: Plan
    recipe: BaseRecipe
    pool: Pool
    space: list[Dimension]
    study: "Study"
    metric: Metric
    sign: int
    remarks: list[str]
    data: Path | None = None

    @property
    def trials(self) -> int:
        return len(studies.living(self.study))


def prepare(plan: Plan, place: str, trials: int | None, data: Path | None) -> Tuning:
    """Open or create the study and enqueue its trials; the test split is never used."""
    entry = recipe_entry(plan.recipe)
    kind = entry.load().Recipe
    require(kind, entry.name, "tune")
    recipe = configure_from_json(kind, plan.settings).recipe
    if trials is not None and trials < 1:
        raise InputError(f"`trials` must be at least 1, got {trials}")
    pool = pool_of(recipe, data)
    task = recipe.task(pool.data)
    metric = task.metric(plan.metric) if plan.metric else default_metric(task)
    one_class_each = bool(pool.data.classes) and pool.data.train.y.ndim == 1
    one_class_each &= "label_smoothing" not in kind.unsupported
    space = space_of(recipe, plan.space, one_class_each)
    first, trials = begin_with(recipe, space, plan, trials)
    if plan.halving and "epochs" in {dimension.name for dimension in space}:
        raise InputError("`halving` sets the epochs; leave them out of `space`")
    try_out(recipe, space, pool)
    sign = -1 if metric.higher_is_better else 1
    prunes = plan.pruner == "median" and not plan.halving
    study = studies.open_study(place, jsonable(asdict(plan)), sign < 0, prunes)
    studies.take_back_from_the_dead(study)
    studies.enqueue(study, trials, first)
    remarks = [] if first else ["the recipe's own settings lie outside the space"]
    return Tuning(plan, recipe, pool, space, study, metric, sign, remarks, data)


def begin_with(
    recipe: BaseRecipe, space: list[Dimension], plan: Plan, trials: int | None
) -> tuple[list[dict[str, Any]], int]:
    """The points to try first, and the number of trials; a grid is given in full."""
    if plan.sampler == "grid":
        if not plan.space:
            raise InputError("`sampler` grid needs the values: `space` name=a|b|c …")
        points = grid(space)
        if trials is not None and trials < len(points):
            raise InputError(f"the grid has {len(points)} points, more than `trials` {trials}")
        return points, len(points)
    own = own_point(recipe, space)
    return ([own] if own else []), trials or DEFAULT_TRIALS


def search(tuning: Tuning) -> Generator[Step]:
    """Cross-validate trials until all have ended, those of others too; closing it releases ours."""
    while True:
        studies.take_back_from_the_dead(tuning.study)
        claimed = studies.claim(
            tuning.study,
            tuning.space,
            tuning.plan.together,
            tuning.recipe.seed,
            tuning.plan.sampler,
        )
        if not claimed:
            if not studies.in_state(tuning.study, "WAITING", "RUNNING"):
                return
            time.sleep(PAUSE)
            yield step_of(tuning)
            continue
        try:
            with heartbeats(tuning.study, claimed):
                yield from run_round(tuning, claimed)
        finally:
            studies.give_back(tuning.study, studies.mine(tuning.study, claimed))


def run_round(tuning: Tuning, trials: "list[Trial]") -> Generator[Step]:
    """Train the claimed points, rung by rung with halving."""
    points = [changed(tuning.recipe, tuning.space, trial.params) for trial in trials]
    rungs = rungs_of(tuning.recipe.settings.epochs, tuning.plan.halving)
    cost = sum(rungs[r] / ETA**r for r in range(len(rungs)))
    reached = {i: trial.user_attrs.get("rung", 0) for i, trial in enumerate(trials)}
    behind, base = 0.0, step_of(tuning)
    for number, epochs in enumerate(rungs):
        going = [i for i, rung_of_i in reached.items() if rung_of_i == number]
        rung = [points[i].changed(epochs=epochs) if len(rungs) > 1 else points[i] for i in going]
        share = epochs / ETA**number / cost
        found: dict[int, list[float]] = {}
        last = number == len(rungs) - 1
        for places in groups(rung, tuning.pool, tuning.plan.folds):
            mine = [trials[going[i]] for i in places]
            steps = run_group(tuning, [rung[i] for i in places], mine, prunable=len(rungs) == 1)
            part = len(places) / len(going)
            values: list[list[float]] | None = None
            for fraction, now in steps:
                values = now
                done = base.done + len(trials) * (behind + share * part * fraction)
                yield replace(base, fraction=min(1.0, done / base.trials))
            behind += share * part
            found |= {going[i]: v for i, v in zip(places, values or [], strict=False)}
        if last:
            finish(tuning, trials, found)
        else:
            reached |= dict.fromkeys(promote(tuning, trials, found, epochs), number + 1)


def rungs_of(epochs: int, halving: bool) -> list[int]:
    """Epochs of each rung: E/9, E/3, E."""
    return sorted({max(1, round(epochs / ETA**k)) for k in range(3 if halving else 1)})


def run_group(
    tuning: Tuning, points: list[BaseRecipe], trials: "list[Trial]", prunable: bool
) -> "Generator[tuple[float, list[list[float]] | None]]":
    """Cross-validate points together; ends without values if all of them are pruned."""
    began = time.perf_counter()
    epochs, metric = points[0].settings.epochs, tuning.metric
    reports = {max(1, round(share * epochs)) for share in REPORTS} - {epochs}
    values = None
    steps = cross_validate(points, tuning.pool, tuning.plan.folds, metric, tuning.remarks)
    with closing(steps):
        for now in steps:
            values = now.values or values
            yield now.fraction, None
            if prunable and now.values and now.epoch in reports:
                pairs = zip(trials, now.values, strict=True)
                good = [t for t, v in pairs if not reported(tuning, t, v, now.epoch)]
                if not good:
                    prune(tuning, trials, now.values)
                    return
    for trial in studies.mine(tuning.study, trials):
        trial.set_user_attr("seconds", (time.perf_counter() - began) / len(trials))
    yield 1.0, values


def reported(tuning: Tuning, trial: "Trial", values: list[float], epoch: int) -> bool:
    """Report an intermediate value; True if the pruner would stop, or another worker took over."""
    if not studies.mine(tuning.study, [trial]):
        return True
    known = tuning.study.get_trials(deepcopy=False)[trial.number].intermediate_values
    if epoch not in known:  # an interrupted trial may have reported it before
        trial.report(mean_and_error(values)[0], epoch)
    return bool(trial.should_prune())


def finish(tuning: Tuning, trials: "Sequence[Trial]", found: dict[int, list[float]]) -> None:
    """Report the final values of completed trials to the study."""
    for place, values in found.items():
        for trial in studies.mine(tuning.study, [trials[place]]):
            trial.set_user_attr("folds", values)
            tuning.study.tell(trial, mean_and_error(values)[0])


def prune(tuning: Tuning, trials: "Sequence[Trial]", values: list[list[float]]) -> None:
    """Report these trials as pruned."""
    from optuna.trial import TrialState

    for place, each in enumerate(values):
        for trial in studies.mine(tuning.study, [trials[place]]):
            trial.set_user_attr("folds", each)
            tuning.study.tell(trial, state=TrialState.PRUNED)


def promote(
    tuning: Tuning, trials: "Sequence[Trial]", found: dict[int, list[float]], epochs: int
) -> list[int]:
    """Promote the best of a rung and prune the others with the values they reached."""
    means = {place: mean_and_error(values)[0] for place, values in found.items()}
    for place in means:
        reported(tuning, trials[place], found[place], epochs)
    ranked = sorted(means, key=lambda place: (tuning.sign * means[place], place))
    best = sorted(ranked[: math.ceil(len(ranked) / ETA)])
    rung = rungs_of(tuning.recipe.settings.epochs, halving=True).index(epochs) + 1
    for trial in studies.mine(tuning.study, [trials[place] for place in best]):
        trial.set_user_attr("rung", rung)
    left = [place for place in found if place not in best]
    prune(tuning, [trials[place] for place in left], [found[place] for place in left])
    return best


def step_of(tuning: Tuning) -> Step:
    """The progress of the search."""
    trials = studies.living(tuning.study)
    ended = [t for t in trials if t.state.name in ("COMPLETE", "PRUNED")]
    best = best_of(ended, tuning.sign)
    return Step(len(ended), len(trials), len(ended) / len(trials), best.value if best else None)


def best_of(trials: "Sequence[FrozenTrial]", sign: int) -> "FrozenTrial | None":
    """The best completed trial with a finite value; of equal ones the first."""
    ended = [t for t in trials if t.state.name == "COMPLETE" and math.isfinite(t.value or 0.0)]
    return min(ended, key=lambda t: (sign * (t.value or 0.0), studies.planned(t)), default=None)


def command_of(tuning: Tuning, trial: "FrozenTrial") -> str:
    """The command that trains the recipe with the settings of a trial."""
    recipe = changed(tuning.recipe, tuning.space, trial.params)
    words = ["chainrule", "train", tuning.plan.recipe, *flags(recipe)]
    return shlex.join(words + (["--data", str(tuning.data.resolve())] if tuning.data else []))


def jsonable(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as they come back from JSON: tuples are lists."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()}
