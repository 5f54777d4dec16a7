"""WordPiece: round trips, the same pieces every time, offsets in a text."""

import json
from pathlib import Path

import pytest
import torch

from chainrule.data import encoder_from_json
from chainrule.data.text.wordpiece import (
    CLS,
    MASK,
    PAD,
    SEP,
    SPECIAL,
    UNK,
    WordPiece,
    read_wordpiece,
    train_wordpiece,
)
from chainrule.errors import InputError

pytest.importorskip("tokenizers")
TEXTS = [
    "The cat sat on the mat, the dog ran away.",
    "A dog and a cat: running, sitting, runs and sits!",
    "Nobody can see the runner sit on the map.",
] * 3


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    return train_wordpiece(TEXTS, vocab_size=90, max_length=12)


def test_the_special_tokens_come_first_and_the_size_holds(pieces: WordPiece) -> None:
    assert pieces.tokens[:5] == SPECIAL
    assert [*range(5)] == [PAD, UNK, CLS, SEP, MASK]
    assert 60 < len(pieces) <= 90 and len(set(pieces.tokens)) == len(pieces)
    assert "the" in pieces.tokens


def test_the_same_texts_give_the_same_pieces(pieces: WordPiece) -> None:
    for _ in range(5):
        assert train_wordpiece(TEXTS, vocab_size=90).tokens == pieces.tokens


def test_pieces_are_the_longest_that_fit(pieces: WordPiece) -> None:
    """Against the greedy algorithm written out."""

    def split(word: str) -> list[str]:
        found, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in pieces.tokens:
                    break
            else:
                return ["[UNK]"]
            found.append(piece)
            start = end
        return found

    for word in ("running", "cat", "tag", "mapping", "xylophone", "sits"):
        assert [pieces.tokens[number] for number in pieces.encode(word)] == split(word)


def test_texts_come_back(pieces: WordPiece) -> None:
    assert pieces.decode(pieces.encode("The cat ran on.")) == "the cat ran on."
    assert pieces.encode("the [MASK] ran")[1] == MASK
    assert pieces.decode(pieces.encode("the [MASK] ran")) == "the [MASK] ran"
    assert pieces.encode("Ωmega")[0] == UNK
    assert not {PAD, CLS, SEP} & set(pieces.encode("[PAD] [CLS] [SEP]"))  # no text can spell them


def test_rows_are_framed_cut_and_filled_up(pieces: WordPiece) -> None:
    rows = pieces.encode_texts(["the cat", "cat " * 20 + "the " * 20])
    assert rows.shape == (2, 12)
    cat, the = pieces.token_to_id["cat"], pieces.token_to_id["the"]
    assert rows[1].tolist() == [CLS, *[cat] * 5, *[the] * 5, SEP], "both ends are kept"
    with pytest.raises(InputError, match="expected words, got '  '"):
        pieces.encode_texts(["the cat", "  "])
    assert rows[0, 0] == CLS and (rows[0] == SEP).sum() == 1 and not rows[0, -1]
    assert rows[1, 0] == CLS and rows[1, -1] == SEP and PAD not in rows[1]


def test_answers_are_found_again_in_the_passage(pieces: WordPiece) -> None:
    passage = "The  cat sat on the mat."
    tokens, segments, offsets = pieces.encode_question("Who sat?", passage)
    second = tokens.index(SEP) + 1
    assert tokens[0] == CLS and tokens[-1] == SEP and tokens.count(SEP) == 2
    assert segments == [0] * second + [1] * (len(tokens) - second)
    for place in range(second, len(tokens) - 1):
        start, end = offsets[place]
        assert passage[start:end].lower() == pieces.tokens[tokens[place]].removeprefix("##")


def test_json_on_disk(pieces: WordPiece, tmp_path: Path) -> None:
    pieces.save(tmp_path / "pieces.json")
    again = read_wordpiece(tmp_path / "pieces.json")
    assert again == pieces == encoder_from_json(pieces.to_json())
    assert again != WordPiece(pieces.tokens, 13)
    assert torch.equal(again.encode_texts(TEXTS), pieces.encode_texts(TEXTS))
    assert json.loads((tmp_path / "pieces.json").read_text("utf-8"))["kind"] == "wordpiece"
    (tmp_path / "lines.txt").write_text("the cat\n\na dog\n", "utf-8")
    assert len(pieces.encode_file(tmp_path / "lines.txt")) == 2


def test_the_published_vocabulary_has_its_marks_elsewhere(tmp_path: Path) -> None:
    """BERT's vocab.txt: [PAD], places nobody uses, [UNK] to [MASK] from 100 on, then pieces."""
    from transformers import BertTokenizer

    unused = [f"[unused{k}]" for k in range(99)]
    words = ["the", "dog", "##s", "ran", ".", "a"]
    lines = ["[PAD]", *unused, *SPECIAL[1:], *words]
    (tmp_path / "vocab.txt").write_text("\n".join(lines) + "\n", "utf-8-sig")
    marked = read_wordpiece(tmp_path / "vocab.txt", max_length=10)
    (tmp_path / "vocab.txt").write_text("\n".join(lines) + "\n", "utf-8")
    pieces = read_wordpiece(tmp_path / "vocab.txt", max_length=10)
    assert marked == pieces
    assert (pieces.unk, pieces.cls, pieces.sep, pieces.mask) == (100, 101, 102, 103)
    text = "The dogs ran [MASK] zebra."
    published = BertTokenizer(str(tmp_path / "vocab.txt"))
    row = pieces.encode_texts([text])[0].tolist()
    assert row == published(text, padding="max_length", max_length=10)["input_ids"]
    asked = pieces.encode_question("a dog", "the dog ran")
    both = published("a dog", "the dog ran")
    assert asked.tokens == both["input_ids"] and asked.segments == both["token_type_ids"]
    assert pieces.decode(row) == "the dogs ran [MASK] [UNK]."


def test_what_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[PAD\] the first and \[UNK\], "):
        WordPiece(["a", "b"])
    with pytest.raises(InputError, match=r"\[PAD\] the first"):
        WordPiece(["a", *SPECIAL])
    with pytest.raises(InputError, match="a vocab_size of 45 or more"):
        train_wordpiece(TEXTS, vocab_size=20)
    with pytest.raises(InputError, match="letters in them"):
        train_wordpiece([" "], vocab_size=20)
    (tmp_path / "bad.json").write_text("[1]", "utf-8")
    with pytest.raises(InputError, match="is neither a vocabulary"):
        read_wordpiece(tmp_path / "bad.json")
