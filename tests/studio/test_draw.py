"""The activities of the room "Draw and see": their values are those of the library."""

import base64
import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.models.connectionism.hopfield import Hopfield
from chainrule.studio.activities import backpropagation, convolution, descent, digit, recall
from chainrule.studio.activity import Activity
from chainrule.studio.formula import formula
from chainrule.studio.insides import saliency
from chainrule.studio.pixels import DRAWING, photograph, pixels

QUADRATIC = "(x^2 + k y^2)/2"


def stroke() -> str:
    """A drawn 1."""
    image = np.zeros((DRAWING, DRAWING), np.uint8)
    image[8:48, 26:31] = 255
    return base64.b64encode(image.tobytes()).decode()


def bytes_of(raster: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(raster["data"]), np.uint8).reshape(raster["shape"])


def trained(activity: Activity) -> dict[str, Any]:
    """The view after all training."""
    view = next(activity)
    while not view.waiting:
        view = next(activity)
    return view.draw()


# Recall


@pytest.mark.parametrize("memory", ["hopfield", "dense", "exponential"])
def test_the_energy_never_rises_from_unit_to_unit(memory: str) -> None:
    shown = next(recall.run({"memory": memory, "flipped": 0.3, "digits": [3, 4, 6]})).draw()
    energies = [shown["energy"], *(e for part in shown["sweeps"] for e in part["energies"])]
    assert all(after <= before + 1e-9 for before, after in pairwise(energies))
    assert energies[-1] < energies[0]
    assert shown["stable"]


def test_recall_ends_where_the_librarys_network_ends() -> None:
    settings = {"ink": stroke(), "shuffled": False, "digits": [1, 8]}
    shown = next(recall.run(settings)).draw()
    network = Hopfield(64)
    network.store(torch.tensor(shown["stored"]).float())
    found = network.recall(torch.tensor([shown["start"]]).float())
    assert shown["sweeps"][-1]["after"] == found[0].int().tolist()
    assert shown["sweeps"][-1]["overlaps"][0] == 1


def test_a_change_of_the_memory_is_a_message() -> None:
    activity = recall.run({})
    assert next(activity).draw()["digits"] == [3, 6]
    assert activity.send({"digits": [1, 2, 5]}).draw()["digits"] == [1, 2, 5]


# Digits


def test_a_trained_cnn_reads_a_drawing_and_its_answers_are_the_models() -> None:
    activity = digit.run({"network": "cnn", "ink": stroke()})
    shown = trained(activity)
    assert shown["accuracy"] > 0.9
    assert np.argmax(shown["probabilities"]) == shown["target"] == 1
    shapes = [tuple(layer["maps"]["shape"]) for layer in shown["layers"]]
    assert shapes == [(8, 8, 8), (8, 4, 4), (16, 4, 4), (16, 2, 2)]
    asked = activity.send({"target": 7}).draw()
    assert asked["target"] == 7
    assert asked["saliency"] != shown["saliency"]
    assert activity.send({"ink": ""}).draw()["input"] is None


@pytest.mark.parametrize("network", ["mlp", "vit", "pointnet"])
def test_every_network_answers_before_it_has_learned(network: str) -> None:
    activity = digit.run({"network": network, "ink": stroke()})
    first = next(activity).draw()
    assert first["fraction"] < 1
    assert sum(first["probabilities"]) == pytest.approx(1, abs=1e-3)
    later = activity.send({"center": False}).draw()
    assert later["fraction"] == first["fraction"]
    assert later["input"] != first["input"]
    json.dumps(later, allow_nan=False)
    if network == "pointnet":
        assert later["difference"] < 1e-3
    else:
        assert later["saliency"]["shape"] == [8, 8]
    if network == "vit":
        assert later["rollout"]["shape"] == [4, 4]


def test_saliency_is_the_slope_of_the_score() -> None:
    torch.manual_seed(0)
    model = digit.KINDS["mlp"].make(8).eval().double()
    x = torch.rand(1, 1, 8, 8, dtype=torch.float64)
    gradient, step = saliency(model, x, 3), torch.zeros_like(x)
    step[0, 0, 2, 5] = 1e-6
    slope = (model(x + step) - model(x - step))[0, 3] / 2e-6
    assert slope.item() == pytest.approx(gradient[0, 0, 2, 5].item(), rel=1e-5)


