"""From docstrings to Markdown: equations stay literal, prose becomes prose, arguments a list."""

import re

SPECIAL = re.compile(r"([\\*_\[\]<>$#{}|~])")
CODE = re.compile(r"(`+[^`]*`+)")
ALIGNED = re.compile(r"\S.*?\s{3,}\S")
HEADING = re.compile(r"(Args|Arguments|Returns|Yields|Raises|Example|Examples):$")
TITLES = {"Args": "Arguments"}
ARGUMENT = re.compile(r"^    (\S[^:]*): (.*(?:\n {5,}.*)*)", re.MULTILINE)


def escaped(text: str) -> str:
    """Plain words, safe in Markdown; what stands in backticks stays."""
    parts = CODE.split(text)
    return "".join(p if p.startswith("`") else SPECIAL.sub(r"\\\1", p) for p in parts)


def cell(text: object) -> str:
    """Plain words in one cell of a table."""
    return " ".join(escaped(str(text)).split()).replace("\\|", "|").replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A table whose cells are Markdown already."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]) + "\n"


def fence(text: str, language: str = "text") -> str:
    """A block of code or of equations."""
    return f"````{language}\n{text}\n````\n"


def prose(docstring: str) -> str:
    """A whole docstring."""
    parts = re.split(r"\n\s*\n|\n(?=(?:Measured|Bound|Notes): )", docstring.strip("\n"))
    blocks = [block for block in parts if block.strip()]
    return "\n".join(markdown(block) for block in joined(blocks))


def joined(blocks: list[str]) -> list[str]:
    """Blocks with what belongs to them: a heading its indented parts, an example its lines."""
    found: list[str] = []
    for block in blocks:
        if found and block.startswith(" ") and is_open(found[-1]):
            found[-1] += f"\n\n{block}"
        else:
            found.append(block)
    return found


def is_open(block: str) -> bool:
    """Whether an indented block after this one is a part of it."""
    return block.startswith(" ") or HEADING.match(block.split("\n", 1)[0]) is not None


def markdown(block: str) -> str:
    """One block."""
    first, _, rest = block.partition("\n")
    if HEADING.match(first):
        return section(first.rstrip(":"), rest)
    if block.startswith(">>>") or block.lstrip().startswith(">>>"):
        return fence(dedented(block), "pycon")
    if block.startswith("    "):
        return fence(dedented(block))
    lines = block.splitlines()
    return mixed(lines)


def mixed(lines: list[str]) -> str:
    """Prose that may lead directly into aligned or indented lines."""
    parts: list[tuple[bool, list[str]]] = []
    for line in lines:
        literal = line.startswith("    ") or bool(ALIGNED.match(line))
        if not parts or parts[-1][0] != literal:
            parts.append((literal, []))
        parts[-1][1].append(line)
    return "\n".join(
        fence(dedented("\n".join(group))) if literal else escaped("\n".join(group)) + "\n"
        for literal, group in parts
    )


def section(title: str, body: str) -> str:
    """Arguments as a list, an example as a session."""
    if ">>>" in body:
        return fence(dedented(body), "pycon")
    found, title = ARGUMENT.findall(body), TITLES.get(title, title)
    if not found:
        return f"{title}:\n\n{escaped(dedented(body))}\n"
    return f"{title}:\n\n{bullets(dict(found))}"


def bullets(said: dict[str, str]) -> str:
    """What is said of each name."""
    rows = [f"- `{name}`: {escaped(' '.join(text.split()))}" for name, text in said.items()]
    return "\n".join(rows) + "\n"


def dedented(text: str) -> str:
    """Without the indentation that all lines share."""
    lines = text.strip("\n").splitlines()
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[depth:] for line in lines)
