"""The playground's activity: what it shows is what the library computes."""

import base64
import shlex
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import make_moons

import chainrule as cr
from chainrule.data.splits import Split
from chainrule.errors import DivergenceError, InputError
from chainrule.models.connectionism.perceptron import in_version_space, separating_hyperplane
from chainrule.nn.regions import plane_regions
from chainrule.studio.activities.playground import Experiment, run
from chainrule.studio.activity import Json, read
from chainrule.studio.playground.perceptron import Perceptron, mistakes_of_lines
from chainrule.studio.playground.points import plane
from chainrule.studio.playground.settings import Model, Settings

MODELS: tuple[str, ...] = Model.__args__  # type: ignore[attr-defined]
TRAINED = ("logistic-regression", "mlp", "residual-network", "ensemble", "perceptron")
TASKS = ("moons", "circles", "spirals", "xor", "blobs")
FEW = [[-0.5, 0.0, 0], [0.5, 0.25, 1], [-0.25, -0.5, 0]]
MANY = [[k / 12 - 1, (7 * k % 12) / 12, k % 2] for k in range(24)]


def played(settings: Json, *messages: Json | None) -> Json:
    """The view after some steps (None) and messages."""
    activity = run(settings)
    view = next(activity)
    for message in messages:
        view = activity.send(message)
    return view.draw()


def pixels(raster: Json) -> np.ndarray[Any, Any]:
    content = np.frombuffer(base64.b64decode(raster["data"]), np.uint8).reshape(raster["shape"])
    return raster["low"] + content / 255 * (raster["high"] - raster["low"])


