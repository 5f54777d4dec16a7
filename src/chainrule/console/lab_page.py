"""The whole lab on one page: statements, equations, verdicts and pictures in one HTML file."""

import base64
from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from chainrule.console.output import number
from chainrule.console.tables import side_by_side

LOOK = """
:root { --ink: #222; --quiet: #6b7280; --line: #e5e7eb; --good: #1b7f5c; --bad: #c31 }
body { font: 17px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff;
  max-width: 54rem; margin: 2rem auto 6rem; padding: 0 1.2rem }
h1 { font-size: 2rem } h2 { margin-top: 4rem; border-bottom: 2px solid var(--line) }
h3 { margin: 0 0 .4rem; font-size: 1.2rem } nav { columns: 2; font-size: .95rem }
nav b { display: block; margin-top: .8rem; break-after: avoid } a { color: inherit }
pre { background: #f6f7f9; padding: .7rem 1rem; overflow-x: auto; border-radius: 6px }
img { width: 100% } table { border-collapse: collapse; font-size: .95rem }
td { padding: .1rem 1.2rem .1rem 0; vertical-align: top } td:first-child { color: var(--quiet) }
.holds { color: var(--good); font-weight: 600 } .fails { color: var(--bad); font-weight: 600 }
.name { margin-top: 3rem; color: var(--quiet); font: .9rem ui-monospace, monospace }
"""


class Shown(NamedTuple):
    """One claim as the page shows it."""

    name: str
    chapter: str
    docstring: str
    verdict: Mapping[str, Any]
    picture: Path


def lab_page(claims: Iterable[Shown]) -> str:
    """HTML without outside references; the pictures are embedded as SVG."""
    chapters = [
        (title, list(group)) for title, group in groupby(claims, key=lambda claim: claim.chapter)
    ]
    everything = [claim for _, group in chapters for claim in group]
    holding = sum(claim.verdict["holds"] for claim in everything)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>The lab</title><style>{LOOK}</style></head><body>",
        f"<h1>The lab: {holding} of {len(everything)} claims hold</h1>",
        "<p>Lines are predicted, points measured, bounds dashed.</p>",
        "<nav>",
        *(line for title, group in chapters for line in contents(title, group)),
        "</nav>",
    ]
    for title, group in chapters:
        parts += [f"<h2>{escape(title)}</h2>", *(part for c in group for part in section(c))]
    return "\n".join([*parts, "</body></html>", ""])


def contents(title: str, claims: list[Shown]) -> list[str]:
    """Links to the claims of one chapter."""
    links = [
        f'<a href="#{c.name}">{escape(c.name)}</a> {mark(c.verdict["holds"], short=True)}<br>'
        for c in claims
    ]
    return [f"<b>{escape(title)}</b>", *links]


def section(claim: Shown) -> list[str]:
    """A claim with its name, under which the contents link to it."""
    picture = embedded(claim.picture.read_bytes(), "svg+xml")
    return [
        f'<div id="{claim.name}" class="name">chainrule lab {claim.name}</div>',
        claim_section(claim.docstring, claim.verdict, picture),
    ]


def claim_section(docstring: str, verdict: Mapping[str, Any], picture: str) -> str:
    """Statement, equation, what was measured, and the picture, given as an address."""
    statement, *paragraphs = docstring.split("\n\n")
    rows = [f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in facts(verdict).items()]
    return "\n".join(
        [
            f"<h3>{escape(statement.removeprefix('Claim: '))}</h3>",
            *map(paragraph, paragraphs),
            "<table>",
            *rows,
            "</table>",
            f'<img alt="what was predicted and measured" src="{picture}">',
        ]
    )


def facts(verdict: Mapping[str, Any]) -> dict[str, str]:
    """What was measured beside its bound, as HTML."""
    measured, bound = side_by_side(verdict["measured"], verdict["bound"])
    found = {
        "quantity": escape(verdict["quantity"]),
        "measured": measured,
        "bound": escape(f"{verdict['relation']} {bound}"),
        **{escape(text): "yes" if true else "no" for text, true in verdict["conditions"].items()},
        "verdict": mark(verdict["holds"]),
    }
    return found | {escape(name): number(value) for name, value in verdict["details"].items()}


def embedded(image: bytes, kind: str = "png") -> str:
    """An image as an address that holds all of it."""
    return f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"


def paragraph(text: str) -> str:
    """Preformatted if indented, as equations are."""
    return f"<pre>{escape(text)}</pre>" if text.startswith("    ") else f"<p>{escape(text)}</p>"


def mark(holds: bool, short: bool = False) -> str:
    """In words, or as one sign."""
    word, sign = ("holds", "✓") if holds else ("fails", "✗")
    return f'<span class="{word}">{sign if short else word}</span>'
