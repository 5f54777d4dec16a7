"""Language models and translators: pieces, padding, alignment, and what they can learn."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.bag_of_words import BagOfWords
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.models.recurrent.text_classifier import TextClassifier
from chainrule.nn.decoding import DecodingConfig, greedy

CELLS = ["elman", "lstm", "gru", "mingru", "minlstm", "lru"]
ENDS = DecodingConfig(2, 3, max_length=12)


def translator(kind: str, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return Bahdanau(9, 9, 6, 8) if kind == "bahdanau" else Seq2Seq(9, 9, kind, 6, 8)


def sentences(lengths: list[int], total: int, seed: int = 0) -> Tensor:
    """Tokens from 4 up, then padding."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(4, 9, (len(lengths), total), generator=generator)
    return tokens * (torch.arange(total) < torch.tensor(lengths)[:, None])


@pytest.mark.parametrize("cell", CELLS)
def test_a_text_read_in_pieces_gives_the_same_logits(cell: str) -> None:
    torch.manual_seed(0)
    model = LanguageModel(7, cell, 8, num_layers=2, embedding_dim=4)
    tokens, state, found = torch.randint(7, (3, 11)), None, []
    for piece in tokens.split((4, 1, 6), 1):
        logits, state = model.decode_step(piece, state)
        found.append(logits)
    torch.testing.assert_close(torch.cat(found, 1), model(tokens), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("cell", ["lstm", "mingru"])
def test_the_future_does_not_reach_the_past(cell: str) -> None:
    torch.manual_seed(0)
    model, tokens = LanguageModel(7, cell, 8, embedding_dim=4), torch.randint(7, (2, 9))
    other = tokens.clone()
    other[:, 5:] = (tokens[:, 5:] + 1) % 7
    torch.testing.assert_close(model(tokens)[:, :5], model(other)[:, :5])


def test_it_writes_the_same_with_the_same_seed_and_at_zero_the_likeliest() -> None:
    torch.manual_seed(0)
    model, prompt = LanguageModel(7, "gru", 8, embedding_dim=4).eval(), torch.tensor([1, 2, 3])

    def generate(temperature: float, seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        return model.generate(prompt, 20, temperature, generator=generator).tolist()

    assert generate(1.0, 0) == generate(1.0, 0) != generate(1.0, 1)
    text = prompt.tolist()
    for _ in range(20):
        text.append(int(model(torch.tensor([text]))[0, -1].argmax()))
    assert generate(0.0, 0) == text[3:]


@pytest.mark.parametrize("kind", ["gru", "lstm", "mingru", "bahdanau"])
def test_padding_changes_nothing(kind: str) -> None:
    model = translator(kind).eval()
    source, target = sentences([3, 6, 1], 6), sentences([5, 2, 4], 5, 1)
    found = model(source, target)
    wider = model(F.pad(source, (0, 4)), F.pad(target, (0, 3)))
    for row, (m, n) in enumerate([(3, 5), (6, 2), (1, 4)]):
        alone = model(source[row : row + 1, :m], target[row : row + 1, :n])[0]
        torch.testing.assert_close(found[row, :n], alone)
        torch.testing.assert_close(wider[row, :n], alone)


@pytest.mark.parametrize("kind", ["gru", "lru", "bahdanau"])
def test_step_by_step_is_teacher_forcing(kind: str) -> None:
    model = translator(kind).eval()
    source, target = sentences([4, 2], 4), sentences([6, 6], 6, 1)
    state, found = model.encode(source), []
    for token in target.unbind(1):
        log_p, state = model.decode_step(token, state)
        found.append(log_p)
    expected = model(source, target).log_softmax(-1)
    torch.testing.assert_close(torch.stack(found, 1), expected, atol=1e-5, rtol=1e-4)


def test_attention_is_a_law_over_the_words_only() -> None:
    model = translator("bahdanau").eval()
    a = model.alignment(sentences([3, 5], 7), sentences([4, 4], 4, 1))
    assert a.shape == (2, 4, 5)
    torch.testing.assert_close(a.sum(2), torch.ones(2, 4))
    assert (a[0, :, 3:] == 0).all() and (a[1] > 0).all()


def test_the_context_is_the_mean_of_what_is_attended_to() -> None:
    """One step written out."""
    model = translator("bahdanau").eval()
    source, y = sentences([4], 4), torch.tensor([5])
    state = model.encode(source)
    s, zeta, *_ = state
    scores = torch.tanh(s @ model.query.weight.T + zeta[0] @ model.key.weight.T + model.key.bias)
    a = (scores @ model.score.weight[0]).softmax(0)
    c = a @ zeta[0]
    _, context, weights = model.attend(model.word_gates(model.target_embedding(y)), state)
    torch.testing.assert_close(weights[0], a)
    torch.testing.assert_close(context[0], c)


def test_a_translator_with_attention_learns_to_turn_a_sentence_round() -> None:
    model = translator("bahdanau")
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(4, 9, (256, 4), generator=generator)
    begin, end = torch.full((256, 1), 2), torch.full((256, 1), 3)
    target = torch.cat([source.flip(1), end], 1)
    previous = torch.cat([begin, target[:, :-1]], 1)
    adam = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(120):
        adam.zero_grad()
        F.cross_entropy(model(source, previous).flatten(0, 1), target.flatten()).backward()
        adam.step()
    written = greedy(model.decode_step, tuple(model.encode(source)), 256, ENDS)
    assert (written[:, :5] == target).all(1).float().mean() > 0.9
    order = model.alignment(source, previous)[:, :4].mean(0).argmax(1)
    assert order.tolist() == [3, 2, 1, 0], "it looks at the word that it writes"


def test_the_bag_is_an_mlp_on_zeros_and_ones() -> None:
    torch.manual_seed(0)
    for hidden in ((), (5,), (5, 3)):
        model = BagOfWords(8, hidden, 2)
        tokens = torch.tensor([[1, 4, 7, 0], [2, 0, 0, 0]])
        x = torch.zeros(2, 8).scatter_(1, tokens, 1.0)
        x[:, 0] = 0
        h = x @ model.words.weight + model.bias
        expected = h if model.rest is None else model.rest(h.relu())
        torch.testing.assert_close(model(tokens), expected)


@pytest.mark.parametrize("cell", ["lstm", "lru"])
def test_a_classifier_of_texts_ignores_padding(cell: str) -> None:
    torch.manual_seed(0)
    model = TextClassifier(9, 3, cell, 4, 8).eval()
    tokens = sentences([3, 6], 6)
    torch.testing.assert_close(model(F.pad(tokens, (0, 5))), model(tokens))
    torch.testing.assert_close(model(tokens[:1, :3]), model(tokens)[:1])


def test_an_empty_text_has_an_answer() -> None:
    tokens = torch.zeros(2, 4, dtype=torch.long)
    tokens[1, 0] = 5
    assert TextClassifier(9, 3)(tokens).isfinite().all()


def test_sizes_that_make_no_sense_are_refused() -> None:
    for make in (
        lambda: LanguageModel(1),
        lambda: Seq2Seq(1, 5),
        lambda: Bahdanau(5, 5, 0),
        lambda: BagOfWords(1),
        lambda: TextClassifier(5, 0),
    ):
        with pytest.raises(InputError, match=r"must be a whole number of at least [12]"):
            make()
    with pytest.raises(InputError, match="did you mean gru"):
        LanguageModel(5, "grru")
