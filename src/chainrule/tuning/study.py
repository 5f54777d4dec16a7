"""A study in a database: trials are planned, claimed by a worker, and completed.

All trials are enqueued before the first one starts. A worker claims a round of them atomically, so
any number of processes or machines can share a study and complete exactly its trials. A thread of
the worker records heartbeats; trials of a worker that died are enqueued again with the same
settings.

What the sampler draws for a trial depends only on (seed, trial, setting) and, for TPE, on the
trials completed before. So an interrupted study continues with the same trials, and grid and random
search try the same settings however many workers share them. TPE with several workers does not:
what it has seen by then depends on their speed.
"""

import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.errors import InputError
from chainrule.training.randomness import mix
from chainrule.tuning.database import check_url, optuna_or_refuse, said_by, storage_of, url_of
from chainrule.tuning.space import Dimension, Drawn
from chainrule.tuning.workers import alive, beat, me

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

NAME = "tune"
OPENING = 5  # attempts: workers that create the tables at the same moment disturb each other
SAMPLERS = ("tpe", "random", "grid")


def open_study(place: str, plan: dict[str, Any], maximize: bool, prunes: bool) -> "Study":
    """The study at a path or URL, created if there is none; it must have the same plan."""
    optuna = optuna_or_refuse()
    if "://" not in place and Path(place).is_dir():
        raise InputError(f"`study` {place} is a folder; expected a file such as {place}/study.db")
    check_url(place)
    for attempt in range(1, OPENING + 1):
        try:
            study = optuna.create_study(
                storage=storage_of(url_of(place)),
                study_name=NAME,
                load_if_exists=True,
                direction="maximize" if maximize else "minimize",
                pruner=optuna.pruners.MedianPruner() if prunes else optuna.pruners.NopPruner(),
            )
            begun = study.user_attrs.get("plan")
            if begun is None:
                study.set_user_attr("plan", plan)
            living(study)  # reads every trial
            break
        except Exception as error:  # whatever the database driver raises
            if attempt == OPENING or "://" not in place:
                raise InputError(f"cannot open the study {place}: {said_by(error)}") from None
            time.sleep(attempt / 2)
    begun = begun or plan
    if differing := sorted(k for k in {*begun, *plan} if begun.get(k) != plan.get(k)):
        raise InputError(
            f"the study {place} was created for {begun.get('recipe')} and differs in "
            f"{', '.join(differing)}; use another `study`, or the command that created it"
        )
    return study


def enqueue(study: "Study", trials: int, first: Sequence[dict[str, Drawn]]) -> None:
    """Enqueue the trials that are still missing; the first ones have given settings."""
    for number in range(len(living(study)), trials):
        given = first[number] if number < len(first) else {}
        study.enqueue_trial(given, user_attrs={"planned": number})


def living(study: "Study") -> "list[FrozenTrial]":
    """The planned trials in order; if two workers enqueued the same one, the first."""
    first: dict[int, FrozenTrial] = {}
    for trial in study.get_trials(deepcopy=False):
        if "planned" in trial.user_attrs:
            first.setdefault(planned(trial), trial)
    return [first[number] for number in sorted(first)]


def in_state(study: "Study", *names: str) -> "list[FrozenTrial]":
    """The planned trials that are WAITING, RUNNING, COMPLETE or PRUNED."""
    return [trial for trial in living(study) if trial.state.name in names]


def claim(
    study: "Study", space: Sequence[Dimension], most: int, seed: int, sampler: str
) -> "list[Trial]":
    """The waiting trials of one round, with settings; those not given share an architecture.

    Rounds are fixed, and a round belongs to one worker at a time, so that what is trained together
    depends neither on interruptions nor on the number of workers.
    """
    from optuna import load_study

    fixed: dict[str, Any] = {}
    trials: list[Trial] = []
    view = load_study(study_name=NAME, storage=study._storage, pruner=study.pruner)
    for trial in claimed_round(view, most):
        trial.set_user_attr("worker", me())
        for place, dimension in enumerate(space):
            view.sampler = sampler_of(sampler, mix(mix(seed, planned(trial)), place), fixed)
            dimension.suggest(trial)
        fixed = {d.name: trial.params[d.name] for d in space if d.shared}
        trials.append(trial)
    return trials


def claimed_round(study: "Study", most: int) -> "list[Trial]":
    """The waiting trials of the first round in which none is running, now running for us."""
    for _, each in groupby(living(study), key=lambda trial: planned(trial) // most):
        group = list(each)
        waiting = [trial for trial in group if trial.state.name == "WAITING"]
        if not waiting or any(trial.state.name == "RUNNING" for trial in group):
            continue
        first = started(study, waiting[0])
        if first is not None:  # else another worker was faster
            rest = [started(study, trial) for trial in waiting[1:]]
            return [first, *(trial for trial in rest if trial is not None)]
    return []


def started(study: "Study", trial: "FrozenTrial") -> "Trial | None":
    """A waiting trial as a running one of ours; None if another worker has it.

    The heartbeat comes first, so that every running trial has one.
    """
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import Trial, TrialState

    beat(study, [trial._trial_id])
    with suppress(UpdateFinishedTrialError):
        if study._storage.set_trial_state_values(trial._trial_id, TrialState.RUNNING):
            return Trial(study, trial._trial_id)
    return None


def planned(trial: "Trial | FrozenTrial") -> int:
    """The index of a trial in the plan."""
    return int(trial.user_attrs["planned"])


def sampler_of(name: str, seed: int, fixed: dict[str, Any]) -> "BaseSampler":
    """A new sampler, whose draws depend on the seed and the trials so far."""
    from optuna.samplers import PartialFixedSampler, RandomSampler, TPESampler

    small = seed % 2**32
    base = TPESampler(seed=small, multivariate=False) if name == "tpe" else RandomSampler(small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "experimental" since Optuna 2.4
        return PartialFixedSampler(fixed, base)


def give_back(study: "Study", trials: "Sequence[Trial | FrozenTrial]") -> None:
    """Enqueue claimed trials again with the settings they have."""
    from optuna.trial import TrialState

    numbers = {trial.number for trial in trials}
    for trial in in_state(study, "RUNNING"):
        if trial.number in numbers:
            study._storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)


def take_back_from_the_dead(study: "Study") -> None:
    """Enqueue the trials of workers again that are no longer alive."""
    silent = set(study._storage._get_stale_trial_ids(study._study_id))  # type: ignore[attr-defined]
    give_back(study, [t for t in in_state(study, "RUNNING") if not alive(t, silent)])


def mine(study: "Study", trials: "Sequence[Trial]") -> "list[Trial]":
    """The trials that no other worker has taken over in the meantime."""
    held = {t.number for t in in_state(study, "RUNNING") if t.user_attrs.get("worker") == me()}
    return [trial for trial in trials if trial.number in held]


def spend(study: "Study", seconds: float) -> float:
    """Record how long this worker has searched; returns the sum over all sessions."""
    key = f"seconds {me()}"
    study.set_user_attr(key, study.user_attrs.get(key, 0.0) + seconds)
    return sum(v for k, v in study.user_attrs.items() if k.startswith("seconds "))
