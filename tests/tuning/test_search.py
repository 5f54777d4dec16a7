"""A search for settings: what it tries, how it goes on, and what it must not look at."""

import math
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.recipes.convolution import digits_unet
from chainrule.recipes.feedforward.moons_mlp import Recipe
from chainrule.runs.configuration import Configuration
from chainrule.runs.options import OPTION_OF
from chainrule.runs.recipe import BaseRecipe
from chainrule.runs.run import build
from chainrule.training import fit
from chainrule.training.batched.run import k_folds
from chainrule.tuning import cross_validation as cv
from chainrule.tuning import database, workers
from chainrule.tuning import search as tuning
from chainrule.tuning import study as studies
from chainrule.tuning.result import importance, summary, used
from chainrule.tuning.space import changed, flags, grid, own_point, space_of

pytest.importorskip("optuna")
SMALL = Recipe.configured(num_samples=90, hidden=(4,), epochs=3, batch_size=64)
RATES = ("learning_rate=1e-3:1e-1:log", "hidden=3|5")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def settings_of(recipe: BaseRecipe) -> dict[str, Any]:
    """All its settings as `chainrule tune` takes them from the flags."""
    values = Configuration(recipe).values()
    return {name: value for name, value in values.items() if name not in OPTION_OF}


def plan(**more: Any) -> tuning.Plan:
    values: dict[str, Any] = {"space": RATES, "folds": 2, "points": 2, "pruner": "none"} | more
    return tuning.Plan(recipe="moons-mlp", settings=settings_of(SMALL), **values)


def searched(
    made: tuning.Plan, place: str = "study.db", trials: int | None = 4
) -> list[dict[str, Any]]:
    """The trials of a search carried to its end."""
    return rows(finished(made, place, trials))


def finished(made: tuning.Plan, place: str, trials: int | None = 4) -> tuning.Tuning:
    prepared = tuning.prepare(made, place, trials, None)
    for _ in tuning.search(prepared):
        pass
    return prepared


def rows(of: tuning.Tuning) -> list[dict[str, Any]]:
    """Everything found, but for the time it took."""
    return [{k: v for k, v in row.items() if k != "seconds"} for row in summary(of, 0.0)["trials"]]


def test_the_first_trial_is_the_recipe_itself_and_equals_networks_trained_alone() -> None:
    exact = SMALL.changed(learning_rate=0.0123456)  # more digits than a drawn rate has
    made = tuning.Plan(recipe="moons-mlp", settings=settings_of(exact), folds=3)
    (row,) = searched(made, trials=1)
    assert row["settings"]["learning_rate"] == 0.0123456
    pool = cv.pool_of(exact, None)
    x, y = pool.data.train
    alone = []
    for k, (learned, held) in enumerate(k_folds(len(x), 3, exact.seed)):
        own = exact.changed(seed=exact.seed + k)
        fold = (x[learned], y[learned]), (x[held], y[held])
        model = build(Configuration(own), pool.summary)
        alone.append(fit(model, *fold, settings=own.settings)[-1]["validation_error"])
    assert row["folds"] == pytest.approx(alone)
    mean, error = cv.mean_and_error(alone)
    assert (row["value"], row["standard_error"]) == pytest.approx((mean, error))


def test_the_mean_over_folds_and_its_standard_error() -> None:
    mean, error = cv.mean_and_error([0.1, 0.2, 0.6])
    assert mean == pytest.approx(0.3)
    assert error == pytest.approx(math.sqrt(0.07) / math.sqrt(3))
    assert cv.mean_and_error([0.1, math.inf]) == (math.inf, 0.0)


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_one_seed_one_search(sampler: str) -> None:
    one, again = (searched(plan(sampler=sampler), f"{n}.db") for n in "ab")
    assert one == again
    assert len({row["settings"]["learning_rate"] for row in one}) == 4


