"""The memory tasks: a network for every cell and length, stopped where it has solved its task."""

import json

import pytest
import torch

from chainrule.errors import InputError
from chainrule.recipes.recurrent import adding, copy_memory
from chainrule.recipes.recurrent.copy_memory import copying_error, copying_loss
from chainrule.registry import find
from chainrule.runs.configuration import Configuration
from chainrule.runs.folder import epochs_behind
from chainrule.runs.predictions import Predictions
from chainrule.runs.run import Run, build
from chainrule.training import Record

TINY = {"epochs": 2, "num_samples": 60, "hidden_size": 4, "threads": 1}
GRID = adding.Recipe.configured(cells=("elman", "mingru"), lengths=(3, 6), **TINY)


def create(folder) -> Run:
    return Run.create(find("recipes", "adding"), Configuration(GRID), folder)


def records(run: Run) -> list[Record]:
    return [now.record for now in run.train("cpu") if now.record]


def test_every_cell_is_trained_at_every_length(tmp_path):
    run = create(tmp_path / "run")
    history = records(run)
    assert list(run.history) == history
    assert [r["length"] for r in history] == [3] * 4 + [6] * 4
    assert [r["network"] for r in history] == [0, 0, 1, 1, 2, 2, 3, 3]
    result = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))
    assert set(result["compared"]) == {"elman", "mingru"}
    assert set(result["compared"]["elman"]["test"]) == {"length 3: rmse", "length 6: rmse"}
    found = [v for cell in result["compared"].values() for v in cell["test"].values()]
    assert result["metrics"]["test"]["rmse"] == pytest.approx(sum(found) / 4)
    assert (tmp_path / "run" / "by-length.png").is_file()
    assert (tmp_path / "run" / "learning.png").is_file()


def test_a_network_that_has_solved_its_task_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(adding.Recipe, "solved", 100.0)
    history = records(create(tmp_path / "run"))
    assert [r["network"] for r in history] == [0, 1, 2, 3]
    result = json.loads((tmp_path / "run" / "result.json").read_text("utf-8"))
    assert result["metrics"]["test"]["share solved"] == 1
    assert result["stopped"] == "all networks trained"


def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path):
    whole = records(create(tmp_path / "whole"))
    steps = create(tmp_path / "halted").train("cpu")
    for now in steps:
        if now.record and now.record["network"] == 2:
            steps.close()
            break
    assert epochs_behind(tmp_path / "halted") == 2 + 2 + 1  # of three networks
    halted = records(Run.load(tmp_path / "halted"))
    without_time = [[{**r, "seconds": 0} for r in run] for run in (whole, halted)]
    assert without_time[0] == without_time[1]
    models = [Run.load(tmp_path / name).model.state_dict() for name in ("whole", "halted")]
    assert all(torch.equal(models[0][key], models[1][key]) for key in models[0])


def test_the_networks_of_a_cell_begin_alike_at_every_length():
    model = build(Configuration(GRID), GRID.summarize(GRID.data(None)))
    weights = [list(model[name].parameters()) for name in ("elman-3", "elman-6")]
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_copying_counts_the_last_steps_alone():
    y = torch.tensor([[0, 1], [2, 2]])
    output = torch.full((2, 5, 3), -50.0)
    output[0, 3, 0] = output[0, 4, 1] = output[1, 3, 2] = output[1, 4, 0] = 50.0
    assert copying_error(output, y) == 0.25
    torch.testing.assert_close(copying_loss(output, y), torch.tensor([0.0, 50.0]))
    output[:, :3] = torch.randn(2, 3, 3)
    assert copying_error(output, y) == 0.25


def test_a_linear_recurrence_learns_to_copy_in_a_few_steps():
    recipe = copy_memory.Recipe.configured(
        cells=("lru",), lengths=(1,), epochs=3, num_samples=1000, hidden_size=32
    )
    data = recipe.data(None)
    model = build(Configuration(recipe), recipe.summarize(data))
    before = recipe.evaluate(Predictions(recipe, model, data))["test"]["error"]
    for _ in recipe.fit(model, data, None, "cpu"):
        pass
    after = recipe.evaluate(Predictions(recipe, model, data))["test"]["error"]
    assert after < 0.3 < 0.8 < before


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"cells": ("lsmt",)}, "lstm"),
        ({"cells": ()}, "at least one of `cells` and `lengths`"),
        ({"lengths": ()}, "at least one of `cells` and `lengths`"),
        ({"hidden_size": 0}, "a `hidden_size` and `num_layers` of 1 or more"),
        ({"epochs": 0}, "`epochs` must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        GRID.changed(**changes)
