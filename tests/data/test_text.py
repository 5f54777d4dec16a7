"""Text as numbers: what is a word, what is unknown, and the way to JSON and back."""

import gzip
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data import cache, encoder_from_json
from chainrule.data.datasets import imdb, multi30k, nyse, tiny_shakespeare
from chainrule.data.text.encoders import BagEncoder, PairEncoder, TokenEncoder
from chainrule.data.text.vocabulary import (
    END,
    PADDING,
    SPECIAL,
    UNKNOWN,
    Vocabulary,
    character_vocabulary,
    pad_sequences,
    tokenize,
    word_vocabulary,
)
from chainrule.errors import InputError

SMALL = word_vocabulary([tokenize("A dog, a cat and a bird. The dog's t-shirt!")])


def test_words_are_lower_case_and_marks_stand_alone() -> None:
    assert tokenize("It's a T-shirt, Zoë!") == ["it's", "a", "t-shirt", ",", "zoë", "!"]
    assert tokenize("- 'quoted' …") == ["-", "'", "quoted", "'", "…"]
    assert tokenize(" \n ") == []


def test_a_vocabulary_keeps_the_frequent_words_and_breaks_ties_by_alphabet() -> None:
    texts = [["b", "a", "c", "b"], ["d", "c", "e"]]
    assert word_vocabulary(texts).tokens == (*SPECIAL, "b", "c", "a", "d", "e")
    assert word_vocabulary(texts, max_size=1).tokens == (*SPECIAL, "b")
    assert word_vocabulary(texts, min_count=2).tokens == (*SPECIAL, "b", "c")


@given(st.lists(st.sampled_from(SMALL.tokens[len(SPECIAL) :])))
def test_known_words_survive_being_written_and_read(tokens: list[str]) -> None:
    numbers = [SMALL.token_to_id[token] for token in tokens]
    again = SMALL.encode(SMALL.decode(numbers))
    assert [SMALL.tokens[n] for n in again] == tokens


@given(st.text(alphabet="abc \n,.X", min_size=1))
def test_characters_survive_being_numbered(text: str) -> None:
    vocabulary = character_vocabulary("abc \n,.X")
    assert vocabulary.decode(vocabulary.encode(text)) == text
    assert min(vocabulary.encode(text)) >= 2


def test_what_is_not_known_is_unknown_even_if_it_spells_a_special_token() -> None:
    assert SMALL.encode("A zebra") == [SMALL.token_to_id["a"], UNKNOWN]
    assert Vocabulary((*SPECIAL, "pad")).encode("<pad>") == [UNKNOWN, 4, UNKNOWN]
    assert character_vocabulary("<pad>").encode("<pad>") == [2, 6, 4, 5, 3]
    letters = character_vocabulary("ab")
    assert letters.encode("azb") == [2, UNKNOWN, 3]
    assert letters.decode([2, PADDING, UNKNOWN, 3]) == "a<unk>b"


def test_a_sentence_ends_at_its_end() -> None:
    a = SMALL.token_to_id["a"]
    assert SMALL.decode([a, PADDING, a, END, a]) == "a a"


def test_rows_are_padded_on_the_right_and_cut_on_the_left() -> None:
    assert pad_sequences([[1, 2, 3], [4]]).tolist() == [[1, 2, 3], [4, 0, 0]]
    assert pad_sequences([[1, 2, 3], [4]], 2).tolist() == [[2, 3], [4, 0]]


@pytest.mark.parametrize(
    "encoder",
    [
        SMALL,
        character_vocabulary("abc\n"),
        TokenEncoder(SMALL, 5),
        BagEncoder(SMALL, 7),
        PairEncoder(SMALL, word_vocabulary([["x"]])),
    ],
)
def test_every_reader_survives_json(encoder: object) -> None:
    again = encoder_from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder


def test_readers_take_sentences_and_files_of_them(tmp_path: Path) -> None:
    file = tmp_path / "two.txt"
    file.write_text("a dog\n\nthe cat and a cat\n", "utf-8")
    ids = SMALL.token_to_id
    tokens = TokenEncoder(SMALL, 3)
    assert tokens.encode_file(file).tolist() == [
        [ids["a"], ids["dog"], 0],
        [ids["and"], ids["a"], ids["cat"]],
    ]
    bag = BagEncoder(SMALL, 6).encode_texts(["the cat and a zebra and a cat"])
    assert bag[0].tolist() == [*sorted(ids[w] for w in ("the", "cat", "and", "a")), 0, 0]
    with pytest.raises(InputError, match="expected words, got '  '"):
        tokens.encode_texts(["a dog", "  "])


def test_bad_files_and_vocabularies_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    for name, match in (
        ("empty", "is empty"),
        ("bytes", "not a text file"),
        ("no", "there is no file"),
    ):
        with pytest.raises(InputError, match=match):
            SMALL.encode_file(tmp_path / f"{name}.txt")
    with pytest.raises(InputError, match="begin with <pad>"):
        Vocabulary(("a", "b"))
    with pytest.raises(InputError, match="different tokens"):
        Vocabulary((*SPECIAL, "a", "a"))
    with pytest.raises(InputError, match='expected unit "word" or "character"'):
        Vocabulary(SPECIAL, "syllable")


