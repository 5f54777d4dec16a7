"""Settings and errors: what the fields of a run mean, and the exceptions that speak to the user."""

from dataclasses import MISSING, Field, fields

from book.code import fields_of
from book.text import cell, table
from chainrule.cli.options import as_words
from chainrule.errors import InputError
from chainrule.registry import ROOT

SETTINGS = {  # title → file, class
    "Training": ("training/settings.py", "Settings"),
    "Ensembles, distillation, transfer": ("runs/options.py", "RunOptions"),
    "The run folder": ("cli/train.py", "Train"),
}
BEFORE = """\
`--batch-size` on the command line is `batch_size` in `cr.fit` and `cr.train`, and `--from` is
`from_run`. A recipe adds settings of its own and may change a default; its page lists them all, and
`chainrule train RECIPE --help` prints them. They are saved in `config.json` of the run folder.
"""


def settings() -> str:
    """The page."""
    from importlib import import_module

    lines = ["# Settings\n", BEFORE]
    for title, (place, name) in SETTINGS.items():
        path = ROOT / place
        module = import_module("chainrule." + place.removesuffix(".py").replace("/", "."))
        said = fields_of(path, name)
        rows = [
            (f"`{as_words(f.name)}`", cell(default(f)), cell(said[f.name]))
            for f in fields(getattr(module, name))
        ]
        lines += [f"## {title}\n", table(("flag", "default", "meaning"), rows)]
    return "\n".join(lines)


def default(field: Field) -> str:  # type: ignore[type-arg]
    if field.default is MISSING:
        return "(required)"
    return "" if field.default in ("", (), None) else str(field.default)


def errors() -> str:
    """The page."""
    rows = [(led(kind), cell((kind.__doc__ or "").split("\n\n")[0])) for kind in found(InputError)]
    return (
        "# Errors\n\nWhat a user can fix is an `InputError`, a `ValueError` that says what was "
        "wrong, what was expected and what to do. From Python it names arguments; the command line "
        "names the flags instead and exits with code 2. [What you see when something is "
        "wrong](../bad-input.md) prints the message of every case.\n\n"
        f"{table(('exception', 'when'), rows)}\n"
        "{py:obj}`StopTraining <chainrule.errors.StopTraining>` is an order, not an error: raised "
        "in a callback it ends the training, and the best weights are kept. Any other exception "
        "that leaves the library is a bug.\n"
    )


def found(kind: type) -> list[type]:
    """An exception and all that inherit from it, wherever they are defined."""
    from importlib import import_module

    for path in ROOT.rglob("*.py"):
        if "Error(InputError)" in path.read_text("utf-8"):
            import_module(".".join(("chainrule", *path.relative_to(ROOT).with_suffix("").parts)))
    below = sorted(kind.__subclasses__(), key=lambda one: one.__name__)
    return [kind, *(one for one in below if one.__module__.startswith("chainrule."))]


def led(kind: type) -> str:
    return f"{{py:obj}}`{kind.__name__} <{kind.__module__}.{kind.__name__}>`"