def test_mnist_is_never_downloaded_from_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("CHAINRULE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="MNIST is not on this machine"):
        next(digit.run({"data": "mnist"}))


# Convolution


def test_the_output_is_torchs_convolution_and_the_products_add_up_to_it() -> None:
    kernel = [-1.0, 0, 1, -2, 0, 2, -1, 0, 1]
    settings = {"image": "digit", "kernel": kernel, "padding": 2, "stride": 2, "dilation": 2}
    activity = convolution.run(settings | {"row": 1, "column": 2})
    shown = next(activity).draw()
    x = convolution.picture(convolution.Settings(image="digit"))
    w = torch.tensor(kernel).view(1, 1, 3, 3)
    y = F.conv2d(x[None, None], w, stride=2, padding=2, dilation=2)[0, 0]
    assert shown["output"]["shape"] == list(y.shape)
    assert shown["range"] == pytest.approx([y.min().item(), y.max().item()], rel=1e-2)
    assert shown["pixel"]["sum"] == pytest.approx(y[1, 2].item(), rel=1e-3)
    assert np.sum(shown["pixel"]["products"]) == pytest.approx(y[1, 2].item(), abs=0.01)
    assert activity.send({"kernel": [0] * 12 + [1] + [0] * 12}).draw()["signed"] is False


def test_the_identity_leaves_a_photograph_as_it_is() -> None:
    shown = next(convolution.run({"image": "flower", "padding": 1})).draw()
    assert np.array_equal(bytes_of(shown["output"]), photograph("flower", convolution.WIDTH))


def test_a_picture_of_ones_own_comes_as_base64() -> None:
    own = np.arange(48, dtype=np.uint8).reshape(6, 8)
    text = base64.b64encode(own.tobytes()).decode()
    settings = {"image": "own", "pixels": text, "height": 6, "width": 8, "padding": 1}
    assert np.array_equal(bytes_of(next(convolution.run(settings)).draw()["output"]), own)
    assert np.array_equal(pixels(text, 6, 8), own)


# Gradient descent


@given(
    st.floats(1, 200),
    st.floats(0.05, 1.95),
    st.floats(0.01, 0.98),
    st.sampled_from(["gd", "momentum", "nesterov"]),
)
@settings(max_examples=10, deadline=None)
def test_the_predicted_factor_is_the_spectral_radius_of_a_step(
    condition: float, product: float, momentum: float, name: str
) -> None:
    """Two steps of the library's optimizer on ½ λ x², as a matrix on (x_t, x_{t-1})."""
    lam = condition
    chosen = descent.Settings(
        formula="k x^2 / 2 + y^2",
        condition=lam,
        rate=product / lam,
        momentum=momentum,
        steps=3,
        x=1.0,
        y=0.0,
    )
    start = torch.tensor([1.0, 0.0], dtype=torch.float64)
    x = descent.path(descent.surface(chosen), name, start, chosen)[:, 0].tolist()
    predicted = descent.factor(name, product, momentum)
    if name == "gd":
        assert abs(x[1] / x[0]) == pytest.approx(predicted, rel=1e-6, abs=1e-9)
        return
    # x_{t+1} = p x_t - q x_{t-1}, and v_0 = 0; the roots of r² - p r + q are the factors.
    p = 1 + momentum - product if name == "momentum" else (1 + momentum) * (1 - product)
    q = momentum if name == "momentum" else momentum * (1 - product)
    assert x[3] == pytest.approx(p * x[2] - q * x[1], rel=1e-6, abs=1e-9)
    assert predicted == pytest.approx(max(abs(r) for r in np.roots([1, -p, q])))


def test_the_measured_rate_is_the_predicted_one_on_a_quadratic() -> None:
    settings = {"formula": QUADRATIC, "condition": 20, "rate": 0.05, "optimizers": ["gd", "adam"]}
    shown = next(descent.run(settings)).draw()
    assert shown["rates"]["gd"]["predicted"] == pytest.approx(0.95)
    assert shown["rates"]["gd"]["measured"] == pytest.approx(0.95, abs=1e-3)
    assert shown["rates"]["adam"]["predicted"] is None
    assert shown["curvatures"] == pytest.approx([1, 20])
    assert shown["best"]["gd"] == pytest.approx([2 / 21, 19 / 21], rel=1e-3)
    assert shown["minimum"] == pytest.approx([0, 0], abs=1e-9)


def test_beyond_two_over_the_curvature_descent_diverges_and_says_so() -> None:
    settings = {"formula": QUADRATIC, "condition": 10, "rate": 0.25, "optimizers": ["gd"]}
    rates = next(descent.run(settings)).draw()["rates"]["gd"]
    assert rates["predicted"] == pytest.approx(1.5)
    assert rates["measured"] == pytest.approx(1.5, abs=0.01)


def test_a_surface_without_a_minimum_has_no_rates() -> None:
    shown = next(descent.run({"formula": "x + y", "optimizers": ["lion"]})).draw()
    assert shown["minimum"] is shown["rates"] is None
    json.dumps(next(descent.run({"formula": "log(x) / y"})).draw(), allow_nan=False)


# Formulas


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2x + 3(y - 1)^2", 2 * 1.5 + 3 * 1.0),
        ("x y - -x", 1.5 * 2 + 1.5),
        ("sin(pi x) + exp(y)/e", math.sin(math.pi * 1.5) + math.e),
        ("2^3^x", 2**3**1.5),
        ("(x)(y) 2", 6.0),
        ("1e3 + .5x", 1000.75),
    ],
)
def test_formulas_mean_what_they_say(text: str, value: float) -> None:
    values = {"x": torch.tensor(1.5).double(), "y": torch.tensor(2.0).double()}
    assert formula(text, ("x", "y"))(values).item() == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "x.real", "x[0]", "lambda: 1", "(x for x in y)", "x = 1",
        "x if y else 1", "not x", "z", "sin(x, y)",
        "sin(x=1)", "'a'", "True", "", "x; y", "x\x00", "(" * 150,
        "[x]", "x < y", "f'{x}'", "1j", "x := 2", "-" * 199 + "x and y", "x @ y", "exp", "9" * 201,
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="formula"):
        formula(text, ("x", "y"))


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_any_text_is_a_formula_or_an_input_error(text: str) -> None:
    try:
        formula(text, ("x", "y"))
    except InputError:
        return


