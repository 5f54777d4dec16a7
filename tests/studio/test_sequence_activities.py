"""Translation, masked words and gradients through time: the page shows what they compute."""

import base64
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.models.recurrent import Elman
from chainrule.models.recurrent.elman import backpropagation_through_time
from chainrule.nn.attention import attention_maps
from chainrule.runs.blanks import fill
from chainrule.studio.activities import gradients_through_time as gradients
from chainrule.studio.activities import masked_words, translation
from chainrule.studio.activity import Activity, Json
from chainrule.studio.sequences import phrases

CELLS = ("elman", "lstm", "gru", "antisymmetric", "lru")


def view_after(activity: Activity, steps: int) -> Json:
    """What the page sees after so many steps."""
    return list(islice(activity, steps + 2))[-1].draw()


def test_a_small_network_learns_to_translate_sentences_it_has_not_seen() -> None:
    view = view_after(
        translation.run({"task": "numbers", "sentence": "three hundred forty two"}), 168
    )
    assert view["learning"]["right"] > 0.9
    found = view["translation"]
    assert found["written"] == ["3", "4", "2", "</s>"]
    rows, columns = found["weights"]["shape"]
    weights = np.frombuffer(base64.b64decode(found["weights"]["data"]), np.uint8)
    weights = weights.reshape(rows, columns) / 255
    np.testing.assert_allclose(weights.sum(1), 1, atol=0.01)
    assert (rows, columns) == (4, 4) and weights[0].argmax() in (0, 1)


@pytest.mark.parametrize("model", ["bahdanau", "transformer"])
def test_the_alignment_is_a_distribution_for_every_word(model: str) -> None:
    source = translation.learning(translation.Settings(model=model))  # type: ignore[arg-type]
    tokens = source.encoder.encode_texts(["the black cat sees a red house"])
    with torch.no_grad():
        weights = translation.alignment(source.model, tokens, torch.tensor([[2, 5, 6]]))
    assert weights is not None and weights.shape == (3, 7)
    torch.testing.assert_close(weights.sum(1), torch.ones(3))


def test_a_network_without_attention_has_no_alignment() -> None:
    view = view_after(translation.run({"model": "seq2seq", "sentence": "the cat sees a dog"}), 0)
    assert view["translation"]["weights"] is None


def test_a_new_sentence_is_translated_without_a_step_and_words_may_be_unknown() -> None:
    activity = translation.run({"sentence": "the cat sees a dog"})
    before = view_after(activity, 3)
    after = activity.send({"sentence": "the zebra sees a dog"}).draw()
    assert after["translation"]["source"][1] == "zebra (unknown)"
    assert after["learning"] == before["learning"]
    assert "expected words" in activity.send({"sentence": " "}).draw()["problem"]


@pytest.mark.parametrize("activity", [translation, masked_words])
def test_what_is_sent_while_the_network_is_made_is_not_lost(activity: Any) -> None:
    playing = activity.run({"sentence": "the [MASK] sees a [MASK]"})
    next(playing)
    view = playing.send({"sentence": "this [MASK]"}).draw()
    assert len(view.get("blanks", [1])) == 1
    assert view.get("translation", {"source": ["this"]})["source"][0] == "this"


@pytest.mark.parametrize("number", [0, 7, 10, 13, 20, 42, 100, 342, 999])
def test_number_words_say_the_number(number: int) -> None:
    words, digits = phrases.number_pair(number)
    values = {word: k for k, word in enumerate(phrases.UNITS)}
    values |= {word: 10 + k for k, word in enumerate(phrases.TEENS)}
    values |= {word: 10 * k for k, word in enumerate(phrases.TENS) if k > 1}
    total = 0
    for word in words.split():
        total = 100 * total if word == "hundred" else total + values[word]
    assert total == number == int(digits.replace(" ", ""))


def test_french_adjectives_follow_and_agree() -> None:
    for english, french in phrases.pairs("phrases", 200, 1):
        words = french.split()
        for noun in phrases.PEOPLE + phrases.THINGS:
            if noun.french in words:
                place = words.index(noun.french)
                assert words[place - 1] in {
                    forms[noun.gender] for forms in phrases.ARTICLES.values()
                }
        assert len(english.split()) >= 5


def test_masked_words_learn_where_nouns_stand() -> None:
    sentence = "the [MASK] sees a red [MASK] ."
    view = view_after(masked_words.run({"sentence": sentence}), 105)
    losses = view["learning"]["curve"][1]
    assert losses[-1] < 0.7 * losses[0]
    nouns = {noun.english for noun in phrases.PEOPLE + phrases.THINGS}
    first, second = view["blanks"]
    assert len(first["words"]) == 10 and first["p"] == sorted(first["p"], reverse=True)
    assert set(first["words"][:3]) <= {noun.english for noun in phrases.PEOPLE}
    assert set(second["words"][:3]) <= nouns


def test_the_words_are_those_of_the_library() -> None:
    source = masked_words.learning(masked_words.Settings())
    shown = masked_words.drawn(source, "the [MASK] sees")["blanks"][0]
    direct = fill(source.model, source.pieces, "the [MASK] sees", 10)[0]
    assert shown["words"] == [c.word for c in direct]
    np.testing.assert_allclose(shown["p"], [c.probability for c in direct], rtol=1e-3)


