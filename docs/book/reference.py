"""The reference: a page for everything that has a name, made from what the files say themselves."""

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from book.code import documented, public
from book.commands import commands
from book.entries import entry_page
from book.front_door import front_door, public_names
from book.gallery import gallery
from book.links import ABOUT, DOCS, LINK, PROJECT, dotted, homes
from book.settings import errors, settings
from book.text import cell, escaped, prose, table
from chainrule.catalog import TABLES, USES, functions, tools
from chainrule.registry import CONTRACTS, ROOT, Entry, entries, title_of

TITLES = {
    "models": "Models",
    "environments": "Environments",
    "data": "Data sets",
    "recipes": "Recipes",
    "claims": "Claims",
}
LISTS = (
    "chainrule",
    "commands",
    "settings",
    "errors",
    *(f"{kind}/index" for kind in TITLES),
    "names",
    "modules/index",
)


SINGLE = {
    "[chainrule](chainrule.md)": "what you type after `cr.`",
    "[Command line](commands.md)": "every command with its flags",
    "[Settings](settings.md)": "of a training run",
    "[Errors](errors.md)": "the exceptions, and what to do",
    "[Functions chosen by name](names.md)": "optimizers, losses, metrics, activations, …",
}


def pages() -> dict[str, str]:
    """Path below docs/reference/ → text, for every page."""
    found = {
        "index.md": contents(),
        "chainrule.md": front_door(),
        "commands.md": commands(),
        "settings.md": settings(),
        "errors.md": errors(),
        "names.md": names(),
        "modules/index.md": modules(),
        "gallery.md": gallery(),
    }
    for kind in CONTRACTS:
        found[f"{kind}/index.md"] = kind_index(kind)
        found |= {f"{kind}/{entry.name}.md": orphan(entry_page(entry)) for entry in entries(kind)}
    found |= {f"modules/{dotted(tool.path)}.md": orphan(module(tool)) for tool in tools()}
    return found | {f"project/{name.lower()}": about(name) for name in ABOUT}


def orphan(text: str) -> str:
    """A page that its list leads to, not the contents of the site."""
    return f"---\norphan: true\n---\n\n{text}"


def contents() -> str:
    """The first page of the reference."""
    counts: list[tuple[object, ...]] = [*SINGLE.items()]
    counts += [(f"[{TITLES[k]}]({k}/index.md)", f"{len(entries(k))} pages") for k in TITLES]
    counts.append(("[Other modules](modules/index.md)", f"{len(tools())} pages"))
    tree = "\n".join(LISTS)
    return (
        "# Reference\n\nWritten from the files of the library on every build; nothing here is "
        f"listed by hand.\n\n{table(('look up', ''), counts)}\n{coverage()}\n"
        f"```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    )


def coverage() -> str:
    """How many names have a docstring."""
    exported = public_names().values()
    own = sum(bool((value.__doc__ or "").strip()) for value in exported)
    paths = [path for path in ROOT.rglob("*.py") if path.name != "__init__.py"]
    found = [one for path in paths for one in public(path)]
    said = sum(bool(one.docstring) for one in found)
    return (
        f"Of the {len(exported)} names that `chainrule` and its rooms export, {own} are "
        f"documented; of the {len(found):,} functions and classes of all files, {said:,}. The "
        "{ref}`index <genindex>` lists them, methods too.\n"
    )


def kind_index(kind: str) -> str:
    """All entries of a kind, by chapter."""
    lines = [f"# {TITLES[kind]}\n"]
    for chapter, group in groupby(entries(kind), key=lambda entry: entry.chapter_title):
        rows = [(f"[{entry.name}]({entry.name}.md)", cell(entry.title)) for entry in group]
        lines += [f"## {escaped(chapter)}\n", table(("name", "what it is"), rows)]
    return "\n".join(lines)


def names() -> str:
    """Optimizers, losses, activations and the like, which are chosen by name."""
    lines = ["# Functions chosen by name\n"]
    for kind in TABLES:
        rows = [
            (f"`{f.name}`", cell(f.title), f"`{USES[kind].format(f.name)}`")
            for f in functions(kind)
        ]
        home = homes()[functions(kind)[0].path]
        lines += [f"## {kind.capitalize()}\n", table(("name", "equation", "use"), rows)]
        lines.append(f"More in [{home.rsplit('/', 1)[1].removesuffix('.md')}]({home}).\n")
    return "\n".join(lines)


def modules() -> str:
    """The files that are no model, data set, recipe or claim, by folder."""
    lines = ["# Other modules\n"]
    by_folder = sorted(tools(), key=lambda tool: (str(tool.path.parent), tool.path))
    for folder, group in groupby(by_folder, key=lambda tool: tool.path.parent):
        lines += [f"## {escaped(title_of(folder))}\n", module_table(group)]
    return "\n".join(lines)


def module_table(group: Iterable[Entry]) -> str:
    rows = [(f"[{dotted(t.path)}]({dotted(t.path)}.md)", cell(t.title)) for t in group]
    return table(("module", "what it does"), rows)


def module(tool: Entry) -> str:
    """One of them: docstring, and every public function and class."""
    rest = tool.docstring.partition("\n")[2]
    head = f"# {escaped(tool.title or tool.name)}\n\n`chainrule.{dotted(tool.path)}`\n\n"
    return f"{head}{prose(rest)}\n{documented(tool.path)}\n{source(tool.path, 'modules')}"


def source(path: Path, folder: str) -> str:
    """The file itself, folded away."""
    place = os.path.relpath(path, DOCS / "reference" / folder)
    included = f"```{{literalinclude}} {place}\n:language: python\n```"
    shown = path.relative_to(PROJECT)
    return f'\n<details class="source"><summary>{shown}</summary>\n\n{included}\n\n</details>\n'


def about(name: str) -> str:
    """A page of the repository's root, with its links as seen from here."""
    text = (PROJECT / name).read_text("utf-8")
    return LINK.sub(lambda m: f"[{m[1]}](../../../{m[2]}{m[3] or ''})", text)
