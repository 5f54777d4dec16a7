"""The built site, read as files: links lead somewhere, pictures have words, nothing is foreign."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

SITE = Path(__file__).parents[2] / "build" / "docs"
PAGES = sorted(SITE.rglob("*.html"))
ID = re.compile(r'\bid="([^"]+)"')
LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]*)"')
LOADED = re.compile(r'<(?:img|script|source|iframe)\b[^>]*?\bsrc="([^"]*)"|<link\b[^>]*>')
PICTURE = re.compile(r"<img\b[^>]*>")
STYLE = re.compile(r"url\(([^)]+)\)|@import\s+[\"']([^\"']+)")
FOREIGN = re.compile(r"^[\"']?(?:https?:)?//")
GENERATED = {"genindex.html", "search.html"}
pytestmark = pytest.mark.skipif(not PAGES, reason="needs the site: make docs")


@cache
def text(page: Path) -> str:
    return page.read_text("utf-8")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The places of a page to which a link may lead."""
    return frozenset(ID.findall(text(page)))


def broken(page: Path) -> Iterator[str]:
    """Links of a page to files and anchors of the site that are not there."""
    for link in set(LINK.findall(text(page))):
        place, _, anchor = unquote(link).partition("#")
        if re.match(r"[a-z]+:", place):
            continue
        file = place.partition("?")[0]
        target = (page.parent / file).resolve() if file else page
        if not target.is_file():
            yield f"{link}: no such file"
        elif anchor and target.suffix == ".html" and anchor not in anchors(target):
            yield f"{link}: no such anchor"


def test_every_link_of_the_site_leads_somewhere() -> None:
    wrong = {str(page.relative_to(SITE)): found for page in PAGES if (found := [*broken(page)])}
    assert not wrong


def test_a_link_that_leads_nowhere_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text('<h1 id="here">')
    page = tmp_path / "page.html"
    page.write_text('<a href="gone.html"><a href="there.html#lost"><a href="there.html#here">')
    assert sorted(broken(page)) == ["gone.html: no such file", "there.html#lost: no such anchor"]


def test_every_picture_has_words_for_those_who_do_not_see_it() -> None:
    missing = [
        (page.name, picture)
        for page in PAGES
        for picture in PICTURE.findall(text(page))
        if not re.search(r'alt="[^"]*[^"/]{4}', picture)
        or re.search(r'alt="\.\./|_images', picture.split("src=")[0])
    ]
    assert not missing


def test_nothing_that_a_page_loads_is_foreign() -> None:
    loaded = {tag for page in PAGES for tag in map(str, foreign(text(page)))}
    for sheet in (SITE / "_static").rglob("*.css"):
        loaded |= {a or b for a, b in STYLE.findall(text(sheet)) if FOREIGN.match(a or b)}
    assert not loaded


def foreign(page: str) -> Iterator[str]:
    """Addresses of other machines that a browser would ask while it opens the page."""
    for found in LOADED.finditer(page):
        address = found[1] or "".join(re.findall(r'href="([^"]*)"', found[0]))
        if FOREIGN.match(address):
            yield address


def test_every_page_can_be_found_by_the_search() -> None:
    index = text(SITE / "searchindex.js")
    names = [page.relative_to(SITE).with_suffix("").as_posix() for page in PAGES]
    assert not [
        name for name in names if f'"{name}"' not in index and f"{name}.html" not in GENERATED
    ]


def test_the_gallery_shows_what_the_cells_of_chapters_draw() -> None:
    shown = text(SITE / "reference" / "gallery.html")
    for chapter in sorted((SITE / "chapters").glob("*.html")):
        drawn = re.findall(r'src="\.\./(_images/[0-9a-f]{64}\.png)"', text(chapter))
        assert drawn
        assert not [picture for picture in drawn if f'src="../{picture}"' not in shown]
        assert f'href="../chapters/{chapter.name}#' in shown