@pytest.mark.parametrize(("halving", "stop_after"), [(False, 5), (True, 1), (True, 4)])
def test_an_interrupted_search_goes_on_to_the_same_trials(halving: bool, stop_after: int) -> None:
    made = plan(halving=halving, points=4 if halving else 2)
    steps = tuning.search(tuning.prepare(made, "broken.db", 4, None))
    for number, _ in enumerate(steps, 1):
        if number == stop_after:
            break
    steps.close()
    left = tuning.prepare(made, "broken.db", 4, None)
    assert studies.in_state(left.study, "WAITING") and not studies.in_state(left.study, "RUNNING")
    assert searched(made, "broken.db") == searched(made, "straight.db")


def test_trials_of_a_worker_that_died_are_tried_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tuning.prepare(plan(), "broken.db", 4, None)
    with monkeypatch.context() as other:
        other.setattr(studies, "me", lambda: f"{workers.machine()}:{2**22 + 1}:1")
        claimed = studies.claim(prepared.study, prepared.space, 2, 0, "tpe")
    assert len(claimed) == len(studies.in_state(prepared.study, "RUNNING")) == 2
    assert searched(plan(), "broken.db") == searched(plan(), "straight.db")


def of_worker(name: str | None) -> Any:
    """A running trial of a worker."""
    return SimpleNamespace(_trial_id=7, user_attrs={"worker": name} if name else {})


@pytest.mark.parametrize("worker", ["elsewhere:12:1", None])
def test_a_worker_elsewhere_is_left_alone_until_it_is_silent(worker: str | None) -> None:
    assert workers.alive(of_worker(worker), silent={3})
    assert not workers.alive(of_worker(worker), silent={7})


def test_a_worker_here_is_dead_as_soon_as_its_process_is_gone() -> None:
    here = workers.machine()
    assert workers.alive(of_worker(f"{here}:{os.getppid()}:1"), silent=())
    assert workers.alive(of_worker(workers.me()), silent={7})
    assert not workers.alive(of_worker(f"{here}:{2**22 + 1}:1"), silent=())
    earlier = f"{here}:{os.getpid()}:1"  # of this number
    assert not workers.alive(of_worker(earlier), silent=())


def test_heartbeats_go_on_while_a_step_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "ALIVE_EVERY", 0.01)
    prepared = tuning.prepare(plan(), "study.db", 4, None)
    claimed = studies.claim(prepared.study, prepared.space, 2, 0, "random")
    beats: list[int] = []
    enough = threading.Event()

    def beat(study: Any, trials: Sequence[int]) -> None:
        beats.extend(trials)
        if len(beats) >= 6:
            enough.set()
        raise OSError("the database is gone for a moment")

    monkeypatch.setattr(workers, "beat", beat)
    with workers.heartbeats(prepared.study, claimed):
        assert enough.wait(60)
    assert beats[:4] == [trial._trial_id for trial in claimed] * 2


