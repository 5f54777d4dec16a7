"""The nine chapters: every entry has its place, and each chapter has all its parts."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from chainrule.registry import entries

DOCS = Path(__file__).parents[1] / "docs"
CHAPTERS = sorted((DOCS / "chapters").glob("*.md"))
PARTS = ("Errors in the lecture notes", "Exercises", "Further reading", "In the studio")
KINDS = {"model": "models", "recipe": "recipes", "claim": "claims"}
CELL = re.compile(r"(?ms)^```\{code-cell\}.*?^```$")
NO_PROSE = re.compile(r"(?ms)(\{\w+\}`[^`]*`)|^```.*?^```$|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`")
FIGURE = re.compile(r"(?<![\w.])(?<!section )\d[\d,]*(?:\.(\d+)|(?= %))")
chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


@cache
def text(path: Path) -> str:
    return path.read_text("utf-8")


def words(markdown: str) -> list[str]:
    """Words of the text: no header, code, formulas, markup or addresses."""
    markdown = re.sub(r"(?s)\A---\n.*?\n---\n|^```.*?^```$", "", markdown, flags=re.MULTILINE)
    markdown = re.sub(
        r"(?s)\$\$.*?\$\$|\$[^$]*\$|</?(?:details|summary)>|\]\([^)]*\)", " ", markdown
    )
    return re.findall(r"\w[\w'’-]*", markdown)


def test_there_are_nine_chapters() -> None:
    assert [path.stem[:3] for path in CHAPTERS] == [f"0{number}-" for number in range(1, 10)]


@pytest.mark.parametrize("role", KINDS)
def test_every_entry_is_named_in_a_chapter(role: str) -> None:
    named = set(re.findall(rf"\{{{role}\}}`([\w-]+)`", "".join(map(text, CHAPTERS))))
    assert named == {entry.name for entry in entries(KINDS[role])}


@pytest.mark.parametrize("number", range(1, 9))
def test_a_chapter_names_the_entries_of_its_sections(number: int) -> None:
    """By docs/course.md; recipes of a user's own data may stand in any chapter."""
    course = (DOCS / "course.md").read_text("utf-8")
    part = course.partition(f"\n## {number} ")[2].partition("\n## ")[0]
    missing = [
        name
        for row in re.findall(r"(?m)^\| J .*$", part)
        for role, cell in zip(KINDS, row.split(" | ")[1:4], strict=True)
        for name in re.findall(r"\[([\w-]+)\]", cell)
        if f"{{{role}}}`{name}`" not in text(CHAPTERS[number - 1])
    ]
    assert not missing


@chapter
def test_a_chapter_has_all_its_parts(path: Path) -> None:
    titles = re.findall(r"(?m)^## (.*)$", text(path))
    assert tuple(titles[-4:]) == PARTS
    assert text(path).count("```{literalinclude} ../../src/chainrule/") >= 2
    assert len(CELL.findall(text(path))) >= 6


@chapter
def test_a_chapter_has_1500_to_3000_words(path: Path) -> None:
    assert 1500 <= len(words(text(path))) <= 3000


@chapter
def test_every_exercise_has_its_solution_folded_away(path: Path) -> None:
    exercises = text(path).partition("\n## Exercises\n")[2].partition("\n## ")[0]
    numbers = re.findall(r"(?m)^\*\*(\d+)\b", exercises)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 5
    folded = re.findall(
        r"(?s)<details><summary>Solution</summary>\n\n.+?\n\n</details>\n", exercises
    )
    assert len(folded) == len(numbers)


def test_the_six_exercises_of_the_notes_are_there() -> None:
    found = "".join(sorted(re.findall(r"\(L 10\.(\d)", "".join(map(text, CHAPTERS)))))
    assert found == "123456"


@cache
def recorded(recipe: str) -> list[float]:
    """What benchmarks/results has of a recipe, means over its runs, and what was published."""
    path = DOCS.parent / "benchmarks" / "results" / f"{recipe}.json"
    if not path.exists():
        return []
    content = json.loads(path.read_text("utf-8"))
    by_place: dict[tuple[str, ...], list[float]] = {}
    for run in content["runs"]:
        for place, value in leaves({part: run.get(part) for part in ("metrics", "compared")}):
            if "train" not in place:
                by_place.setdefault(place, []).append(value)
    found = [sum(values) / len(values) for values in by_place.values()]
    return found + [value for _, value in leaves(content["published"])]


def leaves(tree: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """The numbers of nested dictionaries and lists, each with the names that lead to it."""
    if isinstance(tree, dict | list):
        for name, inside in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(inside, (*place, str(name)))
    elif isinstance(tree, int | float):
        yield place, tree


def unrecorded(markdown: str) -> list[str]:
    """Figures of paragraphs that name recipes, but not figures of these recipes, rounded.

    A figure has a decimal point or a percent sign.
    """
    wrong = []
    for paragraph in re.split(r"\n\s*\n", NO_PROSE.sub(r"\1 ", markdown)):
        named = re.findall(r"\{recipe\}`([\w-]+)`", paragraph)
        known = [unit * value for name in named for value in recorded(name) for unit in (1, 100)]
        for figure in FIGURE.finditer(paragraph) if named else ():
            said, half = float(figure[0].replace(",", "")), 0.5 * 10 ** -len(figure[1] or "")
            if not any(abs(value - said) <= half + 1e-9 for value in known):
                wrong.append(figure[0])
    return wrong


@chapter
def test_figures_beside_a_recipe_are_those_recorded(path: Path) -> None:
    assert not unrecorded(text(path))


def test_a_figure_that_was_not_recorded_is_seen() -> None:
    said = "{recipe}`mnist-lda` errs in 12.7 % and `1.5`, with $2.5$, not in 12.8 % or 1.27."
    assert unrecorded(said) == ["12.8", "1.27"]
    assert unrecorded("Half of 3.5 % have no recipe.") == []


@chapter
def test_every_picture_of_a_chapter_has_an_alternative_text(path: Path) -> None:
    draws = re.compile(
        r"\.plot\(\)$|plt\.subplots|grid_values\(|computation_graph\(\[", re.MULTILINE
    )
    bare = [cell for cell in CELL.findall(text(path)) if draws.search(cell) and "alt: " not in cell]
    assert not bare


@chapter
def test_links_of_a_notebook_lead_to_files_beside_it(path: Path) -> None:
    cells = json.loads(text(DOCS / "notebooks" / f"{path.stem}.ipynb"))["cells"]
    words = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    words = re.sub(r"(?ms)^```.*?^```$", "", words)
    links = re.findall(r"\]\(([^)#:\s]+)[)#]", words)
    assert [link for link in links if not (DOCS / "notebooks" / link).exists()] == []
    assert any(link.endswith(".md") for link in links)
