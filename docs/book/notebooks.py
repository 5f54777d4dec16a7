"""Chapters as notebooks: the same text and cells, for Jupyter; `python -m book.notebooks`.

Directives that only Sphinx knows are resolved: included code becomes a block of code, a role the
name of what it leads to. A link to a chapter leads to its notebook. Outputs are left out; they are
the site's, which executes the same cells.
"""

import ast
import json
import re
import textwrap
from pathlib import Path
from typing import Any

from book.links import DOCS, ROLE

CHAPTERS, NOTEBOOKS = DOCS / "chapters", DOCS / "notebooks"
HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CELL = re.compile(
    r"^```\{code-cell\}[^\n]*\n(?:---\n.*?\n---\n)?(.*?)^```$", re.DOTALL | re.MULTILINE
)
INCLUDED = re.compile(r"^```\{literalinclude\} (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHAPTER = re.compile(r"\]\((\d\d-[\w-]+)\.md(?:#[\w-]+)?\)")
ADMONITION = re.compile(r"^:::?\{\w+\}.*$\n?|^:::?$\n?", re.MULTILINE)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(chapter: Path) -> dict[str, Any]:
    """A chapter in Jupyter's format, version 4.5."""
    text = HEADER.sub("", chapter.read_text("utf-8"))
    cells, end = [], 0
    for found in CELL.finditer(text):
        cells += [words(text[end : found.start()], chapter), code(found[1])]
        end = found.end()
    cells.append(words(text[end:], chapter))
    named = [cell | {"id": f"{chapter.stem}-{k}"} for k, cell in enumerate(filter(None, cells))]
    return {"cells": named, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}


def words(text: str, chapter: Path) -> dict[str, Any]:
    """A cell of Markdown; nothing for blank lines."""
    text = INCLUDED.sub(lambda m: included(chapter.parent / m[1], m[2]), text)
    text = CHAPTER.sub(r"](\1.ipynb)", ROLE.sub(r"`\2`", text))  # sections have other anchors there
    text = ADMONITION.sub("", text).strip()
    return {"cell_type": "markdown", "metadata": {}, "source": lines(text)} if text else {}


def code(text: str) -> dict[str, Any]:
    """A cell of code that has not been run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": lines(text.strip()),
    }


def included(path: Path, options: str) -> str:
    """The code itself: a class or function of a file, or the whole file."""
    source = path.read_text("utf-8")
    wanted = re.search(r":pyobject: ([\w.]+)", options)
    node: Any = ast.parse(source)
    for name in wanted[1].split(".") if wanted else ():
        node = next(inner for inner in node.body if getattr(inner, "name", "") == name)
    shown = ast.get_source_segment(source, node, padded=True) if wanted else source
    return f"```python\n{textwrap.dedent(shown or '')}\n```"


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def written(chapter: Path) -> str:
    """The notebook as text."""
    return json.dumps(notebook(chapter), indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write those that have changed: a build executes a chapter whose notebook is newer."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for chapter in sorted(CHAPTERS.glob("*.md")):
        path, text = NOTEBOOKS / f"{chapter.stem}.ipynb", written(chapter)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
