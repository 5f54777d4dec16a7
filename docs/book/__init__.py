"""What the site has beyond Sphinx: the generated reference, the gallery, and links to both.

On every build the pages are written into `docs/reference/`, which git ignores; a page that has not
changed is not touched, so Sphinx does not read it again.
"""

import re
from pathlib import Path
from typing import Any

from book.gallery import PAGE, fill
from book.links import resolved
from book.notebooks import CHAPTERS
from book.notebooks import main as write_notebooks
from book.pictures import draw_claims
from book.reference import pages

REPAIRS = (  # what screen readers and keyboards need, and Sphinx and its theme leave out
    ("furo_navigation_tree", ' role="heading"', ' role="heading" aria-level="2"'),
    ("body", "<dl>\n<dd>", '<dl role="presentation">\n<dd>'),  # arguments of a long signature
    ("body", "<pre>", '<pre tabindex="0">'),  # may scroll, so a key must reach it
)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_reference)
    app.connect("env-before-read-docs", spread)
    app.connect("source-read", link)
    app.connect("env-updated", lambda app, env: [PAGE])  # chapters may have drawn other pictures
    app.connect("doctree-resolved", fill)
    app.connect("html-page-context", repair, priority=900)  # after the theme
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True  # it only copies files
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_reference(app: Any) -> None:
    """Write what is missing or has changed, and remove what is no longer there."""
    draw_claims()
    write_notebooks()
    folder = Path(app.srcdir) / "reference"
    wanted = {folder / name: text for name, text in pages().items()}
    for path, text in wanted.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in set(folder.rglob("*.md")) - set(wanted):
        path.unlink()


def spread(app: Any, env: Any, documents: list[str]) -> None:
    """Spread the pages that are executed, so that no process is left with all of them."""
    slow = [name for name in documents if name.startswith(("chapters/", "guides/"))]
    fast = [name for name in documents if name not in slow]
    between = len(fast) // max(1, len(slow))
    for place, name in enumerate(slow):
        fast.insert(place * (between + 1), name)
    documents[:] = fast


def link(app: Any, document: str, source: list[str]) -> None:
    """Lead links to files of the project to their pages."""
    page = Path(app.env.doc2path(document))
    source[0] = resolved(source[0], page)
    if page.parent == CHAPTERS:
        notebook = f"{{download}}`As a notebook <../notebooks/{page.stem}.ipynb>`"
        slides = f'<a class="present-link" href="{page.stem}.html?present">As slides</a>'
        offer = f"{notebook} · {slides}"
        source[0] = re.sub(r"(?m)^(# .*)$", rf"\1\n\n{offer}", source[0], count=1)


def repair(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Make a page accessible before it is written."""
    for part, found, wanted in REPAIRS:
        if part in context:
            context[part] = context[part].replace(found, wanted)
