"""The gallery: every picture of the site, small; a click leads to what draws it.

The pictures of the chapters are those that their cells have drawn: they are known once Sphinx has
read the chapters, so their places on the page are filled before it is written.
"""

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

from book.links import DOCS, PROJECT, dotted, homes
from book.notebooks import CHAPTERS
from book.pictures import KEPT, claim_picture, drawn_by, kept
from book.text import escaped
from chainrule.catalog import tools
from chainrule.registry import Entry, entries

SHOWN = re.compile(r"!\[([^\]]+)\]\((?:docs/|\.\./)?pictures/([\w.-]+)\)")
HERE = DOCS / "reference"
LONGEST = 90  # letters of a caption
PAGE, MARK = "reference/gallery", "pictures-of-"


class Card(NamedTuple):
    """A picture, the words below it, and where a click leads."""

    picture: Path
    alt: str
    command: str
    page: str


def gallery() -> str:
    """The page."""
    lines = ["# Gallery\n", "Every picture with the command or the section that makes it.\n"]
    lines += ["## Chapters\n", *map(places, sorted(CHAPTERS.glob("*.md")))]
    for title, kind, cards in (("Recipes", "recipes", of_recipe), ("Claims", "claims", of_claim)):
        lines.append(f"## {title}\n")
        for chapter, group in groupby(entries(kind), key=lambda entry: entry.chapter_title):
            found = [card for entry in group for card in cards(entry)]
            lines += [f"### {escaped(chapter)}\n", grid(found)] if found else []
    lines += ["## Data sets\n", grid(c for e in entries("data") for c in of_data_set(e))]
    return "\n".join([*lines, "## The studio, the guides and the measurements\n", grid(pages())])


def places(chapter: Path) -> str:
    """Where the pictures of a chapter will stand."""
    title = next(line for line in chapter.read_text("utf-8").splitlines() if line[:2] == "# ")
    return f"##{title}\n\n```{{container}} gallery {MARK}{chapter.stem}\n…\n```\n"


def fill(app: Any, doctree: nodes.document, document: str) -> None:
    """Called by Sphinx before a page is written: the gallery receives what the cells drew."""
    if document != PAGE:
        return
    for place in doctree.findall(nodes.container):
        for mark in (name for name in place["classes"] if name.startswith(MARK)):
            found = drawn_in(app, mark.removeprefix(MARK))
            place.children = [thumbnail(*one, f"{mark}-{k}") for k, one in enumerate(found)]


def drawn_in(app: Any, chapter: str) -> Iterator[tuple[nodes.image, str, str]]:
    """Pictures that the cells of a chapter have drawn, with the title and place of the section."""
    for picture in app.env.get_doctree(f"chapters/{chapter}").findall(nodes.image):
        section: Any = picture
        while not isinstance(section, nodes.section):
            section = section.parent
        title = section.next_node(nodes.title).astext()
        yield picture, title, f"../chapters/{chapter}.html#{section['ids'][0]}"


def thumbnail(picture: nodes.image, title: str, place: str, name: str) -> nodes.figure:
    """A picture of a chapter above its words, led to its section."""
    words = textwrap.shorten(picture["alt"], LONGEST, placeholder=" …")
    small = nodes.image(**{name: picture[name] for name in ("uri", "candidates", "alt")})
    small["loading"] = "lazy"
    linked = nodes.reference("", "", small, refuri=place)
    told = nodes.reference("", title, refuri=place)
    below = nodes.legend("", nodes.paragraph("", "", told))
    return nodes.figure("", linked, nodes.caption("", words), below, ids=[name])


def grid(cards: Iterator[Card] | list[Card]) -> str:
    return "\n".join(['<div class="gallery">\n', *map(shown, cards), "</div>\n"])


def shown(card: Card) -> str:
    """One picture, led to its page, above its command."""
    picture = card.picture
    inside = picture.is_relative_to(HERE)
    place = str(picture.relative_to(HERE)) if inside else f"../{picture.relative_to(DOCS)}"
    said = escaped(textwrap.shorten(card.alt, LONGEST, placeholder=" …"))
    options = f":alt: {card.alt}\n:target: {card.page}\n:loading: lazy"
    return f"```{{figure}} {place}\n{options}\n\n{said}\n\n{card.command}\n```\n"


def of_recipe(entry: Entry) -> Iterator[Card]:
    for path in kept("recipes", entry.name):
        what = f"{entry.name}, {path.stem.replace('-', ' ')}"
        yield Card(path, what, f"`{drawn_by(entry.name)}`", f"recipes/{entry.name}.html")


def of_claim(entry: Entry) -> Iterator[Card]:
    page, command = f"claims/{entry.name}.html", f"`chainrule lab {entry.name}`"
    yield Card(claim_picture(entry), entry.title.removeprefix("Claim: "), command, page)


def of_data_set(entry: Entry) -> Iterator[Card]:
    for path in kept("data", entry.name):
        call = f"`cr.data.{entry.path.stem}()`"
        yield Card(path, f"Samples of {entry.name}", call, f"data/{entry.name}.html")


def pages() -> Iterator[Card]:
    """The pictures that pages show, with what the pages say of them."""
    found = descriptions()
    for path in sorted(path for path in KEPT.iterdir() if path.name in found):
        alt, page = found[path.name]
        yield Card(path, alt, origin(path.stem), page)


def descriptions() -> dict[str, tuple[str, str]]:
    """What the pages say of each picture, and the first page that shows it."""
    found: dict[str, tuple[str, str]] = {}
    for page in [*sorted(DOCS.glob("[!i]*.md")), *sorted(DOCS.glob("[cg]*s/*.md"))]:
        target = f"../{page.relative_to(DOCS).with_suffix('.html')}"
        for alt, name in SHOWN.findall(page.read_text("utf-8")):
            found.setdefault(name, (alt, target))
    for alt, name in SHOWN.findall((DOCS / "index.md").read_text("utf-8")):
        found.setdefault(name, (alt, "../studio.html"))
    for path in KEPT.glob("*.png"):
        found.setdefault(path.name, (path.stem.replace("-", " "), module_page(path.stem)))
    return found


def module_page(stem: str) -> str:
    """The module whose docstring shows it."""
    named = [tool for tool in tools() if f"pictures/{stem}." in tool.docstring]
    return f"modules/{dotted(named[0].path)}.html" if named else "../index.html"


def origin(stem: str) -> str:
    """The command that draws it, or the module whose docstring does."""
    if stem.startswith("studio-"):
        return "`chainrule studio`"
    scripts = [
        path.relative_to(PROJECT)
        for path in sorted((PROJECT / "benchmarks").rglob("*.py"))
        if f"{stem}.png" in path.read_text("utf-8")
    ]
    if scripts:
        return f"`python {scripts[0]}`"
    named = [tool for tool in tools() if f"pictures/{stem}." in tool.docstring]
    return ", ".join(f"[{dotted(tool.path)}]({homes()[tool.path]})" for tool in named)