def test_a_round_belongs_to_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials and their settings are those of one worker, though two took turns."""
    made = plan(sampler="random", points=3)
    straight = searched(made, "one.db", 9)
    both = [tuning.prepare(made, "two.db", 9, None) for _ in range(2)]
    parts = []
    for turn in range(4):
        prepared = both[turn % 2]
        claimed = studies.claim(prepared.study, prepared.space, 3, prepared.recipe.seed, "random")
        parts.append([studies.planned(trial) for trial in claimed])
    assert parts == [[0, 1, 2], [3, 4, 5], [6, 7, 8], []]
    found = [t.params for t in studies.living(both[0].study)]
    one_of_three = studies.living(both[0].study)[4:5]
    studies.give_back(both[0].study, one_of_three)  # the round is still its worker's
    assert not studies.claim(both[1].study, both[1].space, 3, 0, "random")
    studies.give_back(both[0].study, studies.in_state(both[0].study, "RUNNING"))
    assert searched(made, "two.db", 9) == straight
    assert [t.params for t in studies.living(both[1].study)] == found


def test_a_trial_is_started_by_one_of_two_that_see_it_waiting() -> None:
    prepared = tuning.prepare(plan(), "study.db", 1, None)
    (seen,) = studies.in_state(prepared.study, "WAITING")
    assert studies.started(prepared.study, seen) is not None
    assert studies.started(prepared.study, seen) is None


@pytest.mark.parametrize("halving", [False, True])
def test_trials_that_another_worker_took_over_are_left_to_it(halving: bool) -> None:
    made = plan(halving=halving, points=4, pruner="median")
    prepared = tuning.prepare(made, "taken.db", 4, None)
    steps = tuning.search(prepared)
    next(steps)
    taken, told, *_ = (study_trial(prepared, t.number) for t in studies.living(prepared.study))
    taken.set_user_attr("worker", "elsewhere:12:1")
    prepared.study.tell(told.number, 0.25)
    while len(studies.in_state(prepared.study, "RUNNING")) > 1:
        next(steps)
    found = studies.living(prepared.study)
    assert [t.state.name for t in found[:2]] == ["RUNNING", "COMPLETE"]
    assert found[1].value == 0.25
    assert all(t.state.name in ("COMPLETE", "PRUNED") for t in found[2:])


def study_trial(of: tuning.Tuning, number: int) -> Any:
    from optuna import Trial

    return Trial(of.study, of.study.get_trials(deepcopy=False)[number]._trial_id)


def test_workers_in_turn_share_the_trials_and_reach_their_number() -> None:
    both = [tuning.prepare(plan(), "shared.db", 6, None) for _ in range(2)]
    searches: list[Iterator[tuning.Step]] = [tuning.search(each) for each in both]
    while searches:
        searches = [each for each in searches if next(each, None) is not None]
    found = studies.living(both[0].study)
    assert [t.state.name for t in found] == ["COMPLETE"] * 6
    assert sorted(studies.planned(t) for t in found) == list(range(6))


def test_a_plan_written_down_by_two_workers_at_once_counts_once() -> None:
    prepared = tuning.prepare(plan(), "twice.db", 2, None)
    for number in range(3):  # a second worker that saw an empty study
        prepared.study.enqueue_trial({}, user_attrs={"planned": number})
    assert prepared.trials == 3
    for _ in tuning.search(prepared):
        pass
    assert [t.state.name for t in studies.living(prepared.study)] == ["COMPLETE"] * 3


def test_halving_trains_the_best_third_for_three_times_as_long() -> None:
    made = plan(halving=True, points=9, space=RATES[:1])
    made = replace(made, settings=settings_of(SMALL.changed(epochs=9)))
    prepared = finished(made, "halving.db", 9)
    found = studies.living(prepared.study)
    assert tuning.rungs_of(9, halving=True) == [1, 3, 9]
    assert [t.state.name for t in found].count("COMPLETE") == 1
    reached = [sorted(t.intermediate_values) for t in found]
    assert sorted(map(len, reached)) == [1] * 6 + [2] * 3
    first = {t.number: t.intermediate_values[1] for t in found}
    promoted = [number for number, steps in enumerate(reached) if len(steps) == 2]
    assert max(first[n] for n in promoted) <= min(v for n, v in first.items() if n not in promoted)
    second = {n: found[n].intermediate_values[3] for n in promoted}
    (best,) = (t for t in found if t.state.name == "COMPLETE")
    assert second[best.number] == min(second.values())


def test_programs_whose_points_are_all_bad_are_pruned() -> None:
    """Rates of 1e-9 learn nothing, and come after five trials at good rates."""
    settings = settings_of(SMALL.changed(epochs=8))
    rates = "learning_rate=0.05|0.04|0.03|0.02|0.06|1e-9|1.1e-9"
    made = plan(pruner="median", sampler="grid", points=1, space=(rates,))
    found = searched(replace(made, settings=settings), trials=None)
    assert [row["state"] for row in found] == ["complete"] * 5 + ["pruned"] * 2
    assert all(math.isfinite(row["value"]) for row in found)
    kept = searched(replace(made, settings=settings, pruner="none"), "kept.db", None)
    assert {row["state"] for row in kept} == {"complete"}
    assert kept[:5] == found[:5]


def test_a_grid_is_every_combination_once() -> None:
    space = ("learning_rate=0.01|0.03|0.1", "hidden=3|4,2", "weight_decay=0|1e-3")
    found = searched(plan(sampler="grid", space=space, points=0), trials=None)
    points = [tuple(map(str, row["settings"].values())) for row in found]
    assert len(points) == len(set(points)) == 12
    assert {row["settings"]["hidden"][0] for row in found} == {3, 4}
    assert all(row["state"] == "complete" for row in found)


def test_the_test_split_is_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, whole = searched(plan(), "honest.db"), Recipe.data

    def poisoned(self: Recipe, folder: Path | None) -> Any:
        data = whole(self, folder)
        test = Split(torch.full_like(data.test.x, math.nan), 1 - data.test.y)
        return replace(data, test=test)

    monkeypatch.setattr(Recipe, "data", poisoned)
    assert searched(plan(), "poisoned.db") == honest


class LooksAtItsData(nn.Sequential):
    """Refused by `fit_many`: a decision in Python."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x if x.sum() > -1e30 else -x)


