"""Tagged sentences of a user: CoNLL-U and columns, splits, notes, and what is refused."""

import gzip
from pathlib import Path

import pytest

from chainrule.data.readers.texts.conll import TaggedSentence, read_conll, tagged_sentences
from chainrule.data.text.words import WordEncoder, names, word_encoder
from chainrule.errors import InputError

TREEBANK = """# newdoc
# text = I don't know.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\t_
4.1\tit\tit\tPRON\tPRP\t_\t_\t_\t4:obj\t_

1\tNo\tno\tINTJ\tUH\t_\t0\troot\t_\t_
"""
COLUMNS = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n# NN O\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_words_of_a_treebank_are_read_by_column_and_parts_of_words_skipped(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", TREEBANK)
    words = ("I", "do", "n't", "know")
    assert read_conll(path) == [
        TaggedSentence(words, ("PRON", "AUX", "PART", "VERB")),
        TaggedSentence(("No",), ("INTJ",)),
    ]
    for column in ("xpos", "XPOS", "5"):
        assert read_conll(path, column)[0].tags == ("PRP", "VBP", "RB", "VB")
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(TREEBANK.encode()))
    assert read_conll(packed) == read_conll(path)


def test_columns_have_the_word_first_and_the_tag_last_or_where_it_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", COLUMNS)
    assert read_conll(path) == [
        TaggedSentence(("EU", "rejects"), ("B-ORG", "O")),
        TaggedSentence(("#",), ("O",)),  # a word, not a comment: it has all columns
    ]
    assert read_conll(path, "2")[0].tags == ("NNP", "VBZ")
    tabs = write(tmp_path / "b.txt", "New York\tPLACE\nis\tO\n")
    assert read_conll(tabs) == [TaggedSentence(("New York", "is"), ("PLACE", "O"))]


def sentences(number: int) -> str:
    return "\n".join(f"word{k}\tN\nruns{k % 7}\tV\n" for k in range(number))


def test_the_test_split_does_not_move_and_every_sentence_is_in_one_split(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", sentences(50))
    first, second = (tagged_sentences(path, seed=seed) for seed in (0, 1))
    assert [len(part) for part in first.splits.values()] == [36, 4, 10]
    assert first.splits["test"] == second.splits["test"]
    assert first.splits["validation"] != second.splits["validation"]
    assert len({s for part in first.splits.values() for s in part}) == 50
    assert first.tags == ("N", "V") and first.remarks == ()


def test_repeated_sentences_and_new_tags_are_noted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", sentences(50))
    test = write(tmp_path / "b.txt", "word3\tN\nruns3\tV\n\nnew\tX\n")
    found = tagged_sentences(path, test=test)
    assert found.remarks == (
        "1 of 2 test sentences also occur in training",
        "tags of the test split that training lacks: 'X'",
    )
    assert found.tags == ("N", "V", "X") and len(found.splits["train"]) == 45


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        (TREEBANK, "tag", "there is no `column` of CoNLL-U named 'tag'"),
        (TREEBANK, "11", "there is no `column` of CoNLL-U named '11'"),
        (COLUMNS, "1", "a number from 2 to 3 as `column`"),
        (COLUMNS, "upos", "a number from 2 to 3 as `column`"),
        ("a b\nc\n", "", "line 2: expected 2 columns as before, got 'c'"),
        ("word\nword\n", "", "expected a word and its tag in every line, got none"),
    ],
)
def test_bad_files_are_refused_by_line(text: str, column: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_conll(write(tmp_path / "a.txt", text), column)
    assert words in str(caught.value) and "a.txt" in str(caught.value)


def test_too_few_sentences_and_a_single_tag_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 10 sentences, got 4"):
        tagged_sentences(write(tmp_path / "a.txt", sentences(4)))
    with pytest.raises(InputError, match="at least two tags, got only 'N'"):
        tagged_sentences(write(tmp_path / "a.txt", "word N\n\n" * 20))


def test_a_rare_word_is_known_by_its_form() -> None:
    assert names("Walking") == ("walking", "<Xx-ing>", "<Xx>")
    assert names("3rd") == ("3rd", "<x0-3rd>", "<x0>")
    sentences = [["the", "dog", "jumping"], ["the", "dog", "sitting"], ["Rome", "the"]]
    encoder = word_encoder(sentences)
    known = encoder.vocabulary.tokens
    assert known[4:] == ("dog", "the", "<x-ing>", "<x>")
    ids = encoder.encode_words([["The", "running", "cat", "Paris"]])[0].tolist()
    assert [known[k] for k in ids] == ["the", "<x-ing>", "<x>", "<unk>"]
    assert WordEncoder.from_json(encoder.to_json()) == encoder