def test_bert_looks_both_ways_and_every_row_sums_to_one() -> None:
    source = masked_words.learning(masked_words.Settings())
    shown = masked_words.drawn(source, "the cat sees a [MASK]")["attention"]
    assert shown["tokens"] == ["[CLS]", "the", "cat", "sees", "a", "[MASK]", "[SEP]"]
    assert shown["maps"]["shape"] == [2, 4, 7, 7]
    np.testing.assert_allclose(shown["sums"], 1, atol=1e-5)
    data = np.frombuffer(base64.b64decode(shown["maps"]["data"]), np.uint8).reshape(2, 4, 7, 7)
    tokens = [source.pieces.cls, *source.pieces.encode("the cat sees a [MASK]"), source.pieces.sep]
    direct = torch.cat([*attention_maps(source.model.bert, torch.tensor([tokens])).values()])
    np.testing.assert_allclose(
        data / 255 * np.array(shown["peaks"])[..., None], direct, atol=1 / 255
    )
    assert np.triu(data, 1).any() and np.tril(data, -1).any()
    assert masked_words.drawn(source, "the " * 40)["attention"] is None


def test_a_sentence_without_a_blank_is_refused_and_it_goes_on() -> None:
    activity = masked_words.run({"sentence": "the cat"})
    assert "[MASK]" in view_after(activity, 1)["problem"]
    assert activity.send({"sentence": "the [MASK]"}).draw()["problem"] == ""


def test_the_gradient_of_an_elman_network_is_that_of_the_notes() -> None:
    chosen = gradients.Settings(steps=12, units=6, scale=0.9, inputs=1.0)
    layer, _, states, norms = gradients.traced(chosen)
    assert isinstance(layer, Elman)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        torch.randn(1, 12, gradients.INPUTS, dtype=torch.float64)
        gradients.built(chosen)
        u = torch.randn_like(states[-1])
    z = torch.cat(states[1:])[None]
    direct = torch.zeros_like(z)
    direct[0, -1] = u / u.norm()
    # ∂L/∂b of one step alone is δ_t, and ∂L/∂z_{t-1} = Uᵀ δ_t.
    delta = backpropagation_through_time(layer.U, torch.eye(6).double(), z, z, direct).x
    wanted = (delta[0] @ layer.U).norm(dim=1)
    torch.testing.assert_close(norms[:-1], wanted.detach())
    assert norms[-1].item() == pytest.approx(1)


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(CELLS), st.floats(0.2, 2), st.floats(0, 3), st.integers(0, 99),
    st.sampled_from(["orthogonal", "gaussian"]), st.sampled_from(["tanh", "relu"]),
)  # fmt: skip
def test_no_gradient_exceeds_its_bounds(
    cell: str, scale: float, inputs: float, seed: int, matrix: str, activation: str
) -> None:
    chosen = {"cell": cell, "scale": scale, "inputs": inputs, "seed": seed, "matrix": matrix}
    view = next(gradients.run({**chosen, "activation": activation, "steps": 20, "units": 5})).draw()
    for norm, path, worst in zip(view["norms"][cell], view["path"], view["worst"], strict=True):
        assert (norm or 0) <= 1.001 * (path or 0) + 1e-12
        assert worst is None or (path or 0) <= 1.002 * worst + 1e-12


def test_orthogonal_weights_at_rest_reach_the_bound() -> None:
    view = next(gradients.run({"scale": 1.2, "inputs": 0, "steps": 30})).draw()
    assert view["norms"]["elman"] == view["path"] == view["worst"]
    assert view["per_step"] == view["size"] == view["radius"] == 1.2


def test_a_message_replaces_all_settings() -> None:
    activity = gradients.run({"scale": 1.0})
    next(activity)
    assert activity.send({"scale": 0.5, "cell": "lru"}).draw()["size"] == 0.5


@pytest.mark.parametrize(
    ("activity", "chosen"),
    [
        (gradients, {"cell": "rnn"}),
        (gradients, {"scale": 99.0}),
        (gradients, {"steps": 10**6}),
        (gradients, {"units": True}),
        (translation, {"run": "/etc"}),
        (translation, {"task": "poems"}),
        (translation, {"sentence": "x" * 401}),
        (masked_words, {"run": "absent"}),
        (masked_words, {"corpus": "own", "text": "short"}),
        (masked_words, {"folder": "."}),
    ],
)
def test_bad_settings_are_one_sentence(activity: Any, chosen: Json) -> None:
    with pytest.raises(InputError):
        list(islice(activity.run(chosen), 2))


@pytest.mark.parametrize(
    ("activity", "message"),
    [(gradients, {"cell": 3}), (translation, {"sentence": 3}), (masked_words, {"word": "x"})],
)
def test_bad_messages_are_one_sentence(activity: Any, message: Json) -> None:
    playing = activity.run({})
    next(playing), next(playing)
    with pytest.raises(InputError):
        playing.send(message)
