"""Shared by the recipes' tests: the command line as a function."""

import shlex
from collections.abc import Callable

import pytest

from chainrule.cli.main import main


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
