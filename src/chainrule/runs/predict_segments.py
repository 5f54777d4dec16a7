"""The user's own pictures or clouds with the class of every pixel or point, by a finished run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.runs.run import open_model, read_json
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def overlays(folder: Path, paths: Sequence[Path]) -> "list[Figure]":
    """Each picture or cloud as it was read, beside the classes that the run found in it."""
    from chainrule.plots.points import segmented_cloud
    from chainrule.plots.segmentation import segmentation_overlay

    _, model, task = open_model(folder)
    reader = encoder_from_json(read_json(folder / "task.json")["encoder"])
    drawn = []
    for path in paths:
        x = reader.encode_file(path)
        found = outputs(model, (x,)).argmax(1)
        if x.ndim == 3:
            drawn.append(segmented_cloud(x[0].numpy(), found[0].numpy(), task.classes))
        else:
            drawn.append(segmentation_overlay(x.mean(1)[0].numpy(), found[0].numpy(), task.classes))
    return drawn
