"""The generated reference is complete, and everything public is documented."""

import inspect
import json
import re
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import chainrule
from chainrule.catalog import tools
from chainrule.cli.main import COMMANDS
from chainrule.registry import CONTRACTS, entries

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """Every page of the reference by its path."""
    sys.path.insert(0, str(DOCS))
    from book.reference import pages

    return pages()


def test_everything_with_a_name_has_a_page(reference: dict[str, str]) -> None:
    for kind in CONTRACTS:
        for entry in entries(kind):
            assert f"{kind}/{entry.name}.md" in reference
            assert f"[{entry.name}]({entry.name}.md)" in reference[f"{kind}/index.md"]
    assert sum(name.startswith("modules/") for name in reference) == len(tools()) + 1


def test_every_command_is_there_with_its_flags(reference: dict[str, str]) -> None:
    page = reference["commands.md"]
    for command in COMMANDS:
        section = page.partition(f"## chainrule {command}\n")[2].partition("\n## ")[0]
        assert "usage: chainrule" in section
    assert "--learning-rate" in page


def test_a_recipe_has_its_settings_and_its_recorded_result(reference: dict[str, str]) -> None:
    page = reference["recipes/cora-gcn.md"]
    assert "`--weight-decay` | 0.0005" in page
    assert "81.50 % (Kipf and Welling 2017)" in page


def test_a_claim_has_its_verdict(reference: dict[str, str]) -> None:
    assert re.search(r"\| 1 \| = 1 \| 20 \| holds \|", reference["claims/novikoff.md"])


def test_claims_recipes_and_data_sets_have_their_pictures(reference: dict[str, str]) -> None:
    for entry in entries("claims"):
        assert f"../pictures/{entry.name}-" in reference[f"claims/{entry.name}.md"]
    for entry in entries("data"):
        assert f"pictures/data/{entry.name}.png" in reference[f"data/{entry.name}.md"]
    assert "pictures/recipes/digits-mlp/learning.png" in reference["recipes/digits-mlp.md"]


def test_the_gallery_leads_to_what_draws_a_picture(reference: dict[str, str]) -> None:
    page = reference["gallery.md"]
    assert page.count("```{figure}") == page.count(":alt: ")
    assert ":target: claims/novikoff.html" in page
    assert "`chainrule lab novikoff`" in page
    assert "`chainrule train digits-mlp --seed 0" in page
    for folder in (DOCS / "pictures", DOCS / "pictures" / "data"):
        assert not [path.name for path in folder.glob("*.png") if path.name not in page]


def test_notebooks_have_the_cells_of_their_chapters(reference: dict[str, str]) -> None:
    from book.notebooks import CHAPTERS, NOTEBOOKS, written

    chapters = sorted(CHAPTERS.glob("*.md"))
    assert [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb"))] == [c.stem for c in chapters]
    for chapter in chapters:
        kept = (NOTEBOOKS / f"{chapter.stem}.ipynb").read_text("utf-8")
        assert kept == written(chapter), "run: make docs"
        cells = json.loads(kept)["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert len(code) == chapter.read_text("utf-8").count("```{code-cell}")
        words = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        assert "{literalinclude}" not in words and "{claim}" not in words


def test_a_data_set_has_its_license(reference: dict[str, str]) -> None:
    for entry in entries("data"):
        assert "| license | " in reference[f"data/{entry.name}.md"], entry.name


def test_a_data_set_shows_what_loading_it_prints(reference: dict[str, str]) -> None:
    from book.pictures import shapes

    recorded = shapes()
    assert set(recorded) == {entry.name for entry in entries("data")}
    for name in ("moons", "digits", "karate"):  # need no file
        data = getattr(chainrule.data, name)()
        assert recorded[name] == repr(data), "run: python docs/draw_samples.py"
        assert recorded[name] in reference[f"data/{name}.md"]


def test_pictures_of_a_recipe_stand_beside_the_command_that_drew_them(
    reference: dict[str, str],
) -> None:
    from book.pictures import KEPT, drawn_by

    folders = [path.name for path in (KEPT / "recipes").iterdir()]
    assert len(folders) > 30
    for name in folders:
        words = drawn_by(name).split()
        assert words[:3] == ["chainrule", "train", name]
        assert f"Drawn by `{drawn_by(name)}`" in reference[f"recipes/{name}.md"]
    assert "which trains less than" in reference["recipes/mnist-lenet.md"]
    assert "which trains less than" not in reference["recipes/digits-mlp.md"]
    assert "which trains less than" not in reference["recipes/forecast.md"]
    assert "The files: ISL's Default." in reference["recipes/mlp.md"]
    for entry in entries("recipes"):
        bare = "No picture is recorded" in reference[f"recipes/{entry.name}.md"]
        assert bare == (entry.name not in folders), entry.name


def test_settings_and_errors_have_their_pages(reference: dict[str, str]) -> None:
    for field in fields(chainrule.Settings):
        flag = f"--{field.name.replace('_', '-')}"
        assert f"| `{flag}` | " in reference["settings.md"]
    for kind in ("InputError", "DivergenceError", "FileError", "ChecksumError"):
        assert f"`{kind} <chainrule." in reference["errors.md"]


def test_types_are_links_and_shapes_stay(reference: dict[str, str]) -> None:
    page = reference["models/perceptron.md"]
    assert "(inputs: chainrule.arguments.Count, bias: bool = True)" in page
    assert "forward(x: Float[Tensor, 'batch n']) -> Float[Tensor, 'batch']" in page
    assert "-> chainrule.models.connectionism.perceptron.PerceptronResult" in page
    estimator = reference["modules/estimators.mlp.md"]
    assert "- `learning_rate_init`: Step size of the solver." in estimator


def test_every_public_name_has_its_arguments_and_an_example(reference: dict[str, str]) -> None:
    """Data sets have theirs on their pages; protocols and aliases cannot be called."""
    from book.code import fields_of
    from book.front_door import led, public_names

    unexplained = []
    for name, value in public_names().items():
        if not callable(value) or name in ("data.Encoder", "training.Record"):
            continue
        said = inspect.getdoc(value) or ""
        explained = set(re.findall(r"^ *(\w+)(?:, \w+)*: \S", said, re.MULTILINE))
        if inspect.isclass(value):
            explained |= set(fields_of(Path(inspect.getsourcefile(value)), value.__name__))
        failure = inspect.isclass(value) and issubclass(value, Exception)
        arguments = set() if failure else set(inspect.signature(value).parameters)
        arguments -= {"args", "kwargs"}
        unexplained += [f"{name}: {argument}" for argument in arguments - explained]
        is_data_set = value.__module__.startswith("chainrule.data.datasets")
        if not is_data_set and ">>> " not in said:
            unexplained.append(f"{name}: no example")
        assert led(name.split(".")[-1], value)[0] in "{[", f"{name} leads nowhere"
    assert not unexplained


def test_every_public_name_is_documented(reference: dict[str, str]) -> None:
    from book.front_door import public_names

    names = public_names()
    assert len(names) > 100
    missing = [name for name, value in names.items() if not (value.__doc__ or "").strip()]
    assert not missing
    page = reference["chainrule.md"]
    words = set(re.findall(r"[\[`](\w+)[\]` ]", page))
    assert not [name for name in names if "." in name and name.split(".")[-1] not in words]
