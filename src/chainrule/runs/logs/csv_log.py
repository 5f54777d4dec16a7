"""A table of numbers, log.csv, with a row for each epoch.

Texts and pictures are files beside it: NAME.txt, and the pictures where they are.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

from chainrule.runs.logs.log import Opening
from chainrule.training.files import replace, writing

FILE = "log.csv"


class CSVLog:
    """Rows that are appended to log.csv."""

    place = FILE

    def __init__(self, folder: Path, last: int):
        self.folder, self.path = folder, folder / FILE
        self.columns: list[str] = []
        if self.path.is_file():
            self.drop_after(last)

    def drop_after(self, last: int) -> None:
        """Keep the rows up to an epoch; a row that a kill has cut off goes as well."""
        whole = self.path.read_text("utf-8").split("\n")[:-1]
        rows = list(csv.reader(whole))
        self.columns = rows[0] if rows else []
        kept = [
            line
            for line, row in zip(whole, rows, strict=True)
            if row == self.columns or (len(row) == len(self.columns) and int(row[0]) <= last)
        ]
        replace(self.path, "".join(f"{line}\n" for line in kept).encode())

    def scalars(self, epoch: int, record: Mapping[str, float]) -> None:
        with writing(self.path), self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not self.columns:
                self.columns = ["epoch", *record]
                writer.writerow(self.columns)
            writer.writerow([epoch, *(record.get(name, "") for name in self.columns[1:])])

    def text(self, name: str, content: str) -> None:
        replace(self.folder / f"log-{name}.txt", (content + "\n").encode())

    def image(self, name: str, path: Path) -> None:
        if path.parent != self.folder:
            replace(self.folder / f"{name}.png", path.read_bytes())

    def close(self) -> None:
        """Every row is written when it is logged."""


def open_log(opening: Opening) -> CSVLog:
    return CSVLog(opening.folder, opening.epoch)
