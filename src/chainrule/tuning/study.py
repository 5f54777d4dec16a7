"""A study on disk: trials are planned, claimed by a worker, and completed.

All trials are enqueued before the first one starts. A worker claims one atomically, so any number
of processes or machines can share a study and complete exactly its trials; trials claimed by a
worker that died are enqueued again with the same settings. What the sampler draws for a trial
depends only on (seed, trial, setting), so an interrupted study continues with the same trials.
"""

import os
import socket
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from chainrule.errors import InputError
from chainrule.training.randomness import mix
from chainrule.tuning.space import Dimension, Drawn

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

NAME = "tune"
ALIVE_EVERY, DEAD_AFTER = (
    20.0,
    300.0,
)  # seconds between heartbeats, and until a worker counts as dead
BORN = time.time_ns()  # after a reboot a worker may get the process id of a dead one
SAMPLERS = ("tpe", "random", "grid")


def optuna_or_refuse() -> Any:
    """Import Optuna, an optional dependency, and silence its log."""
    try:
        import optuna
    except ImportError:
        raise InputError(
            "tune needs Optuna, which is not installed: pip install 'chainrule[tune]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def url_of(place: str) -> str:
    """A database URL unchanged, a path as a URL of SQLite."""
    return place if "://" in place else f"sqlite:///{Path(place).resolve()}"


def patient(url: str) -> dict[str, Any]:
    """Let workers on one file wait for each other instead of failing after five seconds."""
    return {"connect_args": {"timeout": 120}} if url.startswith("sqlite") else {}


def open_study(place: str, plan: dict[str, Any], maximize: bool, prunes: bool) -> "Study":
    """The study at a path or URL, created if there is none; it must have the same plan."""
    optuna = optuna_or_refuse()
    if "://" not in place and Path(place).is_dir():
        raise InputError(f"`study` {place} is a folder; expected a file such as {place}/study.db")
    url = url_of(place)
    try:
        study = optuna.create_study(
            storage=optuna.storages.RDBStorage(url, engine_kwargs=patient(url)),
            study_name=NAME,
            load_if_exists=True,
            direction="maximize" if maximize else "minimize",
            pruner=optuna.pruners.MedianPruner() if prunes else optuna.pruners.NopPruner(),
        )
        begun = study.user_attrs.get("plan")
        living(study)  # reads every trial
    except Exception as error:  # whatever the database driver raises
        raise InputError(f"cannot open the study {place}: {said_by(error)}") from None
    if begun is None:
        study.set_user_attr("plan", plan)
    elif differing := sorted(k for k in {*begun, *plan} if begun.get(k) != plan.get(k)):
        raise InputError(
            f"the study {place} was created for {begun.get('recipe')} and differs in "
            f"{', '.join(differing)}; use another `study`, or the command that created it"
        )
    return study


@contextmanager
def database_errors(place: str) -> Iterator[None]:
    """Turn a database that cannot be read or written any more into one sentence."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        raise InputError(
            f"the study {place} cannot be read or written: {said_by(error)}; its completed trials "
            "are kept, and chainrule tune --resume continues it"
        ) from None


def said_by(error: Exception) -> str:
    """The first line of what a database says, by its driver where there is one."""
    cause = error.__cause__ or error
    return (str(getattr(cause, "orig", cause)).strip() or type(cause).__name__).splitlines()[0]


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

    Rounds are fixed, so that what is trained together does not depend on interruptions.
    """
    trials: list[Trial] = []
    fixed: dict[str, Any] = {}
    while waiting := in_state(study, "WAITING"):
        if trials and planned(waiting[0]) // most != planned(trials[0]) // most:
            break
        trial = study.ask()
        if trial.number not in {t.number for t in living(study)}:  # another worker was faster
            study.tell(trial, state=fail_state())
            continue
        trial.set_user_attr("worker", me())
        for place, dimension in enumerate(space):
            study.sampler = sampler_of(sampler, mix(mix(seed, planned(trial)), place), fixed)
            dimension.suggest(trial)
        fixed = {d.name: trial.params[d.name] for d in space if d.shared}
        trials.append(trial)
    return trials


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


def fail_state() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL


def give_back(study: "Study", trials: "Sequence[Trial | FrozenTrial]") -> None:
    """Enqueue claimed trials again with the settings they have."""
    from optuna.trial import TrialState

    numbers = {trial.number for trial in trials}
    for trial in in_state(study, "RUNNING"):
        if trial.number in numbers:
            study._storage.set_trial_state_values(trial._trial_id, TrialState.WAITING)


def take_back_from_the_dead(study: "Study") -> None:
    """Enqueue the trials of workers again that are no longer alive."""
    seen = study.user_attrs
    dead = [t for t in in_state(study, "RUNNING") if not alive(t.user_attrs.get("worker"), seen)]
    give_back(study, dead)


def mine(study: "Study", trials: "Sequence[Trial]") -> "list[Trial]":
    """The trials that no other worker has taken over in the meantime."""
    held = {t.number for t in in_state(study, "RUNNING") if t.user_attrs.get("worker") == me()}
    return [trial for trial in trials if trial.number in held]


def me() -> str:
    """This worker's name."""
    return f"{socket.gethostname()}:{os.getpid()}:{BORN}"


def show_life(study: "Study") -> float:
    """Record a heartbeat for other workers; returns its time."""
    study.set_user_attr(f"alive {me()}", time.time())
    return time.monotonic()


def alive(worker: str | None, seen: dict[str, Any]) -> TypeGuard[str]:
    """Whether a worker of this machine is running, or one elsewhere sent a recent heartbeat."""
    if worker is None or worker == me():
        return worker is not None
    machine, process = worker.split(":")[:2]
    if machine == socket.gethostname():
        return int(process) != os.getpid() and running(int(process))
    return time.time() - seen.get(f"alive {worker}", 0.0) <= DEAD_AFTER


def spend(study: "Study", seconds: float) -> float:
    """Record how long this worker has searched; returns the sum over all sessions."""
    key = f"seconds {me()}"
    study.set_user_attr(key, study.user_attrs.get(key, 0.0) + seconds)
    return sum(v for k, v in study.user_attrs.items() if k.startswith("seconds "))


def running(process: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
