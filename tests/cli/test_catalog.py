"""`chainrule list` and `chainrule show`: what is found, by which words, and where it leads."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from chainrule import catalog
from chainrule.cli.list import Kind
from chainrule.cli.main import main
from chainrule.learning.metrics import METRICS
from chainrule.learning.optimizers import OPTIMIZERS
from chainrule.learning.schedules import SCHEDULES
from chainrule.nn.activations import ACTIVATIONS
from chainrule.nn.initialization import INITIALIZATIONS
from chainrule.registry import CONTRACTS, ROOT, entries, nearest

TABLES = {
    "optimizers": OPTIMIZERS,
    "schedules": SCHEDULES,
    "activations": ACTIVATIONS,
    "initializations": INITIALIZATIONS,
}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def names(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, str]]:
    return json.loads(printed(capsys, "list", *words, "--json"))


@pytest.mark.parametrize("kind", TABLES)
def test_every_function_that_is_chosen_by_name_is_listed(kind: str) -> None:
    assert {item.name for item in catalog.functions(kind)} == set(TABLES[kind])


def test_listed_losses_and_metrics_exist() -> None:
    from chainrule.learning import losses

    assert all(callable(getattr(losses, item.name)) for item in catalog.functions("losses"))
    listed = {item.name for item in catalog.functions("metrics")}
    assert {"error", "accuracy", "auc", "mean_iou"} <= listed <= set(METRICS)
    assert set(get_args(Kind)) == {*catalog.KINDS, "tools", "all"}


def test_list_has_a_table_per_kind_with_chapters_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "list")
    assert max(map(len, text.splitlines())) <= 80
    headings = [line.strip() for line in text.splitlines() if line[:1].isalpha()]
    assert headings == [kind.capitalize() for kind in catalog.KINDS]
    recipes = printed(capsys, "list", "recipes")
    chapters = re.findall(r"Chapter (\d)", recipes)
    assert chapters == sorted(chapters) and len(set(chapters)) == len(chapters)
    inside = recipes[recipes.index("Chapter 7") : recipes.index("Chapter 8")]
    assert "cora-gcn" in inside and "mnist-cnn" not in inside


def test_listing_is_quick_and_imports_no_torch() -> None:
    code = (
        "import sys, time; from chainrule.cli.main import main; main(['list']);"
        "print('torch' in sys.modules, time.process_time(), file=sys.stderr)"
    )
    took = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        torch, seconds = done.stderr.split()
        assert torch == "False"
        took.append(float(seconds))
    assert min(took) < 0.6  # 0.25 s on an idle machine, where the goal is 0.3 s


@pytest.mark.parametrize(
    ("word", "kind", "name"),
    [
        ("J 3.1", "claims", "backpropagation"),
        ("J3.1", "claims", "backpropagation"),
        ('L "Dropout"', "tools", "dropout"),
        ("hopfield", "models", "dense-hopfield"),
        ("handwritten digits", "data", "mnist"),
        ("NESTEROV", "optimizers", "nesterov"),
        ("Srivastava", "models", "mlp"),
    ],
)
def test_search_looks_at_names_titles_sections_and_terms(
    word: str, kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = names(capsys, "--search", word)
    assert name in found[kind]
    assert sum(map(len, found.values())) < 100


def test_a_section_holds_its_parts_and_nothing_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, part = (names(capsys, "claims", "--search", s)["claims"] for s in ("J 3", "J 3.1"))
    assert set(part) < set(whole)
    assert catalog.within("J 3.1", {"J 3.1.2"}) and not catalog.within("J 3.1", {"J 3.10"})
    assert "cross-entropy" not in part
    assert main(["list", "--search", "J 3.14"]) == 2
    assert main(["list", "models", "--search", "zebra"]) == 2
    assert "found no 'zebra' in the names and descriptions of models" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("adamw", ["(optimizers, ", "decoupled decay", "--optimizer adamw"]),
        ("leaky_relu", ["(activations, ", "max(0.01 z, z)"]),
        ("leaky-relu", ["(activations, "]),
        ("xavier", ["(initializations, ", "variance 2/(n + m)"]),
        ("hinge", ["(losses, ", "max(0, 1 - (2y - 1) f)"]),
        ("one-cycle", ["(schedules, ", "--schedule one-cycle"]),
        ("auc", ["(metrics, ", "ranked above a random negative"]),
        ("J 3.1", ["Claims", "backpropagation", "Tools", "costate"]),
    ],
)
def test_show_finds_functions_and_sections(
    name: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "show", name)
    assert all(word in text for word in words)


@pytest.mark.parametrize("inside", [True, False])
def test_show_prints_a_path_that_exists(
    inside: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(ROOT.parent if inside else tmp_path)
    for name in ("hopfield", "adam", "moons", "xor-mlp"):
        for found in json.loads(printed(capsys, "show", name, "--json")).values():
            assert Path(found["path"]).is_file()
            assert Path(found["path"]).is_absolute() is not inside


def test_code_is_printed_as_it_is_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "show", "hopfield", "--code") == (
        ROOT / "models/connectionism/hopfield.py"
    ).read_text("utf-8")


def test_model_recipe_and_claim_lead_to_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    def linked(name: str, kind: str) -> dict[str, list[str]]:
        return json.loads(printed(capsys, "show", name, "--json"))[kind]["see also"]

    assert "hopfield-digits" in linked("hopfield", "models")["recipes"]
    assert "hopfield-energy" in linked("hopfield", "models")["claims"]
    assert "hopfield" in linked("hopfield-digits", "recipes")["models"]
    assert "digits" in linked("hopfield-digits", "recipes")["data"]
    assert "hopfield" in linked("hopfield-energy", "claims")["models"]
    assert "language-model" in linked("shakespeare-gru", "recipes")["models"]  # through its family
    assert "see also" in printed(capsys, "show", "gru")


def test_show_of_a_recipe_lists_its_flags_with_help(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "show", "imdb-lstm")
    assert re.search(r"--hidden-size +\d+ +\w", text)
    assert "--from" in text and "--members" not in text
    assert "`" not in text[text.index("--hidden-size") :]
    assert max(map(len, text.splitlines())) <= 80


def test_names_far_from_all_others_are_not_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    everything = [entry.name for kind in CONTRACTS for entry in entries(kind)]
    assert nearest("digits-mpl", everything) == ["digits-mlp"]
    assert nearest("perceptrn", everything) == ["perceptron"]
    assert nearest("banana", everything) == []
    assert main(["show", "two bananas"]) == 2
    assert 'search with: chainrule list --search "two bananas"' in capsys.readouterr().err
    assert main(["train", "banana"]) == 2
    told = "there is no recipe named 'banana'; search with: chainrule list recipes --search WORD"
    assert told in capsys.readouterr().err
