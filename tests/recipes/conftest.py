"""Shared by the recipes' tests: small captions, and the command line as a function."""

import shlex
from collections.abc import Callable

import pytest
import torch

from chainrule.cli.main import main
from chainrule.data import Split
from chainrule.data.datasets.multi30k import Captions
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import pad_sequences, word_vocabulary

GERMAN = ["ein", "zwei", "hund", "katze", "rot", "."]
ENGLISH = ["a", "two", "dog", "cat", "red", "."]


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


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a command prints that succeeds."""

    def run(command: str) -> str:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a command says that refuses its input, on one line."""

    def run(command: str) -> str:
        capsys.readouterr()
        assert main(shlex.split(command)) == 2
        return " ".join(capsys.readouterr().err.split())

    return run
