"""The guides tell the truth: their commands and flags exist, and their links lead somewhere."""

import json
import re
import shlex
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from chainrule.cli.main import COMMANDS
from chainrule.cli.options import parse_recipe
from chainrule.cli.show import flag_rows
from chainrule.cli.train import Train
from chainrule.registry import entries
from chainrule.runs.options import RunOptions

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
OPTIONS = {f"--{field.name.replace('_', '-')}" for field in (*fields(RunOptions), *fields(Train))}
COMMAND = re.compile(r"^(?: {4})?(chainrule (?:.*\\\n)*.*)$", re.MULTILINE)


def commands(page: Path) -> list[list[str]]:
    """The command lines of a page, as words; comments and explanations are cut off."""
    found = COMMAND.findall(page.read_text("utf-8"))
    lines = [re.split(r"\s{3,}|  #", line.replace("\\\n", " "))[0] for line in found]
    return [shlex.split(line) for line in lines if line.strip() != "chainrule"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_recipes_exist(page: Path) -> None:
    recipes = {entry.name for entry in entries("recipes")}
    for words in commands(page):
        assert words[1] in COMMANDS, words
        if words[1] in ("train", "tune", "lr") and not words[2].startswith(("-", "./", "RECIPE")):
            assert words[2] in recipes, words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_flags_of_train_exist(page: Path) -> None:
    by_name = {entry.name: entry for entry in entries("recipes")}
    for words in commands(page):
        if words[1] == "train" and words[2] in by_name:
            known = {flag for flag, _, _ in flag_rows(by_name[words[2]])} | OPTIONS
            asked = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert asked <= known, (words, asked - known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        generated = "reference/" in link or "../chapters/" in link
        assert generated or (page.parent / link).exists(), link


def blocks(page: str, language: str) -> list[str]:
    """The code of a guide in this language."""
    text = (ROOT / "docs" / "guides" / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def check_torchrun(words: list[str]) -> None:
    """torchrun and `chainrule train` take these words."""
    from torch.distributed.run import get_args_parser

    given = get_args_parser().parse_args(words)
    command, *rest = given.training_script_args
    assert given.module and given.training_script == "chainrule" and command == "train"
    assert given.max_restarts > 0 and "--out" in rest  # else a restarted pod begins again
    entry = next(entry for entry in entries("recipes") if entry.name == rest[0])
    parse_recipe(entry.load().Recipe, Train, rest[1:], "train", entry.title)


def test_the_slurm_script_is_one_that_bash_and_torchrun_take() -> None:
    script = next(text for text in blocks("many-machines.md", "") if "#SBATCH" in text)
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    line = script.replace("\\\n", " ").splitlines()[-1]
    launcher, program, *words = shlex.split(line)
    assert (launcher, program) == ("srun", "torchrun")
    check_torchrun(words)


def test_the_pods_of_the_kubernetes_job_find_each_other() -> None:
    yaml = pytest.importorskip("yaml")
    (text,) = blocks("many-machines.md", "yaml")
    service, job = yaml.safe_load_all(text)
    spec, name = job["spec"], job["metadata"]["name"]
    pod = spec["template"]["spec"]
    assert spec["parallelism"] == spec["completions"] and spec["completionMode"] == "Indexed"
    assert service["spec"]["selector"] == {"job-name": name}
    assert pod["subdomain"] == service["metadata"]["name"]
    program, *words = pod["containers"][0]["command"]
    assert program == "torchrun"
    assert f"--nnodes={spec['parallelism']}" in words
    assert f"--rdzv-endpoint={name}-0.{pod['subdomain']}:29400" in words
    check_torchrun(words)


def test_the_recipes_that_several_processes_cannot_train_are_listed() -> None:
    text = (ROOT / "docs" / "guides" / "many-machines.md").read_text("utf-8")
    before, rest = text.split("others say in a sentence why not:\n\n")
    _, _, *rows = rest.split("\n\n")[0].splitlines()
    listed = {name for row in rows for name in row.split("|")[1].strip().split(", ")}
    kinds = {entry.name: entry.load().Recipe for entry in entries("recipes")}
    alone = {name for name, kind in kinds.items() if "processes" in kind.unsupported}
    assert listed == alone
    assert before.endswith(f"{len(kinds) - len(alone)} recipes do. {len(alone)} ")


def test_the_tables_of_many_machines_are_those_of_the_record() -> None:
    from benchmarks.processes_page import PAGE, RECORD, written

    text = PAGE.read_text("utf-8")
    assert written(text, json.loads(RECORD.read_text("utf-8"))) == text
    assert text.count("processes_page.py -->") == 3