def test_towers_of_powers_end_at_once() -> None:
    assert formula("9^9^9^9^9", ())({}).isinf()


# Backpropagation


@pytest.mark.parametrize("example", ["logistic", "mlp", "recurrent", "formula"])
def test_gradients_are_the_sums_of_products_along_the_edges(example: str) -> None:
    shown = next(backpropagation.run({"example": example})).draw()
    nodes = shown["nodes"]
    for j, node in enumerate(nodes[:-1]):
        parts = [
            np.ravel(nodes[edge["to"]]["gradient"]) @ np.array(edge["jacobian"])
            for edge in shown["edges"]
            if edge["from"] == j
        ]
        np.testing.assert_allclose(
            np.sum(parts, 0), np.ravel(node["gradient"]), rtol=0.01, atol=1e-3
        )
    assert all(nodes[e["from"]]["level"] < nodes[e["to"]]["level"] for e in shown["edges"])


def test_a_changed_number_changes_values_and_gradients_by_hand() -> None:
    activity = backpropagation.run({"example": "formula", "formula": "a b + c"})
    next(activity)
    shown = activity.send({"values": {"a": 5, "b": -2.0}}).draw()
    assert shown["inputs"] == {"a": 5, "b": -2, "c": 3}
    assert shown["nodes"][-1]["value"] == -7
    assert [node["gradient"] for node in shown["nodes"][:3]] == [-2, 5, 1]


# Bad settings


@pytest.mark.parametrize(
    ("activity", "settings", "message"),
    [
        (recall, {"digits": []}, "length"),
        (recall, {"digits": [3, 3]}, "different digits"),
        (recall, {"digits": [12]}, "from 0 to 9"),
        (recall, {"ink": "!!"}, "base64"),
        (recall, {"ink": "AAAA"}, "3136 pixels"),
        (digit, {"network": "gpt"}, "network"),
        (digit, {"seed": -1}, "seed"),
        (convolution, {"kernel": [1.0] * 16}, "9 or 25"),
        (convolution, {"image": "own"}, "1 × 1 has 1 pixels"),
        (convolution, {"image": "digit", "kernel": [1.0] * 25, "dilation": 4}, "does not fit"),
        (convolution, {"image": "../secret"}, "image"),
        (descent, {"formula": "import os"}, "not a formula"),
        (descent, {"rate": float("nan")}, "finite"),
        (descent, {"left": 5.0}, "must be below"),
        (descent, {"optimizers": []}, "length"),
        (backpropagation, {"values": {"nobody": 1.0}}, "input"),
        (backpropagation, {"values": {"b": 1e9}}, "from -100 to 100"),
        (backpropagation, {"values": {"b": "x"}}, "must be a number"),
        (backpropagation, {"example": "formula", "formula": "1 + 2"}, "depend on"),
    ],
)
def test_bad_settings_get_one_sentence(
    activity: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        next(activity.run(settings)).draw()
