"""Files of the user's, answered by a finished run: a class and how sure, or a number."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.errors import InputError
from chainrule.runs.recipe import Experiment, Task
from chainrule.runs.run import open_model, read_json
from chainrule.training import outputs

Json = dict[str, Any]
SPECK = 0.005  # share of a picture below which a class is too small to mention


def predict(folder: Path, paths: Sequence[Path]) -> list[Json]:
    """One answer per row or image of the user's files: the class and how sure, or the number."""
    recipe, model, task = open_model(folder)
    encoder = read_json(folder / "task.json")["encoder"]
    if encoder is None:
        raise InputError(f"the recipe of {folder} has no inputs that can be read from a file")
    reader = encoder_from_json(encoder)
    found: list[Json] = []
    for path in paths:
        output = outputs(model, (reader.encode_file(path),)).float()
        names = [f"{path.name}, row {row}" for row in range(1, len(output) + 1)]
        names = names if len(output) > 1 else [path.name]
        found += [
            {"input": n} | a for n, a in zip(names, answers(recipe, output, task), strict=True)
        ]
    return found


def answers(recipe: Experiment, output: Tensor, task: Task) -> list[Json]:
    """What the outputs mean: a number, or the likeliest class and all probabilities."""
    if not task.classes:
        return [{"prediction": value} for value in output.flatten().tolist()]
    p = recipe.probabilities(output)
    if p.ndim > 2:
        return [shares(found, task.classes) for found in p.argmax(1)]
    return [
        {
            "prediction": task.classes[k],
            "probability": row[k],
            "probabilities": dict(zip(task.classes, row, strict=True)),
        }
        for k, row in zip(p.argmax(1).tolist(), p.tolist(), strict=True)
    ]


def shares(found: Tensor, classes: Sequence[str]) -> Json:
    """A class per pixel as what a picture holds on its ground, class 0: the most of it first.

    A class per point, likewise; a cloud of points has no ground.
    """
    share = (found.flatten().bincount(minlength=len(classes)) / found.numel()).tolist()
    named = dict(zip(classes, share, strict=True))
    told = classes if found.ndim == 1 else classes[1:]
    seen = sorted((k for k in told if named[k] >= SPECK), key=named.__getitem__)
    return {"prediction": ", ".join(reversed(seen)) or "nothing", "shares": named}
