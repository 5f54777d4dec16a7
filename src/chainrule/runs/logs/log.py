"""A log of a run for another program: numbers of every epoch, texts, pictures.

    chainrule train digits-mlp --log tensorboard csv
    cr.fit(model, data, callbacks=[cr.Log("tensorboard", "logs/first")])

Each kind is a file of this folder with a function `open_log`, which returns a `Writer`; the library
that it writes with is imported there and nowhere else. What a log holds already is noted in
logs.json of its folder, so that a resumed run continues it.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypedDict

from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.training import Progress, Record
from chainrule.training.files import WriteError, read, replace
from chainrule.training.schema import Count, conform, parsed

STATE = "logs.json"
KINDS: Mapping[str, str] = {
    "csv": "",
    "tensorboard": "tensorboard",
    "mlflow": "mlflow",
    "wandb": "wandb",
}
"""The package that each kind needs."""


class Writer(Protocol):
    """A log that is open.

    place: what the library needs to find the log again, such as the id of its run.
    """

    place: str

    def scalars(self, epoch: int, record: Mapping[str, float]) -> None: ...

    def text(self, name: str, content: str) -> None: ...

    def image(self, name: str, path: Path) -> None: ...

    def close(self) -> None: ...


class LogState(TypedDict):
    """What logs.json holds of one log: its place, and the last epoch in it."""

    place: str
    epoch: Count


def check_kinds(kinds: tuple[str, ...]) -> None:
    """Refuse kinds that do not exist, are named twice, or need a package that is not there."""
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(unknown("`log`", kind, list(KINDS)))
        if kinds.count(kind) > 1:
            raise InputError(f"`log` names {kind} {kinds.count(kind)} times; expected once")
        package = KINDS[kind]
        if package and find_spec(package) is None:
            raise InputError(
                f"`log` {kind} needs the package {package}; install it with: "
                "pip install 'chainrule[log]'"
            )


class Log:
    """A log of one kind in a folder; a callback of `fit`, and what `--log` writes.

    Args:
        kind: csv, tensorboard, mlflow or wandb.
        folder: of the log; the same folder continues the same log.
        name: of the run in the log; by default that of the folder.
        experiment: the project or experiment that MLflow and Weights & Biases put the run into,
            unless their environment variables name one.

    >>> import chainrule as cr, tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.mkdtemp()
    >>> with cr.Log("csv", folder) as log:
    ...     log.scalars(1, {"train_loss": 0.5})
    >>> Path(folder, "log.csv").read_text("utf-8")
    'epoch,train_loss\\n1,0.5\\n'
    """

    def __init__(
        self, kind: str, folder: str | Path, name: str = "", experiment: str = "chainrule"
    ):
        check_kinds((kind,))
        self.kind, self.folder = kind, Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        states = read_states(self.folder)
        self.fresh = kind not in states
        found = states.get(kind) or LogState(place="", epoch=0)
        self.epoch = found["epoch"]
        module = import_module(f"chainrule.runs.logs.{kind}_log")
        opening = Opening(self.folder, name or self.folder.name, experiment, **found)
        self.writer: Writer = self.tried(lambda: module.open_log(opening))
        self.save()

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, now: Progress) -> None:
        """Log an epoch that has ended, unless the log has it already."""
        if now.record and now.epoch > self.epoch:
            self.scalars(now.epoch, now.record)

    def scalars(self, epoch: int, record: Record) -> None:
        """The numbers of an epoch."""
        numbers = {k: float(v) for k, v in record.items() if k != "epoch" and is_number(v)}
        self.tried(lambda: self.writer.scalars(epoch, numbers))
        self.epoch = epoch
        self.save()

    def text(self, name: str, content: str) -> None:
        """A text, such as the settings."""
        self.tried(lambda: self.writer.text(name, content))

    def image(self, name: str, path: str | Path) -> None:
        """A picture from a PNG file."""
        self.tried(lambda: self.writer.image(name, Path(path)))

    def close(self) -> None:
        """Write everything that is waiting."""
        self.tried(self.writer.close)

    def save(self) -> None:
        own = LogState(place=self.writer.place, epoch=self.epoch)
        write_states(self.folder, read_states(self.folder) | {self.kind: own})

    def tried(self, action: Callable[[], Any]) -> Any:
        """What the library does; its failure in one sentence."""
        try:
            return action()
        except (InputError, KeyboardInterrupt):
            raise
        except Exception as error:
            said = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise WriteError(f"the log {self.kind} of {self.folder} failed: {said}") from error


@dataclass(frozen=True)
class Opening:
    """What a kind of log is opened with; `epoch` is the last that it holds."""

    folder: Path
    name: str
    experiment: str
    place: str
    epoch: int


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def read_states(folder: Path) -> dict[str, LogState]:
    """The content of logs.json."""
    path = folder / STATE
    if not path.is_file():
        return {}
    return conform(parsed(read(path), path), dict[str, LogState], path)


def write_states(folder: Path, states: Mapping[str, LogState]) -> None:
    replace(folder / STATE, (json.dumps(dict(states), indent=2) + "\n").encode())


def tag(name: str) -> str:
    """validation_loss as loss/validation, so that a program shows both losses in one chart."""
    for split in ("train", "validation", "test"):
        if name.startswith(f"{split}_"):
            return f"{name.removeprefix(f'{split}_')}/{split}"
    return name
