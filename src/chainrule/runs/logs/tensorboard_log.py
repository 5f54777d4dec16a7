"""TensorBoard: `tensorboard --logdir runs` shows all runs. The library is tensorboard, by torch."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from chainrule.runs.logs.log import Opening, tag

FOLDER = "tensorboard"


class TensorBoardLog:
    """Event files in a folder; epochs after the last one that is known are hidden."""

    place = FOLDER

    def __init__(self, folder: Path, last: int):
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder / FOLDER), purge_step=last + 1 if last else None)
        self.last = last

    def scalars(self, epoch: int, record: Mapping[str, float]) -> None:
        for name, value in record.items():
            self.writer.add_scalar(tag(name), value, epoch)
        self.last = epoch
        self.writer.flush()

    def text(self, name: str, content: str) -> None:
        indented = "\n".join(f"    {line}" for line in content.split("\n"))  # shown as it is
        self.writer.add_text(name, indented, self.last)

    def image(self, name: str, path: Path) -> None:
        with Image.open(path) as opened:
            pixels = np.asarray(opened.convert("RGB"))
        self.writer.add_image(name, pixels, self.last, dataformats="HWC")

    def close(self) -> None:
        self.writer.close()


def open_log(opening: Opening) -> TensorBoardLog:
    return TensorBoardLog(opening.folder, opening.epoch)