def test_a_model_that_cannot_be_stacked_is_trained_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stacked, original = searched(plan(), "stacked.db"), Recipe.model
    monkeypatch.setattr(
        Recipe, "model", lambda self, summary: LooksAtItsData(original(self, summary))
    )
    prepared = finished(plan(), "single.db")
    note = "trained one after another: LooksAtItsData cannot be trained many at once"
    assert [text[: len(note)] for text in prepared.remarks[1:]] == [note]
    for a, b in zip(stacked, rows(prepared), strict=True):
        assert a["settings"] == b["settings"]
        assert a["folds"] == pytest.approx(b["folds"], abs=0.04)  # one example of 27 may tip


def test_a_point_that_diverges_is_the_worst_and_disturbs_no_other() -> None:
    settings = settings_of(SMALL.changed(optimizer="sgd"))
    made = plan(sampler="grid", space=("learning_rate=0.1|1e30",), pruner="median")
    prepared = finished(replace(made, settings=settings), "diverged.db", None)
    result = summary(prepared, 0.0)
    assert result["best"]["trial"] == 0
    assert result["trials"][1]["value"] == math.inf


def test_a_space_says_what_it_means() -> None:
    space = space_of(SMALL, RATES, True)
    assert [d.name for d in space] == ["hidden", "learning_rate"]  # architecture first
    assert own_point(SMALL, space) is None  # 4 hidden units are not listed
    (decay,) = space_of(SMALL, ["weight-decay=1e-6:1e-2:log0"], True)
    assert decay.value(decay.lowest) == 0.0
    assert decay.value(0.00123456) == 0.00123
    point = changed(SMALL, [decay], {"weight_decay": 5e-3})
    assert sorted(flags(point)) == sorted([*flags(SMALL), "--weight-decay", "0.005"])
    with pytest.raises(InputError, match="weight_decay has a range"):
        grid([decay])


def test_another_search_in_the_same_place_is_refused() -> None:
    tuning.prepare(plan(), "study.db", 2, None)
    with pytest.raises(InputError, match="created for moons-mlp and differs in folds"):
        tuning.prepare(plan(folds=3), "study.db", 2, None)


def test_labels_of_pixels_are_not_smoothed(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = torch.rand(12, 1, 8, 8), torch.randint(0, 2, (12, 8, 8))
    rows = Split(x, y)
    scenes = Splits(rows, rows, rows, ("ground", "ink"))
    monkeypatch.setattr(digits_unet.Recipe, "data", lambda self, folder: scenes)
    settings = settings_of(digits_unet.Recipe.configured(base_channels=2, depth=1, epochs=1))
    prepared = tuning.prepare(
        tuning.Plan(recipe="digits-unet", settings=settings), "pixels.db", 1, None
    )
    assert [d.name for d in prepared.space] == ["learning_rate", "weight_decay"]


def test_what_mattered_needs_ten_complete_trials_and_counts_zeros_as_one() -> None:
    decay = "weight_decay=1e-6:1e-2:log0"
    made = plan(space=(decay,), sampler="random", metric="loss", points=12)
    few = finished(made, "decay.db", 9)
    assert importance(few) == {}
    enough = tuning.prepare(made, "decay.db", 24, None)
    for _ in tuning.search(enough):
        pass
    found = studies.living(enough.study)
    zeros = [t for t in found if t.params["weight_decay"] < 1e-6]
    assert len({t.params["weight_decay"] for t in zeros}) > 1
    assert {used(enough, t)["weight_decay"] for t in zeros} == {1e-6 / 10}
    assert set(importance(enough)) == {"weight_decay"}
