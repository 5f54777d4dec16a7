"""All logs of a run folder: its settings and notes first, then every epoch, then its result."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chainrule.console.output import to_json
from chainrule.runs.logs.log import Log
from chainrule.training import Progress


class RunLogs:
    """The logs of these kinds in the folder of a run; none for none.

    Args:
        kinds: csv, tensorboard, mlflow, wandb.
        folder: of the run.
        experiment: the name of its recipe.
    """

    def __init__(self, kinds: Sequence[str], folder: Path, experiment: str):
        self.folder = folder
        self.open = ExitStack()
        with ExitStack() as opening:  # where one cannot be opened, the others are closed
            self.logs = [
                opening.enter_context(Log(kind, folder, folder.name, experiment)) for kind in kinds
            ]
            self.open = opening.pop_all()

    def begin(self, settings: Mapping[str, Any], notes: Sequence[str]) -> None:
        """Settings and notes, once."""
        for log in self.logs:
            if log.fresh:
                log.text("settings", to_json(dict(settings)))
                log.text("notes", "\n".join(notes) or "none")

    def epoch(self, now: Progress) -> None:
        for log in self.logs:
            log(now)

    def finish(self, metrics: Mapping[str, Any]) -> None:
        """The final metrics, the texts and the pictures of the folder."""
        for log in self.logs:
            log.text("result", to_json(dict(metrics)))
            for path in sorted(self.folder.glob("*.png")):
                log.image(path.stem, path)

    def close(self) -> None:
        self.open.close()