def test_the_archive_of_reviews_gives_the_rows_of_the_two_files(few_reviews: Path, tmp_path: Path):
    (tmp_path / "imdb").mkdir()
    with tarfile.open(tmp_path / imdb.ARCHIVE, "w:gz") as archive:
        for part in ("train", "test"):
            lines = gzip.decompress((few_reviews / "imdb" / f"{part}.jsonl.gz").read_bytes())
            for number, row in enumerate(map(json.loads, lines.decode().splitlines())):
                member = tarfile.TarInfo(
                    f"aclImdb/{part}/{('neg', 'pos')[row['label']]}/{number}_1.txt"
                )
                content = row["text"].encode()
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        member = tarfile.TarInfo("aclImdb/train/unsup/1_0.txt")
        archive.addfile(member, io.BytesIO(b""))
    for load in (imdb.load, imdb.bags):
        files, packed = load(few_reviews), load(tmp_path)
        for name in ("train", "validation", "test"):
            for a, b in zip(getattr(files, name), getattr(packed, name), strict=True):
                assert torch.equal(a, b)
        assert files.encoder == packed.encoder


def test_reviews_read_as_a_user_would_have_them_read(few_reviews: Path) -> None:
    for load in (imdb.load, imdb.bags):
        data = load(few_reviews)
        vocabulary = data.encoder.vocabulary
        lines = gzip.decompress((few_reviews / "imdb/test.jsonl.gz").read_bytes()).decode()
        rows = sorted((row["text"], row["label"]) for row in map(json.loads, lines.splitlines()))
        assert data.test.y.tolist() == [label for _, label in rows]
        x = data.encoder.encode_texts([text for text, _ in rows])
        assert torch.equal(x, data.test.x.long())
        assert UNKNOWN in vocabulary.encode(rows[0][0]), "'test' is no word of training"


def test_damaged_reviews_are_refused(few_reviews: Path, tmp_path: Path) -> None:
    (tmp_path / "imdb").mkdir()
    for part in ("train", "test"):
        content = (few_reviews / "imdb" / f"{part}.jsonl.gz").read_bytes()
        (tmp_path / "imdb" / f"{part}.jsonl.gz").write_bytes(content[:-50])
    with pytest.raises(InputError, match=r"train.jsonl.gz is damaged"):
        imdb.load(tmp_path)
    row = json.dumps({"text": "good", "label": 1}).encode()
    (tmp_path / "imdb/train.jsonl.gz").write_bytes(gzip.compress(row, mtime=0))
    with pytest.raises(InputError, match="expected 100 reviews, half of them positive"):
        imdb.load(tmp_path)


def test_shakespeare_is_whole_and_y_is_the_next_character(big_data: Path) -> None:
    data = tiny_shakespeare.load(big_data)
    parts = (data.train, data.validation, data.test)
    assert [len(part.x) + 1 for part in parts] == [1_003_854, 55_770, 55_770]
    assert len(data.classes) == 65 + 2
    assert data.encoder.decode(data.train.x[:14].tolist()) == "First Citizen:"
    assert all(torch.equal(part.x[1:], part.y[:-1]) for part in parts)


def test_a_cut_shakespeare_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tinyshakespeare").mkdir()
    (tmp_path / "tinyshakespeare/input.txt").write_text("First Citizen:")
    with pytest.raises(InputError, match="expected 1115394 characters"):
        tiny_shakespeare.load(tmp_path)


def test_captions_are_the_published_pairs(big_data: Path) -> None:
    data = multi30k.load(big_data)
    encoder = data.encoder
    assert encoder.source.decode(data.train.x[0].tolist()).startswith("zwei junge weiße männer")
    assert encoder.target.decode(data.train.y[0].tolist()) == (
        "two young, white males are outside near many bushes."
    )
    assert data.train.y[0, 0] == 2 and data.train.y[0, 12] == END and data.train.y[0, 13] == 0
    assert data.references["test"][0] == "A man in an orange hat starring at something."
    counts = np.bincount(data.train.y.flatten().numpy(), minlength=len(encoder.target))
    assert counts[4:].min() == 2, "words seen once are unknown"


def test_a_missing_sentence_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "multi30k").mkdir()
    path = tmp_path / "multi30k/train.de.gz"
    path.write_bytes(gzip.compress(b"Ein Satz.\n", mtime=0))
    with pytest.raises(InputError, match="expected 29000 sentences, got 1"):
        multi30k.load(tmp_path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="is damaged"):
        multi30k.load(tmp_path)


def test_no_window_sees_its_own_day_or_a_later_one(big_data: Path) -> None:
    """The target of a window is the volume of the day that follows it, in one unbroken series."""
    data = nyse.load(big_data)
    volume = nyse.SERIES.index("log_volume")
    parts = (data.train, data.validation, data.test)
    x, y = (torch.cat(both) for both in zip(*parts, strict=True))
    assert torch.equal(x[1:, -1, volume], y[:-1]), "the newest day of a window is the one before"
    assert torch.equal(x[5:, 0, volume], y[:-5]), "and the oldest five days before"
    past = data.train.y.double()
    assert abs(past.mean()) < 0.01 and abs(past.std() - 1) < 0.01
    assert abs(data.test.y.mean()) > 0.01, "the test period took part in the scaling"


def test_reviews_are_decoded_once(few_reviews: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imdb.load(few_reviews)
    monkeypatch.setattr(imdb, "reviews", lambda *_: pytest.fail("decoded again"))
    imdb.load(few_reviews)
    assert list((cache.user_cache() / "decoded").glob("*.npy"))
