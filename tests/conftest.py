"""Shared by all tests: one thread a worker, repeatable draws, and where the big data sets lie."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings

from chainrule.data import Split
from chainrule.data.datasets import imdb
from chainrule.data.datasets.multi30k import Captions
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import pad_sequences, word_vocabulary
from chainrule.registry import find
from chainrule.runs.configuration import configure
from chainrule.runs.run import Run

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("steady")
torch.set_num_threads(1)
SHARED = Path(__file__).parents[2] / "shared" / "data"
ANIMALS = [("dog", "ran"), ("cat", "walked"), ("bird", "flew"), ("fish", "swam")]
GERMAN = ["ein", "zwei", "hund", "katze", "rot", "."]
ENGLISH = ["a", "two", "dog", "cat", "red", "."]
CIFAR10_MAKER = SHARED.with_name("tools") / "cifar10_from_package.py"


@pytest.fixture(scope="session")
def big_data() -> Path:
    """The folder with MNIST and its like; a test that needs it is skipped where there is none."""
    folder = Path(os.environ.get("CHAINRULE_DATA", SHARED))
    if not (folder / "mnist").is_dir():
        pytest.skip(f"needs the big data sets in {folder} (set CHAINRULE_DATA)")
    return folder


@pytest.fixture(scope="session")
def train_run() -> Callable[..., Run]:
    """A function that trains a recipe of that name to the end, in a folder."""

    def train(name: str, folder: Path, data: Path | None = None, **values: Any) -> Run:
        entry = find("recipes", name)
        run = Run.create(entry, configure(entry.load().Recipe, values), folder, data)
        for _ in run.train("cpu"):
            pass
        return run

    return train


@pytest.fixture(scope="session")
def few_reviews(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with 200 made-up reviews in the layout of IMDB's, which reads as the whole set."""
    folder = tmp_path_factory.mktemp("reviews")
    (folder / "imdb").mkdir()
    draw = random.Random(0)
    for part in ("train", "test"):
        rows = []
        for number in range(100):
            words = draw.choices(["the", "film", "was", "a", "story", "of", "people"], k=20)
            words += draw.choices(
                ("awful dull boring", "lovely great fun")[number % 2].split(), k=4
            )
            rows.append({"text": " ".join(words) + f" {part} {number}.", "label": number % 2})
        lines = "\n".join(map(json.dumps, rows)).encode()
        (folder / "imdb" / f"{part}.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imdb, "REVIEWS", 100)
        yield folder


@pytest.fixture(scope="session")
def few_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with made-up sentences, tagged and asked about, in the layouts of EWT and SQuAD.

    Animals do things at places: "the dog ran to the park", of which may be asked "who ran?".
    """
    folder = tmp_path_factory.mktemp("texts")
    (folder / "ud_english_ewt").mkdir()
    (folder / "squad").mkdir()
    draw = random.Random(0)

    def sentence() -> list[tuple[str, str]]:
        noun, verb = draw.choice(ANIMALS)
        place = draw.choice(["park", "lake", "hill"])
        words = [("The", "DET"), (noun, "NOUN"), (verb, "VERB"), ("to", "ADP"), ("the", "DET")]
        return [*words, (place, "NOUN"), (".", "PUNCT")]

    for part, number in (("train", 90), ("dev", 20), ("test", 20)):
        blocks = []
        for k in range(number):
            rows = enumerate(sentence(), 1)
            lines = ["# newdoc id = d"] if k % 5 == 0 else []
            lines += [f"{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_" for i, (word, tag) in rows]
            blocks.append("\n".join(lines))
        path = folder / "ud_english_ewt" / f"en_ewt-ud-{part}.conllu.gz"
        path.write_bytes(gzip.compress(("\n\n".join(blocks) + "\n\n").encode(), mtime=0))
    articles = []
    for k in range(24):
        paragraphs = []
        for _ in range(3):
            noun, verb = draw.choice(ANIMALS)
            passage = f"Yesterday the {noun} {verb} to the {draw.choice(['park', 'hill'])}. " * 2
            answer = {"answer_start": passage.index(noun), "text": noun}
            asked = {"question": f"Who {verb}?", "id": "q", "answers": [answer]}
            paragraphs.append({"context": passage.strip(), "qas": [asked]})
        articles.append({"title": f"article {k}", "paragraphs": paragraphs})
    content = json.dumps({"data": articles, "version": "1.1"})
    (folder / "squad" / "dev-v1.1.json").write_text(content, "utf-8")
    return folder


@pytest.fixture(scope="session")
def captions() -> Captions:
    """60 pairs, word for word: the k-th German word is the k-th English one."""
    source, target = word_vocabulary([GERMAN]), word_vocabulary([ENGLISH])
    generator = torch.Generator().manual_seed(0)
    rows = [
        torch.randint(len(GERMAN), (int(n),), generator=generator).tolist()
        for n in torch.randint(2, 6, (60,), generator=generator)
    ]
    x = pad_sequences([[source.token_to_id[GERMAN[k]] for k in row] for row in rows])
    y = pad_sequences([[2, *(target.token_to_id[ENGLISH[k]] for k in row), 3] for row in rows])
    texts = [" ".join(ENGLISH[k] for k in row) for row in rows]
    part, same = Split(x, y), dict.fromkeys(("train", "validation", "test"), texts)
    encoder = PairEncoder(source, target)
    return Captions(part, part, part, target.tokens, encoder, references=same)


@pytest.fixture(scope="session")
def cifar10_data() -> Path:
    """The folder with CIFAR-10: the data folder, else one made from the set's npm package."""
    folder = Path(os.environ.get("CHAINRULE_DATA", SHARED))
    made = Path(tempfile.gettempdir()) / "chainrule-cifar10"
    for place in (folder, made):
        if (place / "cifar10/test_batch.bin").is_file():
            return place
    if not CIFAR10_MAKER.is_file() or not shutil.which("npm"):
        pytest.skip(f"needs cifar10/ in {folder} (set CHAINRULE_DATA)")
    with tempfile.TemporaryDirectory(dir=made.parent) as beside:
        command = [sys.executable, CIFAR10_MAKER, f"{beside}/cifar10"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"CIFAR-10 could not be made: {done.stderr.strip().splitlines()[-1]}")
        made.mkdir(exist_ok=True)
        if not (made / "cifar10").exists():  # another worker may have been quicker
            Path(beside, "cifar10").rename(made / "cifar10")
    return made
