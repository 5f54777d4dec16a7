"""Links: what a reader of the repository follows to a file leads a reader of the site to a page.

Files of the library have pages in the reference; a chapter names an entry by its kind and name,
{claim}`novikoff`, and becomes a link that Sphinx checks. What has no page loses its link.
"""

import re
from functools import cache
from pathlib import Path

from chainrule.catalog import tools
from chainrule.registry import CONTRACTS, ROOT, entries

PROJECT = ROOT.parents[1]
DOCS = PROJECT / "docs"
ROLES = {"model": "models", "recipe": "recipes", "claim": "claims", "data": "data"}
ROLE = re.compile(r"\{(model|recipe|claim|data)\}`([\w-]+)`")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[\w-]+)?\)")
ROW = re.compile(r"^\| `([\w-]+)` \|", re.MULTILINE)
ABOUT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


@cache
def homes() -> dict[Path, str]:
    """The page of each file that has one."""
    found = {
        entry.path: f"/reference/{kind}/{entry.name}.md"
        for kind in CONTRACTS
        for entry in entries(kind)
    }
    found |= {tool.path: f"/reference/modules/{dotted(tool.path)}.md" for tool in tools()}
    found |= {PROJECT / name: f"/reference/project/{name.lower()}" for name in ABOUT}
    return found | {PROJECT / "README.md": "/index.md"}


def dotted(path: Path) -> str:
    """`training.loop` of src/chainrule/training/loop.py."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def resolved(text: str, page: Path) -> str:
    """The text with its links led to pages of the site."""
    if page.parent == DOCS:
        text = ROW.sub(row, text)
    text = ROLE.sub(lambda m: f"[{m[2]}](/reference/{ROLES[m[1]]}/{m[2]}.md)", text)
    return LINK.sub(lambda m: target(m, page), text)


def row(found: re.Match[str]) -> str:
    """A row of a table of recipes or claims, led to its page."""
    kinds = [kind for kind in ("recipes", "claims") if found[1] in names(kind)]
    return f"| [{found[1]}](/reference/{kinds[0]}/{found[1]}.md) |" if kinds else found[0]


@cache
def names(kind: str) -> set[str]:
    return {entry.name for entry in entries(kind)}


def target(found: re.Match[str], page: Path) -> str:
    """One link: to a page of ours, as it was, or only its words."""
    words, address, anchor = found[1], found[2], found[3] or ""
    if address.startswith("/"):
        return found[0]
    path = (page.parent / address).resolve()
    if path in homes():
        return f"[{words}]({homes()[path]}{anchor})"
    inside = path.is_relative_to(DOCS) and path.is_file()
    return found[0] if inside or not path.exists() else words
