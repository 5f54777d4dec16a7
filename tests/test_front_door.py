"""What a user types after `import chainrule as cr`."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import chainrule as cr
from chainrule.notebook import layer_table


def test_every_name_of_the_front_door_leads_somewhere() -> None:
    assert {"fit", "iterate", "evaluate", "predict", "train", "load", "check"} <= set(dir(cr))
    for name in dir(cr):
        assert getattr(cr, name) is not None


def test_an_unknown_name_is_an_attribute_error_that_lists_what_there_is() -> None:
    with pytest.raises(AttributeError, match="fit, iterate"):
        _ = cr.fitt


def test_importing_it_imports_neither_torch_nor_numpy() -> None:
    code = (
        "import sys, chainrule as cr; dir(cr); dir(cr.models); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_models_of_every_chapter_are_found_by_name() -> None:
    assert cr.models.GCN is cr.models.geometric.GCN
    assert {"MLP", "GPT", "LSTM", "Hopfield", "ResNet", "attention"} <= set(dir(cr.models))
    with pytest.raises(AttributeError, match="no model 'MPL'"):
        _ = cr.models.MPL


def test_a_network_is_trained_evaluated_and_asked_in_four_lines() -> None:
    torch.manual_seed(0)
    data = cr.data.digits()
    model = cr.models.MLP(64, [32], 10)
    history = cr.fit(model, data, epochs=5, learning_rate=5e-3)
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5]
    assert cr.evaluate(model, data.test)["error"] < 0.2
    outputs = cr.predict(model, data.test.x[:3])
    assert outputs.shape == (3, 10) and not model.training


def test_a_history_draws_itself() -> None:
    data = cr.data.moons(num_samples=60)
    history = cr.fit(cr.models.MLP(2, [4], 2), data, epochs=2)
    assert history.plot().axes
    assert history._repr_png_().startswith(b"\x89PNG")


def test_a_recipe_is_trained_loaded_and_applied(tmp_path: Path) -> None:
    run = cr.train("digits-mlp", out=tmp_path / "run", epochs=2, pictures=False)
    assert not list((tmp_path / "run").glob("*.png"))
    again = cr.load(tmp_path / "run")
    image = cr.data.digits().test.x[:2]
    assert again.predict(image) == run.predict(image)
    assert again.result["metrics"] == run.result["metrics"]
    assert len(again.history) == 2 and again.plot().axes
    assert "digits-mlp" in repr(again) and "<table>" in again._repr_html_()


def test_a_setting_that_a_recipe_does_not_have_is_refused_before_a_folder_is_made(
    tmp_path: Path,
) -> None:
    with pytest.raises(cr.InputError, match=r"no setting of digits-mlp named 'epoch'.*epochs"):
        cr.train("digits-mlp", out=tmp_path / "run", epoch=2)
    assert not (tmp_path / "run").exists()


def test_a_claim_is_checked_with_its_violation() -> None:
    result = cr.check("xor")
    assert result.holds and not result.broken.holds
    assert "xor" in repr(result)


def test_a_notebook_shows_the_layers_of_our_models_only() -> None:
    html = layer_table(cr.models.MLP(4, [3], 2))
    assert html is not None and "23 parameters" in html and "<td>Linear</td>" in html
    assert layer_table(nn.Linear(2, 2)) is None


def test_a_notebook_shows_a_figure_before_anybody_imports_pyplot() -> None:
    pytest.importorskip("IPython")
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('import chainrule as cr; figure = cr.check(\"xor\").plot()')\n"
        "shown, _ = shell.display_formatter.format(shell.user_ns['figure'])\n"
        "assert shown['image/png'].startswith(b'\\x89PNG')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_model_with_a_single_logit_is_trained_without_further_words() -> None:
    torch.manual_seed(0)
    data = cr.data.blobs(num_samples=200)
    model = cr.models.LogisticRegression(2)
    cr.fit(model, data, epochs=60, learning_rate=0.1)
    assert cr.evaluate(model, data.test)["accuracy"] > 0.9


def test_outputs_and_targets_of_one_number_agree_in_any_shape() -> None:
    torch.manual_seed(0)
    x = torch.randn(60, 3)
    y = x.sum(1)
    column, flat = nn.Linear(3, 1), nn.Sequential(nn.Linear(3, 1), nn.Flatten(0))
    flat[0].load_state_dict(column.state_dict())
    assert cr.evaluate(flat, (x, y)) == pytest.approx(cr.evaluate(column, (x, y[:, None])))
    for model in (column, flat):
        cr.fit(model, (x, y), epochs=2)
    torch.testing.assert_close(column.weight, flat[0].weight)


def test_a_loss_of_ones_own_may_have_outputs_of_another_shape_than_its_targets() -> None:
    x = torch.randn(60, 3)

    def likelihood(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        mean, log_std = output.unbind(1)
        return log_std + 0.5 * ((y - mean) / log_std.exp()).square()

    history = cr.fit(nn.Linear(3, 2), (x, x.sum(1)), task=likelihood, epochs=3)
    assert history[-1]["train_loss"] < history[0]["train_loss"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, d: cr.fit(m, d, label_smoothing=0.1), "one class per example"),
        (lambda m, d: cr.evaluate(m, d), "expected one split to evaluate, such as data.test"),
        (lambda m, d: cr.predict(m, d.test), "equally long|such as data.test.x"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, message: str) -> None:
    data = cr.data.diabetes()
    with pytest.raises(cr.InputError, match=message):
        call(nn.Linear(10, 1), data)  # type: ignore[operator]


def test_arrays_in_double_precision_are_predicted() -> None:
    model = nn.Linear(3, 1)
    assert cr.predict(model, torch.ones(2, 3).double().numpy()).shape == (2, 1)


def test_an_ensemble_whose_members_diverge_says_so(tmp_path: Path) -> None:
    with pytest.raises(cr.InputError, match="members 0, 1 of the ensemble diverged"):
        cr.train("moons-mlp", out=tmp_path / "run", members=2, learning_rate=1e30, optimizer="sgd")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("task='regression'", "`task` must be of type Task"),
        ("epochs='3'", "`epochs` must be a whole number, got '3'"),
        ("learning_rate='a'", "`learning_rate` must be a number, got 'a'"),
    ],
)
def test_values_of_the_wrong_type_are_refused_without_the_checks_of_the_tests(
    options: str, message: str
) -> None:
    code = (
        "import chainrule as cr; from torch import nn\n"
        f"try: cr.fit(nn.Linear(10, 1), cr.data.diabetes(), {options})\n"
        "except cr.InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert message in done.stdout


def test_many_networks_take_splits_and_single_settings() -> None:
    data = cr.data.digits()
    torch.manual_seed(0)
    models = [cr.models.MLP(64, [8], 10) for _ in range(2)]
    alone = copy.deepcopy(models[1])
    found = cr.fit_many(models, data, epochs=2, learning_rate=[0.001, 0.01])
    cr.fit(alone, data, epochs=2, learning_rate=0.01, seed=1, progress=False)
    assert [len(history) for history in found] == [2, 2]
    assert "validation_loss" in found[0][-1]
    for one, other in zip(models[1].parameters(), alone.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)
    with pytest.raises(cr.InputError, match="3 values for 2 models"):
        cr.fit_many(models, data, learning_rate=[1.0, 2.0, 3.0])
    with pytest.raises(cr.InputError, match="not both"):
        cr.fit_many(models, data, epochs=1, settings=[cr.Settings()] * 2)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [({}, "5000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "None")],
    ids=["by the library", "by the user", "by the user's policy"],
)
def test_waiting_threads_soon_sleep_unless_the_user_says_how_they_wait(
    chosen: dict[str, str], expected: str
) -> None:
    program = "import chainrule, os; print(os.environ.get('GOMP_SPINCOUNT'))"
    usual = {k: v for k, v in os.environ.items() if not k.startswith(("GOMP_", "OMP_WAIT"))}
    found = subprocess.run(
        [sys.executable, "-c", program], env=usual | chosen, capture_output=True, text=True
    )
    assert found.stdout.strip() == expected, found.stderr
