"""A run folder: begin a recipe in it, carry it through, and use what it learnt.

    config.json         recipe, settings, versions
    task.json           shape of an example, classes, how to read a user's file
    metrics.jsonl       one line per epoch
    checkpoints/        the last state and the best weights while training
    model.safetensors   the final weights
    result.json         every final figure
    *.png               pictures

`begin` writes the first file, `carry_on` does the rest, from the start or from the last checkpoint.
"""

import json
import os
import platform
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

import chainrule
from chainrule.data.encoders import encoder_from_json
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.recipes.base import Experiment, Task, task_of
from chainrule.registry import find
from chainrule.training import Progress, checkpoint, outputs

Json = dict[str, Any]


def begin(name: str, recipe: Experiment, folder: Path, data: Path | None = None) -> None:
    """Claim a folder for a new run."""
    if folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"the folder {folder} is not empty; choose another --out, or continue an interrupted "
            f"run with: chainrule resume {folder}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "recipe": name,
        "settings": asdict(recipe),  # type: ignore[call-overload]
        "data": str(data) if data else None,
        "versions": versions(),
    }
    write_json(folder / "config.json", config)


def discard(folder: Path) -> None:
    """Take back a run that was refused before it learnt anything."""
    if not (folder / "checkpoints").exists():
        for name in ("config.json", "task.json", "metrics.jsonl"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def carry_on(folder: Path, device: str = "auto", data: Path | None = None) -> Generator[Progress]:
    """Train to the end, from the start or the last checkpoint; leaves result and pictures."""
    config, recipe = open_run(folder)
    began = time.perf_counter()
    splits = recipe.data(data or (Path(config["data"]) if config["data"] else None))
    task = task_of(splits)
    write_json(folder / "task.json", describe(task, splits))
    model = build(recipe, task)
    history: list[dict[str, int | float]] = []
    stopped = ""
    with closing(recipe.learn(model, splits, folder / "checkpoints", device)) as steps:
        for progress in steps:
            if progress.record:
                history.append(progress.record)
                write_lines(folder / "metrics.jsonl", history)
                stopped = progress.stopped or stopped
            yield progress
    model.cpu()
    checkpoint.save(folder / "model.safetensors", model.state_dict())
    result = {
        "recipe": config["recipe"],
        "seed": recipe.seed,
        "epochs": len(history),
        "stopped": stopped,
        "metrics": recipe.measure(model, splits),
        "compared": recipe.compare(splits),
        "published": [asdict(figure) for figure in recipe.published],
        "parameters": parameters(model),
        "examples": {
            name: len(getattr(splits, name).x) for name in ("train", "validation", "test")
        },
        "notes": list(splits.notes),
        "seconds": sum(record.get("seconds", 0.0) for record in history)
        or time.perf_counter() - began,
        "settings": config["settings"],
        "versions": versions(),
    }
    write_json(folder / "result.json", result)
    draw(recipe, model, splits, history, folder)


def draw(
    recipe: Experiment,
    model: nn.Module,
    data: Splits,
    history: list[dict[str, int | float]],
    folder: Path,
) -> None:
    """All pictures of a finished run."""
    from chainrule.report.curves import learning_curves
    from chainrule.report.style import save

    figures = recipe.pictures(model, data)
    if len(history) > 1:
        figures["learning"] = learning_curves([without_accuracy(record) for record in history])
    for name, figure in figures.items():
        save(figure, folder / f"{name}.png")


def without_accuracy(record: dict[str, int | float]) -> dict[str, int | float]:
    """Accuracy is 1 - error: one curve is enough."""
    return {name: value for name, value in record.items() if name != "validation_accuracy"}


def open_run(folder: Path) -> tuple[Json, Experiment]:
    """The configuration of a run and its recipe as it was."""
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} is not a run folder: it has no config.json; "
            "`chainrule train RECIPE` makes one under runs/"
        )
    config = read_json(folder / "config.json")
    try:
        recipe = find("recipes", config["recipe"]).load().Recipe
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in config["settings"].items()}
        return config, recipe(**values)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{folder / 'config.json'} does not fit this version of the recipe: {error}"
        ) from None


def open_model(folder: Path) -> tuple[Experiment, nn.Module, Task]:
    """The trained model of a finished run."""
    _, recipe = open_run(folder)
    if not (folder / "model.safetensors").is_file():
        raise InputError(f"the run in {folder} is not finished; chainrule resume {folder}")
    state = read_json(folder / "task.json")
    task = Task(tuple(state["shape"]), tuple(state["classes"]), state["centre"], state["spread"])
    model = build(recipe, task)
    tensors, _ = checkpoint.load(folder / "model.safetensors")
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise InputError(f"the weights in {folder} do not fit its recipe: {reason}") from None
    return recipe, model.eval(), task


def build(recipe: Experiment, task: Task) -> nn.Module:
    """The recipe's model with the initial weights of its seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return recipe.model(task)


def predict(folder: Path, path: Path) -> list[Json]:
    """One answer per row or image of a user's file: the class and how sure, or the number."""
    _, model, task = open_model(folder)
    encoder = read_json(folder / "task.json")["encoder"]
    if encoder is None:
        raise InputError(f"the recipe of {folder} has no inputs that can be read from a file")
    output = outputs(model, (encoder_from_json(encoder).encode_file(path),)).float()
    names = [
        f"{path.name}:{row}" if len(output) > 1 else path.name for row in range(1, len(output) + 1)
    ]
    if not task.classes:
        values = output.flatten().tolist()
        return [{"input": n, "prediction": v} for n, v in zip(names, values, strict=True)]
    sure, likely = output.softmax(1).sort(1, descending=True)
    return [
        {
            "input": name,
            "prediction": task.classes[k[0]],
            "probability": p[0],
            "next": task.classes[k[1]],
            "its probability": p[1],
        }
        for name, p, k in zip(names, sure.tolist(), likely.tolist(), strict=True)
    ]


def measure_again(folder: Path, data: Path | None = None) -> Json:
    """The result of a finished run with its figures measured anew from the saved weights."""
    recipe, model, _ = open_model(folder)
    config, _ = open_run(folder)
    splits = recipe.data(data or (Path(config["data"]) if config["data"] else None))
    return read_json(folder / "result.json") | {"metrics": recipe.measure(model, splits)}


def describe(task: Task, data: Splits) -> Json:
    """What `predict` needs to know later."""
    return asdict(task) | {"encoder": data.encoder.to_json() if data.encoder else None}


def next_folder(name: str, root: Path = Path("runs")) -> Path:
    """runs/NAME-1, or the first number that is free."""
    number = 1
    while (root / f"{name}-{number}").exists():
        number += 1
    return root / f"{name}-{number}"


def parameters(model: nn.Module) -> int:
    """Numbers that were learnt, whether by gradients or by a rule of the model's own."""
    return sum(t.numel() for t in model.state_dict().values() if t.is_floating_point())


def versions() -> Json:
    """What the figures depend on."""
    return {
        "chainrule": chainrule.__version__,
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "processor": platform.machine(),
    }


def read_json(path: Path) -> Json:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None


def write_json(path: Path, value: Json) -> None:
    replace(path, json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def write_lines(path: Path, records: list[dict[str, int | float]]) -> None:
    replace(path, "".join(json.dumps(record) + "\n" for record in records))


def replace(path: Path, text: str) -> None:
    """Write beside, then rename: a reader never sees half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)
