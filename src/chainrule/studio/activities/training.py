"""A recipe trained in a run folder, streamed step by step; or a run that goes on."""

import base64
import binascii
import contextlib
import hashlib
import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch

from chainrule.errors import InputError
from chainrule.registry import find
from chainrule.runs.configuration import configure
from chainrule.runs.folder import next_folder
from chainrule.runs.run import Run
from chainrule.studio import place
from chainrule.studio.activities.recipe_form import FILES, RUNS
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.training import Progress

SHARE = 0.75  # of the machine's memory that a training may take
QUOTA = 500_000_000  # bytes of all files that pages have sent
SUFFIXES = {
    "table": ("csv", "tsv", "json", "gz"),
    "text": ("txt", "md"),
    "edges": ("csv", "tsv", "txt"),
    "nodes": ("csv", "tsv", "txt"),
}
UPLOADS = "files"  # folder of the files that pages have sent, beside the runs


@dataclass(frozen=True)
class Settings:
    """A recipe with its settings, or the name of a run to go on with.

    Args:
        recipe: its name; empty to go on with a run.
        values: settings of the recipe by name.
        files: for settings that name a file, the file's name and its content in base64.
        run: the name of a run.
    """

    recipe: Annotated[str, Range(0, 80)] = ""
    values: dict = field(default_factory=dict)
    lists: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    run: Annotated[str, Range(0, 200)] = ""


@dataclass(frozen=True)
class Stop:
    """The only message: save and stop."""

    stop: bool


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    use_machine()
    training = Run.load(place.run_folder(chosen.run)) if chosen.run else created(chosen)
    yield View(lambda: {"run": training.folder.name, "fraction": 0.0})
    steps = training.train()
    with contextlib.closing(steps):
        for progress in steps:
            view = View(lambda now=progress: report(training, now))  # type: ignore[misc]
            message = yield view
            while message is not None:
                if read(Stop, message).stop:
                    steps.close()
                    yield View(lambda: {"run": training.folder.name, "stopped": "saved"})
                    return
                message = yield view
    yield View(lambda: {"run": training.folder.name, "fraction": 1.0, "finished": True})


def use_machine() -> None:
    """Training takes all cores and a good part of the memory."""
    torch.set_num_threads(os.cpu_count() or 1)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    resource.setrlimit(resource.RLIMIT_DATA, (int(SHARE * present), most))


def created(chosen: Settings) -> Run:
    """A new run in a folder of its own."""
    entry = find("recipes", chosen.recipe)
    values = {name: named(name, value) for name, value in chosen.values.items()}
    values |= {name: entries_of(named(name, value)) for name, value in chosen.lists.items()}
    values |= {name: str(stored(name, value)) for name, value in chosen.files.items()}
    configuration = configure(entry.load().Recipe, values)
    return Run.create(entry, configuration, next_folder(entry.name, place.root()))


def named(name: str, value: Any) -> Any:
    """A plain value; runs are given by name, and no setting may hold a path."""
    if name in FILES:
        raise InputError(f"`{name}` must be sent as a file")
    if name in RUNS and value:
        return str(place.run_folder(str(value)))
    return value


def entries_of(text: str) -> list[Any]:
    """`64, 32` as a list of numbers or words."""
    words = [word for word in str(text).replace(",", " ").split() if word]
    return [number(word) for word in words]


def number(word: str) -> int | float | str:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(word)
    return word


def stored(name: str, sent: str) -> Path:
    """The content of a file, kept beside the runs under a name that follows from it.

    Args:
        name: of the setting.
        sent: the file's suffix and its content in base64, with a colon between them.
    """
    suffix, _, data = str(sent).partition(":")
    if suffix not in SUFFIXES.get(name, ()):
        kinds = " or ".join(SUFFIXES.get(name, ("no file",)))
        raise InputError(f"`{name}` takes {kinds}, got a file that ends in {suffix[:8]!r}")
    try:
        content = base64.b64decode(data, validate=True)
    except binascii.Error:
        raise InputError(f"`{name}` must be sent in base64") from None
    folder = place.root() / UPLOADS
    folder.mkdir(parents=True, exist_ok=True)
    if sum(path.stat().st_size for path in folder.iterdir()) + len(content) > QUOTA:
        raise InputError(f"{folder} holds {QUOTA} bytes of sent files already; delete some of them")
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
    path.write_bytes(content)
    return path


def report(training: Run, now: Progress) -> Json:
    """Where the training is."""
    found: Mapping[str, Any] = {
        "run": training.folder.name,
        "epoch": now.epoch,
        "epochs": now.epochs,
        "step": now.step,
        "steps": now.steps,
        "loss": rounded(now.loss, 5),
        "fraction": rounded(now.fraction),
        "remarks": training.remarks,
    }
    return dict(found)
