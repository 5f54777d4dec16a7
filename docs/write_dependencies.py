"""Write docs/dependencies.md: what is installed with chainrule, in which version, by which license.

    make tables

Versions are those of constraints.txt, licenses those of the installed packages. With a network,
`pip install pip-audit && pip-audit -r constraints.txt` compares the versions with known weaknesses.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
HEAD = """# Dependencies

Installed versions are pinned in [constraints.txt](../constraints.txt). Written by
`docs/write_dependencies.py`.

| package | needed for | pinned | license |
|---|---|---|---|
"""
NOT_FOR_USERS = ("docs", "dev", "peers")


def needed() -> dict[str, str]:
    """The packages that users install, each with what needs it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"everything": project["dependencies"]} | project["optional-dependencies"]
    found: dict[str, str] = {}
    for group, packages in groups.items():
        for package in packages if group not in NOT_FOR_USERS else ():
            found.setdefault(re.split(r"[<>=\[; ]", package)[0], group)
    return {name: group for name, group in found.items() if name != project["name"]}


def pins() -> dict[str, str]:
    """The version of every package in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {plain(name): version.split()[0] for name, version in pairs}


def plain(name: str) -> str:
    """A package's name, however it is written."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def license_of(name: str) -> str:
    """What the package says itself."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return "not installed here"
    classes = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    named = [c.rpartition(":: ")[2] for c in classes]
    return next(filter(None, (about.get("License-Expression"), *named, about.get("License"))), "–")


def page() -> str:
    known = pins()
    rows = [
        f"| {name} | {group} | {known.get(plain(name), '–')} | {license_of(name)} |"
        for name, group in sorted(needed().items())
    ]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
