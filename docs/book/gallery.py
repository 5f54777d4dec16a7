"""The gallery: every picture of docs/pictures, with its description and what draws it."""

import re

from book.links import DOCS, PROJECT, dotted, homes
from chainrule.catalog import tools

SHOWN = re.compile(r"!\[([^\]]+)\]\((?:docs/)?pictures/([\w.-]+)\)")


def gallery() -> str:
    """The page."""
    lines = [
        "# Gallery\n",
        "Every picture of these pages; under each, what draws it.\n",
        '<div class="gallery">\n',
    ]
    alt = descriptions()
    for path in sorted((DOCS / "pictures").iterdir()):
        lines += [
            f"```{{figure}} ../pictures/{path.name}",
            f":alt: {alt[path.name]}",
            f"\n{alt[path.name]}: {origin(path.stem)}",
            "```\n",
        ]
    return "\n".join([*lines, "</div>\n"])


def descriptions() -> dict[str, str]:
    """What the pages say of each picture."""
    pages = [PROJECT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("chapters/*.md"))]
    found = [pair for page in pages for pair in SHOWN.findall(page.read_text("utf-8"))]
    names = {path.name: path.stem.replace("-", " ") for path in (DOCS / "pictures").iterdir()}
    return names | {name: alt for alt, name in reversed(found)}


def origin(stem: str) -> str:
    """The command that draws it, or the module whose docstring does."""
    if stem.startswith("studio-"):
        return "`chainrule studio`"
    named = [tool for tool in tools() if f"pictures/{stem}." in tool.docstring]
    return ", ".join(f"[{dotted(tool.path)}]({homes()[tool.path]})" for tool in named)
