"""Plain weights: the state dict of the network as safetensors; nothing is pickled."""

from copy import deepcopy
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from chainrule.runs.export.description import describe
from chainrule.runs.export.interface import Interface
from chainrule.training import outputs
from chainrule.training.checkpoint import separate
from chainrule.training.files import writing

FILE = "model.safetensors"


def write(given: Interface, folder: Path) -> float:
    """Write model.safetensors and its description; the largest difference after loading it."""
    with writing(folder / FILE):
        save_file(separate(given.run.model.state_dict()), folder / FILE, {"format": "pt"})
    describe(given, folder)
    blank = deepcopy(given.run.model)
    for tensor in blank.state_dict().values():
        tensor.zero_()
    blank.load_state_dict(load_file(folder / FILE))
    with torch.no_grad():
        return given.difference(outputs(given.run.recipe.network_for(blank), (given.x,)).float())
