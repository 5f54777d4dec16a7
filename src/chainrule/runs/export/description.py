"""model.json: what goes into an exported model, and what comes out."""

import json
from pathlib import Path

from chainrule.runs.export.interface import Interface
from chainrule.training.files import replace

FILE = "model.json"


def describe(given: Interface, folder: Path) -> None:
    """Write model.json into the folder."""
    replace(folder / FILE, (json.dumps(given.describe(), indent=2) + "\n").encode())
