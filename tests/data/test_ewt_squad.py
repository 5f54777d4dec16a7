"""UD English EWT, SQuAD, and plain text: what is read, split by article, and refused."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest
import torch

from chainrule.data import cache
from chainrule.data.datasets import ewt, squad
from chainrule.data.datasets.squad import Answer, token_span
from chainrule.data.text.documents import documents, sentences
from chainrule.data.text.vocabulary import BEGIN
from chainrule.data.text.words import split_words
from chainrule.errors import InputError

CONLLU = """# newdoc id = a
# text = I don't know.
1\tI\tI\tPRON\t_\t_\t_\t_\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No
4.1\tit\tit\tPRON\t_\t_\t_\t_\t_\t_
5\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_

# newdoc id = b
1\tYes\tyes\tINTJ\t_\t_\t_\t_\t_\t_
"""


def test_words_and_tags_are_those_with_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, "utf-8")
    first, second = ewt.read(path)
    assert first.words == ["I", "do", "n't", "know", "."] == split_words(first.text)
    assert [ewt.TAGS[tag] for tag in first.tags] == ["PRON", "AUX", "PART", "VERB", "PUNCT"]
    assert (first.text, first.document) == ("I don't know.", 1)
    assert (second.text, second.document) == ("Yes", 2)


def test_sentences_are_cut_as_the_set_cuts_them() -> None:
    assert split_words("It's Mr. Hill's 3.50 at 10:30!") == [
        *("It", "'s", "Mr.", "Hill", "'s", "3.50", "at", "10:30", "!")
    ]
    assert split_words("a well-known U.S. firm...") == [
        *("a", "well", "-", "known", "U.S.", "firm", "...")
    ]
    assert split_words("It was I. Plan b. Then J. Hill") == [
        *("It", "was", "I", ".", "Plan", "b", ".", "Then", "J.", "Hill")
    ]
    assert split_words("  ") == []


def test_rows_of_words_have_a_tag_each(few_texts: Path) -> None:
    data = ewt.load(few_texts)
    assert data.train.x.shape == data.train.y.shape == (90, 7)
    assert torch.equal(data.train.x > 0, data.train.y > 0)
    assert [data.classes[tag] for tag in data.test.y[0].tolist()] == [
        *("DET", "NOUN", "VERB", "ADP", "DET", "NOUN", "PUNCT")
    ]


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"1\tI\tI\n", "expected 10 columns"),
        (CONLLU.replace("INTJ", "UH").encode(), "universal tags, got 'UH'"),
        (b"\xff\xfe", "damaged"),
        (b"# nothing\n", "universal tags, got none"),
    ],
)
def test_damaged_sentences_are_refused(tmp_path: Path, content: bytes, match: str) -> None:
    folder = tmp_path / "ud_english_ewt"
    folder.mkdir()
    for part in ewt.PARTS.values():
        (folder / f"en_ewt-ud-{part}.conllu").write_bytes(content)
    with pytest.raises(InputError, match=match):
        ewt.load(tmp_path)


def test_a_packed_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(CONLLU.encode())[:-9])
    with pytest.raises(InputError, match="is damaged"):
        ewt.read(path)


def test_no_article_is_in_two_splits_and_the_test_stays(few_texts: Path) -> None:
    first, other = squad.questions(few_texts, 0), squad.questions(few_texts, 1)
    names = {part: {q.article for q in asked} for part, asked in first.items()}
    assert [len(names[part]) for part in squad.PARTS] == [8, 4, 12]
    assert len(set.union(*names.values())) == 24
    assert first["test"] == other["test"] and first["validation"] != other["validation"]


def test_places_of_answers_are_found_again(few_texts: Path) -> None:
    data, asked = squad.load(few_texts), squad.questions(few_texts)["train"]
    assert len(data.train.x) == len(asked)
    for row, (first, last), question in zip(*data.train, asked, strict=True):
        begin = row.tolist().index(BEGIN) + 1
        words = squad.tokenize(question.passage)
        start, end = words[first - begin][1][0], words[last - begin][1][1]
        assert question.passage[start:end] == question.answers[0].text


def test_spans_hold_every_token_that_touches_the_answer() -> None:
    offsets = [(0, 3), (4, 7), (7, 9), (10, 12)]
    assert token_span(offsets, Answer(4, "abc")) == (1, 1)
    assert token_span(offsets, Answer(7, "de")) == (2, 2)
    assert token_span(offsets, Answer(6, "cde")) == (1, 2)
    assert token_span(offsets, Answer(20, "beyond")) == (4, 4)


def article(title: str, start: int = 4, **changes: object) -> dict:
    asked = {"question": "Who?", "id": "1", "answers": [{"answer_start": start, "text": "dog"}]}
    return {"title": title, "paragraphs": [{"context": "the dog ran", "qas": [asked | changes]}]}


def write(folder: Path, part: str, articles: list[dict], packed: bool = False) -> None:
    content = json.dumps({"data": articles})
    (folder / "squad").mkdir(exist_ok=True)
    path = folder / "squad" / f"{part}-v1.1.json"
    if packed:
        with zipfile.ZipFile(f"{path}.zip", "w") as archive:
            archive.writestr(path.name, content)
    else:
        path.write_text(content, "utf-8")


def test_with_both_files_the_dev_articles_are_the_test(tmp_path: Path) -> None:
    write(tmp_path, "train", [article(f"t{k}") for k in range(20)])
    write(tmp_path, "dev", [article("d")], packed=True)
    parts = squad.questions(tmp_path)
    assert [len(parts[name]) for name in squad.PARTS] == [18, 2, 1]
    assert parts["test"][0].article == "d" and parts["test"][0].answers == (Answer(4, "dog"),)


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (article("a", start=5), "is not at position 5"),
        (article("a", answers=[]), "has no answer"),
        ({"title": "a"}, "paragraphs"),
    ],
)
def test_damaged_questions_are_refused(tmp_path: Path, bad: dict, match: str) -> None:
    write(tmp_path, "dev", [bad])
    with pytest.raises(InputError, match=match):
        squad.questions(tmp_path)


def test_what_is_not_there_is_fetched_by_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(name: str, url: str, checksum: str | None, into: Path | None) -> Path:
        asked.append((name, url, checksum))
        raise InputError("no network")

    monkeypatch.setattr(cache, "fetch", fetch)
    for load in (squad.load, ewt.load):
        with pytest.raises(InputError, match="no network"):
            load(tmp_path)
    assert asked[0][1:] == (
        "https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v1.1.json",
        "md5:981b29407e0affa3b1b156f72073b945",
    )
    assert asked[1][1].endswith("/UD_English-EWT/master/en_ewt-ud-train.conllu")


def test_text_is_cut_into_sentences_and_documents(tmp_path: Path) -> None:
    assert sentences('He ran. "Why?" she said!\nNobody knew') == [
        *("He ran.", '"Why?"', "she said!", "Nobody knew")
    ]
    path = tmp_path / "my.txt"
    path.write_text("One. Two.\n\n \nThree.\nFour", "utf-8")
    assert documents((str(path),)) == [["One.", "Two."], ["Three.", "Four"]]
    with pytest.raises(
        InputError, match="there is no corpus or file named 'imbd'; expected imdb, ewt"
    ):
        documents(("imbd",))


def test_pre_training_reads_nothing_that_is_tested(few_texts: Path, few_reviews: Path) -> None:
    """Every made-up review names its part; an article's passages are read once."""
    reviews = documents(("imdb",), few_reviews)
    assert len(reviews) == 100 and all("train" in review[0] for review in reviews)
    parts = squad.questions(few_texts)
    articles = documents(("squad",), few_texts)
    read = {q.article for q in parts["train"] + parts["validation"]}
    assert len(articles) == len(read) == 12 and not read & {q.article for q in parts["test"]}
    web = documents(("ewt",), few_texts)
    assert len(web) == 18 and [text for page in web for text in page] == [
        sentence.text for sentence in ewt.sentences(few_texts)["train"]
    ]
