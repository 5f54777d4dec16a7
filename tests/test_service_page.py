"""docs/guides/service.md is run from top to bottom, and says what the page says."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "service.md"
BLOCK = re.compile(r"```(sh|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
FIGURE = re.compile(r"(?<![\w'])-?\d+(?:[.]\d+)?(?:e-?\d+)?\b")
pytest.importorskip("onnxruntime")
pytest.importorskip("uvicorn")
pytest.importorskip("optuna")
pytest.importorskip("pandas")


def test_the_page_leads_from_a_table_to_a_service(tmp_path: Path) -> None:
    port = free_port()
    blocks = BLOCK.findall(PAGE.read_text("utf-8").replace("8500", str(port)))
    assert [language for language, *_ in blocks] == ["sh"] * 8 + ["python"]
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
    *commands, (_, serve, _), (_, client, answers) = blocks
    for _, command, shown in commands:
        told(shown, output(["bash", "-ec", command], tmp_path, environment))
    with served(serve, tmp_path, environment):
        told(answers, output([sys.executable, "-c", client], tmp_path, environment))


def output(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What the command prints, on both streams."""
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@contextmanager
def served(command: str, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """While the service of a command runs."""
    line = ["bash", "-c", f"exec {command}"]
    with subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.PIPE) as service:
        try:
            assert service.stdout is not None
            assert b"http://127.0.0.1:" in service.stdout.readline()
            yield
        finally:
            service.terminate()


def told(shown: str, said: str) -> None:
    """Every shown line was said, in the same words and with figures as other machines give them."""
    lines = [line for line in shown.splitlines() if line != "…"]
    candidates: dict[str, list[str]] = {}
    for line in said.splitlines():
        candidates.setdefault(words(line), []).append(line)
    for line in lines:
        assert words(line) in candidates, f"not printed: {line}\n{said}"
        near = any(alike(line, candidate) for candidate in candidates[words(line)])
        assert near, f"{line}\nwas {candidates[words(line)]}"


def words(line: str) -> str:
    """The line without its figures and its spaces."""
    return " ".join(FIGURE.sub("#", line).split())


def alike(line: str, other: str) -> bool:
    """Whether the figures are: 5 % of each apart, and two points of percent or a tenth beside."""
    slack = 2 if "%" in line else 0.1
    figures = (map(float, FIGURE.findall(text)) for text in (line, other))
    return all(abs(a - b) <= slack + 0.05 * abs(a) for a, b in zip(*figures, strict=True))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