def executed(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


@pytest.mark.parametrize("model", TRAINED)
def test_the_script_ends_with_the_loss_that_is_shown(model: str) -> None:
    shown = played({"model": model, "num_samples": 60, "dropout": 0.1}, *[None] * 7)
    assert executed(shown["python"])["loss"] == shown["losses"][0]


def test_the_script_repeats_changes_made_meanwhile() -> None:
    messages = [None, None, {"learning_rate": 0.5, "optimizer": "sgd"}, None, None, None]
    shown = played({"num_samples": 60}, *messages)
    assert shown["step"] == 5
    assert executed(shown["python"])["loss"] == shown["losses"][0]
    assert shown["command"] is None


@pytest.mark.parametrize("points", [FEW, MANY], ids=["few", "many"])
def test_the_script_holds_own_points(points: list[list[float]]) -> None:
    shown = played({"data": "own", "points": points, "model": "mlp"}, None, None)
    assert executed(shown["python"])["loss"] == shown["losses"][0]


@pytest.mark.parametrize("model", [name for name in MODELS if name not in TRAINED])
def test_an_estimator_is_fitted_once_and_its_script_has_the_same_error(model: str) -> None:
    shown = played({"model": model, "num_samples": 60, "trees": 3, "depth": 2}, None)
    assert (shown["step"], shown["ended"]) == (0, "fitted; it has no steps")
    error = len(shown["train"]["wrong"]) / len(shown["train"]["y"])
    assert executed(shown["python"])["error"] == pytest.approx(error)


@pytest.mark.parametrize("data", ["moons", "xor"])
def test_the_command_trains_the_same_network(data: str, tmp_path: Any) -> None:
    settings = {"data": data, "num_samples": 60, "batch_size": 12, "layers": 1, "seed": 3}
    shown = played(settings, *[None] * 6)  # two epochs
    program, verb, recipe, *flags = shlex.split(shown["command"])
    assert (program, verb, recipe) == ("chainrule", "train", f"{data}-mlp")
    pairs = " ".join(flags).removeprefix("--").split(" --")
    values = dict(pair.split(" ", 1) for pair in pairs)
    run_ = cr.train(
        recipe,
        out=tmp_path / "run",
        pictures=False,
        progress=False,
        hidden=tuple(map(int, values.pop("hidden").split())),
        **{name.replace("-", "_"): number(value) for name, value in values.items()},
    )
    assert run_.result["metrics"]["train"]["loss"] == pytest.approx(shown["losses"][0], rel=1e-6)


def number(text: str) -> int | float | str:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


def test_own_points_have_a_command_that_says_so_only_for_relu() -> None:
    settings = {"data": "own", "points": MANY}
    assert "--table points.csv" in played(settings | {"activation": "relu"})["command"]
    assert played(settings | {"activation": "tanh"})["command"] is None


def test_the_surface_is_the_probability_of_the_network() -> None:
    chosen = read(Settings, {"num_samples": 60})
    experiment = Experiment(chosen)
    for _ in range(5):
        experiment.step()
    model = experiment.learner.model  # type: ignore[attr-defined]
    shown = experiment.draw()
    surface = pixels(shown["surface"])
    assert surface.shape == (120, 120)
    (x_1, x_2), radius = shown["center"], shown["radius"]
    top_left = torch.tensor([[x_1 - radius * 119 / 120, x_2 + radius * 119 / 120]])
    expected = cr.predict(model, top_left).softmax(1)[0, 1].item()
    assert surface[0, 0] == pytest.approx(expected, abs=0.01)


def test_watching_does_not_change_what_is_learned() -> None:
    settings = {"num_samples": 60, "dropout": 0.5}
    unseen = played(settings, *[None] * 9)
    activity = run(settings)
    view = next(activity)
    for _ in range(9):
        view.draw()
        view = activity.send(None)
    assert view.draw() == unseen


@pytest.mark.parametrize("model", ["mlp", "residual-network"])
def test_the_last_hidden_maps_and_weights_give_the_logit(model: str) -> None:
    chosen = read(Settings, {"model": model, "num_samples": 60})
    learner = Experiment(chosen).learner
    x = torch.randn(5, 2)
    logits = cr.predict(learner.model, x)  # type: ignore[attr-defined]
    bias = [b for name, b in learner.model.named_parameters() if name.endswith("bias")][-1]  # type: ignore[attr-defined]
    combined = learner.units(x)[-1] @ learner.weights()[-1][0] + bias.diff().item()
    assert combined == pytest.approx((logits[:, 1] - logits[:, 0]).numpy(), rel=1e-4, abs=1e-5)
    assert [matrix.shape for matrix in learner.weights()] == [(8, 2), (8, 8), (1, 8)]


def test_an_ensemble_shows_its_members() -> None:
    learner = Experiment(read(Settings, {"model": "ensemble", "members": 3})).learner
    x = torch.randn(6, 2)
    mean = learner.units(x)[0].mean(1) + 0.5
    assert mean == pytest.approx(learner.confidence(x), abs=1e-6)


def test_linear_regions_are_those_of_the_library() -> None:
    settings = {"num_samples": 60, "activation": "relu", "units": 4}
    assert played(settings)["regions"] is None
    experiment = Experiment(read(Settings, settings | {"regions": True}))
    shown = experiment.draw()
    layers = list(experiment.learner.model.layers)  # type: ignore[attr-defined]
    center = torch.tensor(experiment.plane.center)
    expected = plane_regions(layers, center, torch.eye(2), shown["radius"])
    assert len(shown["regions"]) == len(expected)
    assert played(settings | {"activation": "tanh", "regions": True})["regions"] is None


def test_polygons_lie_in_the_square_that_is_shown() -> None:
    shown = played({"num_samples": 60, "activation": "relu", "regions": True})
    corners = np.concatenate([np.reshape(polygon, (-1, 2)) for polygon in shown["regions"]])
    assert np.abs(corners - shown["center"]).max() == pytest.approx(shown["radius"], rel=0.01)


def test_a_rate_changed_meanwhile_acts_on_the_present_weights() -> None:
    before = played({"num_samples": 60}, None, None, None)
    after = played({"num_samples": 60}, None, None, None, {"learning_rate": 0.2})
    assert after["weights"] == before["weights"]
    assert after["step"] == 3
    moved = played({"num_samples": 60}, None, None, None, {"learning_rate": 0.2}, None)
    usual = played({"num_samples": 60}, None, None, None, None)
    assert moved["weights"] != usual["weights"]


def test_a_diverged_network_waits_and_can_be_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(_: object) -> None:
        raise DivergenceError("the training loss became nan")

    activity = run({"num_samples": 60})
    next(activity)
    with monkeypatch.context() as patched:
        patched.setattr("chainrule.studio.playground.networks.advance", diverge)
        view = activity.send(None)
    assert view.waiting
    assert "no longer finite" in view.draw()["ended"]
    assert not activity.send({"learning_rate": 0.001}).waiting
    assert activity.send(None).draw()["step"] == 1


def test_a_paused_activity_waits_and_still_steps() -> None:
    activity = run({"num_samples": 60, "playing": False})
    assert next(activity).waiting
    assert activity.send(None).draw()["step"] == 1
    assert not activity.send({"playing": True}).waiting
    assert activity.send({"playing": False}).waiting


def test_a_slow_speed_limits_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    still = SimpleNamespace(sleep=slept.append, monotonic=lambda: 100.0)
    monkeypatch.setattr("chainrule.studio.activities.playground.time", still)
    played({"num_samples": 60, "speed": 5}, None, None)
    assert slept == pytest.approx([0, 0.2])


@pytest.mark.parametrize("data", TASKS)
def test_every_point_of_a_task_is_shown(data: str) -> None:
    shown = played({"data": data, "num_samples": 100, "model": "logistic-regression"})
    assert (len(shown["train"]["x"]), len(shown["test"]["x"])) == (60, 40)
    inside = np.abs(np.subtract(shown["train"]["x"] + shown["test"]["x"], shown["center"]))
    assert inside.max() <= shown["radius"]


def test_moons_are_the_points_of_scikit_learn() -> None:
    shown = played({"num_samples": 100, "noise": 0.2})
    x, _ = make_moons(100, noise=0.2, random_state=0)
    every = np.array(shown["train"]["x"] + shown["test"]["x"])
    assert np.sort(every[:, 0]) == pytest.approx(np.sort(x[:, 0]), rel=1e-2, abs=1e-3)


def test_few_own_points_are_all_learned_from() -> None:
    shown = played({"data": "own", "points": FEW, "model": "perceptron"}, *[None] * 9)
    assert (len(shown["train"]["x"]), len(shown["test"]["x"])) == (3, 0)
    assert shown["losses"] == [0.0, None]
    assert shown["ended"].endswith("made no mistake")


def test_the_perceptron_learns_from_one_mistake_after_the_other() -> None:
    experiment = Experiment(read(Settings, {"data": "blobs", "model": "perceptron"}))
    learner = experiment.learner
    assert isinstance(learner, Perceptron)
    x, y = learner.train
    while not learner.ended:
        before = learner.score(x) * (2 * y - 1)
        learner.step()
        place = torch.tensor(learner.last_mistake())
        nearest = (x - place).norm(dim=1).argmin()
        assert before[nearest] <= 0
    assert learner.loss(learner.train) == 0


def test_the_version_space_is_where_no_point_is_wrong() -> None:
    chosen = read(Settings, {"data": "blobs", "num_samples": 40, "margin": 0.4})
    train = plane(chosen).train
    x, y = train.x.double(), 2.0 * train.y.double() - 1
    found = separating_hyperplane(x, y)
    assert found is not None
    side, reach = 40, 2.0
    wrong = mistakes_of_lines(train, side, reach)
    assert wrong.min() == 0
    row, column = np.unravel_index(wrong.argmin(), wrong.shape)
    angle = np.pi * ((2 * column + 1) / side - 1)
    offset = -reach * ((2 * row + 1) / side - 1)
    w = torch.tensor([np.cos(angle), np.sin(angle)])
    assert in_version_space(w, torch.tensor(offset), x, y)


def test_opposite_lines_share_out_the_mistakes() -> None:
    train = Split(torch.randn(9, 2), torch.arange(9) % 2)
    wrong = mistakes_of_lines(train, 8, 1.0)
    opposite = np.roll(wrong, 4, axis=1)[::-1]  # w and b with their signs turned
    assert (wrong + opposite == 9).all()


def test_curves_stay_short_and_keep_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 30
    monkeypatch.setattr("chainrule.studio.activities.playground.MOST_RECORDS", most)
    experiment = Experiment(read(Settings, {"num_samples": 20, "model": "logistic-regression"}))
    for _ in range(2 * most + 5):
        experiment.step()
    steps, train, test = experiment.curves.drawn()
    assert len(steps) == len(train) == len(test) <= most
    assert steps[0] == 0
    assert set(np.diff(steps)) == {4}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"data": "mnist"}, "value of `data`"),
        ({"layers": 7}, "`layers` must be from 1 to 6"),
        ({"units": "8"}, "`units` must be of type int"),
        ({"learning_rate": float("nan")}, "`learning_rate` must be finite"),
        ({"rate": 1.0}, "setting"),
        ({"data": "own"}, "both classes"),
        ({"data": "own", "points": [[0, 0, 0], [1, 1, 0]]}, "both classes"),
        ({"data": "own", "points": [[0, 0, 2], [1, 1, 0]]}, "class 0 or 1"),
        ({"data": "own", "points": [[0, 0], [1, 1]]}, "class 0 or 1"),
        ({"data": "own", "points": FEW * 201}, "length of `points`"),
    ],
)
def test_bad_settings_get_a_sentence(settings: Json, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        next(run(settings))


@pytest.mark.parametrize("message", [{"learning_rate": 0}, {"optimizer": "best"}, {"layers": 3}])
def test_bad_messages_get_a_sentence(message: Json) -> None:
    activity = run({"num_samples": 60})
    next(activity)
    with pytest.raises(InputError):
        activity.send(message)
