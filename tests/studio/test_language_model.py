"""The language model of the page: it learns, writes, and shows where it looks."""

import base64
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import chainrule as cr
from chainrule.data.text.vocabulary import character_vocabulary
from chainrule.errors import InputError
from chainrule.nn.attention import attention_maps
from chainrule.nn.decoding import token_probabilities
from chainrule.recipes.families import language_model as families
from chainrule.runs.generate import sample
from chainrule.studio import place
from chainrule.studio.activities import language_model
from chainrule.studio.activity import Activity, Json
from chainrule.studio.sequences.texts import course
from chainrule.studio.sequences.writer import Sampling, Writer

TEXT = "the cat sat on the mat and the dog sat on the log. " * 30
OWN = {"corpus": "own", "text": TEXT, "prompt": "the "}


def decoded(raster: Json) -> np.ndarray:
    """The numbers of a raster from 0 to 1."""
    content = np.frombuffer(base64.b64decode(raster["data"]), np.uint8)
    return content.reshape(raster["shape"]) / 255


def begun(**settings: Any) -> Activity:
    """The activity after it has loaded its network."""
    activity = language_model.run(OWN | settings)
    assert next(activity).draw() == {"loading": True}
    next(activity)
    return activity


def trained(activity: Activity, steps: int) -> Json:
    view = [activity.send(None) for _ in range(steps)][-1]
    return view.draw()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run folder with one small GPT in it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "text.txt").write_text(TEXT)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(families, "SAMPLE_LENGTH", 10)
    cr.train(
        "gpt", text=str(folder / "text.txt"), context_length=16, hidden_size=16, num_layers=1,
        num_heads=2, epochs=1, epoch_steps=20, out=folder / "runs" / "small", progress=False,
        pictures=False,
    )  # fmt: skip
    monkeypatch.undo()
    before = place.root()
    place.settle(folder / "runs")
    yield folder / "runs" / "small"
    place.settle(before)


@pytest.mark.parametrize("model", ["gpt", "lru"])
def test_it_learns_from_a_text(model: str) -> None:
    found = trained(begun(model=model), 31)["learning"]
    losses = found["curve"][1]
    assert (
        found["step"] == 31 and found["curve"][0] == [10, 20, 30] and losses[-1] < 0.8 * losses[0]
    )
    assert [s["step"] for s in found["samples"]] == [1]
    assert found["samples"][0]["text"].startswith("the ")


def test_the_same_seed_learns_the_same_and_another_does_not() -> None:
    first, second, other = (trained(begun(model="gru", seed=k), 11)["learning"] for k in (1, 1, 2))
    assert first == second != other


def test_it_writes_what_the_command_line_writes(finished: Path) -> None:
    activity = language_model.run({"run": "small", "prompt": "the ", "seed": 3, "top_p": 0.9})
    next(activity), next(activity)
    written = trained(activity, 40)["writing"]["text"]
    assert written == cr.load(finished).generate("the ", 40, temperature=0.8, seed=3, top_p=0.9)


@pytest.mark.parametrize("model", ["gpt", "lstm"])
def test_a_writer_goes_on_beyond_its_context(model: str) -> None:
    vocabulary = character_vocabulary(TEXT)
    network = language_model.network(model, len(vocabulary))
    writer = Writer(network, vocabulary, "the cat", Sampling(1.0, 5, 0.9), seed=2)
    for _ in range(70):
        writer.append()
    assert writer.text == sample(network, vocabulary, "the cat", 70, 1.0, 5, 2, 0.9)


def test_the_bars_are_the_probabilities_and_follow_the_sliders_without_a_step() -> None:
    activity = begun()
    activity.send({"phase": "writing", "temperature": 1.0})
    view = activity.send(None).draw()["writing"]
    changed = activity.send({"temperature": 0.0}).draw()["writing"]
    assert view["text"] == changed["text"]
    assert sorted(view["drawn"], reverse=True) == view["drawn"] == view["own"]
    assert changed["drawn"][0] == 1 and changed["chosen"] == 0 and changed["kept"] == 1
    assert changed["next"][0] == view["next"][0]
    assert activity.send({"temperature": 1.0, "top_k": 3}).draw()["writing"]["kept"] == 3
    back = activity.send({"temperature": 1.0, "top_k": 0}).draw()["writing"]
    assert back == view  # the same random number draws again


def test_the_probabilities_are_the_networks() -> None:
    vocabulary = character_vocabulary(TEXT)
    network = language_model.network("gpt", len(vocabulary))
    writer = Writer(network, vocabulary, "the mat", Sampling(0.5, 4, 1.0))
    with torch.no_grad():
        logits = network(torch.tensor([vocabulary.encode("the mat")]))[:, -1]
    logits[:, :2] = -torch.inf
    drawn, own = writer.probabilities()
    torch.testing.assert_close(own, logits.softmax(1)[0])
    torch.testing.assert_close(drawn, token_probabilities(logits, 0.5, 4)[0])


def test_the_maps_are_those_of_every_head_causal_and_sum_to_one() -> None:
    vocabulary = character_vocabulary(TEXT)
    network = language_model.network("gpt", len(vocabulary))
    found = language_model.attention(network, vocabulary, "the dog sat")
    tokens = torch.tensor([vocabulary.encode("the dog sat")])
    direct = torch.cat(list(attention_maps(network, tokens).values())).numpy()
    assert found is not None and found["tokens"] == list("the dog sat")
    peaks = np.array(found["peaks"])[..., None]
    np.testing.assert_allclose(decoded(found["maps"]) * peaks, direct, atol=0.003)
    assert (np.triu(decoded(found["maps"]), 1) == 0).all()
    assert found["sums"] == pytest.approx([1, 1], abs=1e-5)


def test_a_recurrent_network_has_no_maps_and_no_text_asks_for_none() -> None:
    assert trained(begun(model="lru", attended="the"), 1)["attention"] is None
    assert trained(begun(attended=""), 1)["attention"] is None


def test_a_prompt_it_cannot_read_is_refused_and_it_goes_on() -> None:
    activity = begun()
    refused = activity.send({"prompt": "Ω"}).draw()
    assert "'Ω'" in refused["problem"] and refused["writing"]["text"] == "the "
    assert activity.send({"temperature": 1.0}).draw()["problem"] == refused["problem"]
    accepted = activity.send({"prompt": "the log"}).draw()
    assert accepted["problem"] == "" and accepted["writing"]["text"] == "the log"


@pytest.mark.parametrize(
    "settings",
    [
        {"run": "../secret"},
        {"run": "absent"},
        {"model": "transformer"},
        {"corpus": "own", "text": "short"},
        {"seed": -1},
        {"temperature": float("nan")},
        {"top_p": 0},
        {"prompt": "x" * 401},
        {"attended": "x" * 49},
        {"path": "/etc/passwd"},
    ],
)
def test_bad_settings_are_one_sentence(settings: Json) -> None:
    with pytest.raises(InputError):
        list(islice(language_model.run(settings), 2))


def test_the_courses_own_words_are_text_enough() -> None:
    text = course()
    assert len(text) > 50_000 and "attention" in text
