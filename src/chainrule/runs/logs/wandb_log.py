"""Weights & Biases: WANDB_MODE=offline keeps everything on this machine; WANDB_PROJECT names the
project.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.runs.logs.log import Opening


class WandbLog:
    """A run of Weights & Biases, named by its id."""

    def __init__(self, folder: Path, name: str, experiment: str, place: str):
        import wandb

        self.library: Any = wandb
        self.run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", experiment),
            name=name,
            id=place or None,
            resume="allow",
            dir=str(folder),
            settings=wandb.Settings(silent=True, console="off", disable_git=True),
        )
        self.place = str(self.run.id)

    def scalars(self, epoch: int, record: Mapping[str, float]) -> None:
        self.run.log({**record, "epoch": epoch})

    def text(self, name: str, content: str) -> None:
        self.run.config.update({name: content}, allow_val_change=True)

    def image(self, name: str, path: Path) -> None:
        self.run.log({name: self.library.Image(str(path))})

    def close(self) -> None:
        self.run.finish()


def open_log(opening: Opening) -> WandbLog:
    return WandbLog(opening.folder, opening.name, opening.experiment, opening.place)
