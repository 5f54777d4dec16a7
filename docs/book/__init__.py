"""What the site has beyond Sphinx: the generated reference, the gallery, and links to both.

On every build the pages are written into `docs/reference/`, which git ignores; a page that has not
changed is not touched, so Sphinx does not read it again.
"""

from pathlib import Path
from typing import Any

from book.links import resolved
from book.reference import pages


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", write_reference)
    app.connect("source-read", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_reference(app: Any) -> None:
    """Write what is missing or has changed, and remove what is no longer there."""
    folder = Path(app.srcdir) / "reference"
    wanted = {folder / name: text for name, text in pages().items()}
    for path, text in wanted.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    for path in set(folder.rglob("*.md")) - set(wanted):
        path.unlink()


def link(app: Any, document: str, source: list[str]) -> None:
    """Lead links to files of the project to their pages."""
    source[0] = resolved(source[0], Path(app.env.doc2path(document)))
