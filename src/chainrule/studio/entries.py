"""What there is, for the home page: names and titles, and one entry with its text and its code."""

from functools import cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from chainrule.catalog import KINDS, Item, links, listed
from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.studio.activity import Json
from chainrule.studio.notes import section_titles, slips_of

LINKED = ("models", "data", "recipes", "claims")


async def everything(_: Request) -> JSONResponse:
    """Every entry by name."""
    return JSONResponse(await run_in_threadpool(all_entries))


async def entry(request: Request) -> JSONResponse:
    """One entry, to be read."""
    kind, name = request.path_params["kind"], request.path_params["name"]
    return JSONResponse(await run_in_threadpool(described, kind, name))


@cache
def all_entries() -> list[Json]:
    return [
        {
            "kind": kind,
            "name": item.name,
            "title": item.title.removeprefix("Claim: "),
            "chapter": item.chapter_title,
            "sections": sorted(item.sections),
        }
        for kind in KINDS
        for item in listed(kind)
    ]


def described(kind: str, name: str) -> Json:
    """Its docstring in paragraphs, what belongs to it, and its file as colored words."""
    item = found(kind, name)
    return {
        "kind": kind,
        "name": item.name,
        "title": item.title.removeprefix("Claim: "),
        "chapter": item.chapter_title,
        "paragraphs": paragraphs(item.docstring),
        "sections": {
            section: section_titles().get(section, "") for section in sorted(item.sections)
        },
        "slips": [slip._asdict() for slip in slips_of(item.name, item.sections)],
        "related": links().related(item) if kind in LINKED else {},
        "code": highlighted(item.text),
    }


def found(kind: str, name: str) -> Item:
    """The entry of that kind and name."""
    if kind not in KINDS:
        raise InputError(unknown("kind", kind[:40], list(KINDS)))
    items = {item.name: item for item in listed(kind)}
    if name not in items:
        raise InputError(unknown("entry", name[:80], list(items)))
    return items[name]


def paragraphs(docstring: str) -> list[Json]:
    """Texts and equations in their order; the equations are the indented parts."""
    blocks = docstring.split("\n\n")
    return [
        {"kind": "equation" if block.startswith("    ") else "text", "text": block}
        for block in blocks
    ]


def highlighted(code: str) -> list[list[str]]:
    """Words of Python code with what they are: keyword, name, string, number, comment."""
    from pygments.lexers import PythonLexer
    from pygments.token import STANDARD_TYPES

    return [[STANDARD_TYPES.get(kind, ""), text] for kind, text in PythonLexer().get_tokens(code)]
