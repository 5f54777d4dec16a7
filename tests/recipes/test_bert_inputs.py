"""What BERT is asked: hidden words, tags of words, and spans of passages."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from chainrule.data.datasets import squad
from chainrule.data.datasets.ewt import TAGS, Sentence
from chainrule.data.datasets.squad import Answer, Question
from chainrule.data.text.wordpiece import CLS, MASK, PAD, SEP, WordPiece, train_wordpiece
from chainrule.learning.bag_of_words import bag_of_words
from chainrule.learning.masking import mask_tokens
from chainrule.models.attention.bert import BERT
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.models.attention.bert_question_answering import BertQuestionAnswering
from chainrule.recipes.attention import ewt_bert
from chainrule.recipes.families import tagging
from chainrule.recipes.families.bert import TrimmedPadding, segments, trimmed
from chainrule.recipes.families.masked_lm import MaskedLM, all_tasks, masked_lm_task
from chainrule.recipes.families.span_qa import (
    Paired,
    always,
    answered,
    ask,
    commonest_span,
    inside,
    rows,
    whole_words,
    windows,
)
from chainrule.runs.blanks import fill
from chainrule.training import evaluate

pytest.importorskip("tokenizers")


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    return train_wordpiece(["the dog ran to the old park and the cat sat"] * 2, 60, max_length=16)


def model(symbols: int = 60) -> BertPretraining:
    torch.manual_seed(0)
    return BertPretraining(BERT(symbols, 16, 8, 2, 2, 0.0))


def masked_lm(pieces: WordPiece) -> MaskedLM:
    """The weights of words differ, [UNK] and the like have none."""
    weights = torch.linspace(0.1, 1, len(pieces)).where(torch.arange(len(pieces)) > MASK, 0)
    return MaskedLM(model(len(pieces)), pieces, weights)


def test_the_loss_is_the_mean_over_all_hidden_words(pieces: WordPiece) -> None:
    """Against all logits at once, and padding changes nothing."""
    network = masked_lm(pieces).eval()
    x = pieces.encode_texts(["the dog ran", "the cat sat and the dog ran to the old park"])
    y = torch.tensor([0, 1])
    hidden = mask_tokens(x, network.scheme, torch.Generator().manual_seed(0))
    found = network.model.logits(hidden.tokens, segments(hidden.tokens, SEP))
    logits = found.tokens.gather(1, hidden.positions[:, :, None].expand(-1, -1, len(pieces)))
    words = F.cross_entropy(logits[hidden.valid], hidden.targets[hidden.valid])
    pairs = F.cross_entropy(found.next_sentence, y)
    texts = bag_of_words(found.tokens[:, 0], x, network.weights).mean()  # hidden words as well
    with torch.no_grad():
        output = network(x)
    for gist in (0.0, 4.0):
        loss = all_tasks(output, y, gist).mean().item()
        assert loss == pytest.approx((words + pairs + gist * texts).item(), rel=1e-5)
    found = evaluate(network, (x, y), masked_lm_task(4.0))
    assert found["loss"] == pytest.approx(loss, rel=1e-5)
    assert found["text_perplexity"] == pytest.approx(texts.exp().item(), rel=1e-5)
    assert found["perplexity"] == pytest.approx(words.exp().item(), rel=1e-5)
    right = logits.argmax(2)[hidden.valid] == hidden.targets[hidden.valid]
    assert found["word_accuracy"] == right.double().mean().item()


def test_words_are_hidden_anew_in_training_and_alike_in_measuring(pieces: WordPiece) -> None:
    network = masked_lm(pieces)
    x = pieces.encode_texts(["the cat sat and the dog ran to the old park"] * 3)
    torch.manual_seed(0)
    first, second = network(x), network(x)
    assert not torch.equal(first, second)
    torch.manual_seed(0)
    assert torch.equal(network(x), first)
    network.eval()
    assert torch.equal(network(x), network(x))


def test_rows_of_any_length_are_measured_in_their_order(
    pieces: WordPiece, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["the", "cat", "sat", "and", "the", "dog", "ran", "to", "the", "old", "park"]
    x = pieces.encode_texts([" ".join(words[: 1 + k % 11]) for k in range(25)])
    network = masked_lm(pieces).eval()
    torch.manual_seed(0)
    reader = TrimmedPadding(BertQuestionAnswering(BERT(len(pieces), 16, 8, 2, 2, 0.0)), -5.0).eval()
    whole, places = network(x), reader(x)
    for module in ("masked_lm", "bert"):
        monkeypatch.setattr(f"chainrule.recipes.families.{module}.AT_ONCE", 4)
    torch.testing.assert_close(network(x), whole)
    torch.testing.assert_close(reader(x)[x != PAD], places[x != PAD])
    assert (reader(x)[x == PAD] == -5).all() and (places[x == PAD] == -5).all()
    assert trimmed(x[:3]).shape[1] == 5


def test_the_second_text_begins_behind_the_first_mark() -> None:
    tokens = torch.tensor([[CLS, 7, SEP, 8, 9, SEP, PAD], [CLS, 7, 8, SEP, PAD, PAD, PAD]])
    assert segments(tokens, SEP).tolist() == [[0, 0, 0, 1, 1, 1, 0], [0] * 7]


def test_special_tokens_are_never_guessed(pieces: WordPiece) -> None:
    network = model(len(pieces))
    with torch.no_grad():
        network.bias[:5] = 100.0
    (guesses,) = fill(network, pieces, "the [MASK] ran", most=len(pieces))
    assert len(guesses) == len(pieces) - 5 and sum(p for _, p in guesses) == pytest.approx(1)
    assert not any(word.startswith("[") for word, _ in guesses)


def test_a_long_sentence_is_tagged_in_parts(pieces: WordPiece) -> None:
    words = ["the", "park", "running"] * 20
    tags = [6, 8, 16] * 20
    x, y = ewt_bert.split([Sentence(words, tags, "", 1)], pieces)
    assert len(x) > 2 and (x[:, 0] == CLS).all()
    assert y[y > 0].tolist() == tags
    first = [pieces.encode(word)[0] for word in words]
    assert x[y > 0].tolist() == first and TAGS[16] == "VERB"
    assert (x == SEP).sum(1).eq(1).all()


def test_a_tag_counts_the_same_in_a_short_and_in_a_long_sentence(few_texts: Path) -> None:
    torch.manual_seed(0)
    output, y = torch.randn(3, 5, len(TAGS)), torch.tensor([[0, 3, 0], [1, 2, 9], [0, 0, 4]])
    y = F.pad(y, (1, 1))
    wanted = F.cross_entropy(output[:, :, 1:][y > 0], y[y > 0] - 1)
    torch.testing.assert_close(tagging.per_word(output, y).mean(), wanted)
    recipe = ewt_bert.Recipe(
        vocab_size=120, hidden_size=32, num_layers=2, num_heads=2, max_length=32
    )
    data = recipe.data(few_texts)
    loss = recipe.task(data).minimized
    words = (data.train.y > 0).sum(1).double().mean().item()
    assert loss(output[:1], y[:1]).item() == pytest.approx(
        F.cross_entropy(output[:1, :, 1:][y[:1] > 0], y[:1][y[:1] > 0] - 1).item() / words
    )


def long_question() -> Question:
    passage = "the old dog ran and " * 6 + "the cat sat to the park"
    return Question("who sat", passage, (Answer(passage.index("cat"), "cat"),), "")


def test_windows_cover_the_passage_and_one_at_least_holds_the_answer(pieces: WordPiece) -> None:
    question = long_question()
    found = windows([question], pieces)
    assert len(found) > 3
    read = [place for window in found for place in window.offsets]
    assert {*range(len(question.passage))} - {k for a, b in read for k in range(a, b)} == {
        k for k, c in enumerate(question.passage) if c == " "
    }
    holding = [window for window in found if window.answer != (0, 0)]
    assert holding
    for window in holding:
        a, b = (place - window.start for place in window.answer)
        assert question.passage[window.offsets[a][0] : window.offsets[b][1]] == "cat"
        assert len(window.tokens) <= pieces.max_length


def test_the_best_legal_span_of_all_windows_is_the_answer(pieces: WordPiece) -> None:
    question = long_question()
    found = windows([question], pieces)
    holding = next(k for k, window in enumerate(found) if window.answer != (0, 0))
    output = torch.zeros(len(found), pieces.max_length, 2)
    output[:, 0] = 5.0  # not here
    first, last = found[holding].answer
    output[holding, 0], output[holding, first, 0], output[holding, last, 1] = 0.0, 5.0, 5.0
    output[:, 1] = 9.0  # in the question, where no answer may be
    (best,) = answered(output, found, [question], longest=3)
    assert best.text == "cat" and 0 < best.probability < 1
    mask = inside(found, pieces.max_length)
    assert not mask[:, :4].any() and (rows(found, pieces.max_length)[mask] > MASK).all()


def test_a_question_reads_its_passage_as_the_second_text(pieces: WordPiece) -> None:
    torch.manual_seed(0)
    network = BertQuestionAnswering(BERT(len(pieces), 16, 8, 2, 2, 0.0)).eval()
    question = Question("who ran", "the dog ran", (), "")
    tokens, kinds, _ = pieces.encode_question(question.text, question.passage)
    x = torch.tensor([tokens])
    with torch.no_grad():
        direct = network(x, torch.tensor([kinds]))
        torch.testing.assert_close(Paired(network, SEP)(x), direct)
        assert not torch.allclose(network(x), direct)
    (found,) = ask(Paired(network, SEP), [question], pieces, 3)
    assert found.text and found.text in question.passage


def test_the_commonest_place_is_that_of_most_training_answers(few_texts: Path) -> None:
    asked = squad.questions(few_texts)["train"]
    assert commonest_span(asked) == (2, 2)
    assert always((0, 1), [long_question()]) == ["the old"]
    assert always((500, 900), [long_question()]) == ["park"]


def test_an_answer_ends_where_a_word_ends() -> None:
    passage = "a man from Kent, 1066"
    assert whole_words(passage, 3, 12) == "man from Kent"
    assert whole_words(passage, 0, 1) == "a" and whole_words(passage, 18, 20) == "1066"
