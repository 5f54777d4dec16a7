"""A run folder: begin a recipe in it, carry it through, and use what it learned.

    config.json         recipe, settings, versions
    task.json           shape of an example, classes, how to read a user's file
    metrics.jsonl       one line per epoch
    checkpoints/        the last state and the best weights while training
    model.safetensors   the final weights
    result.json         every final figure
    *.png               pictures
    *.txt               what a language model writes

`begin` writes the first file, `carry_on` does the rest, from the start or from the last checkpoint.
"""

import json
import platform
import time
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

import chainrule
from chainrule.errors import InputError
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.recipe import Experiment, Facts, Record, Task, Trained
from chainrule.registry import find
from chainrule.console.output import to_json
from chainrule.training import Progress, checkpoint, devices

Json = dict[str, Any]


def begin(
    name: str, recipe: Experiment, folder: Path, data: Path | None = None, device: str = "auto"
) -> None:
    """Claim a folder for a new run."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(
                f"the folder {folder} is not empty; choose another --out, or continue an "
                f"interrupted run with: chainrule resume {folder}"
            )
        folder.mkdir(parents=True, exist_ok=True)
        config = {
            "recipe": name,
            "settings": asdict(recipe),  # type: ignore[call-overload]
            "data": str(data.resolve()) if data else None,
            "device": device,
            "versions": versions(),
        }
        write_json(folder / "config.json", config)
    except OSError as error:
        raise InputError(f"cannot make the run folder {folder}: {error.strerror}") from None


def discard(folder: Path) -> None:
    """Take back a run that was refused before it learned anything."""
    if (folder / "checkpoints").exists() or (folder / "model.safetensors").exists():
        return
    for name in ("config.json", "task.json", "metrics.jsonl"):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):  # it holds something else, or is where we stand
        folder.rmdir()


def carry_on(folder: Path, device: str = "auto", data: Path | None = None) -> Generator[Progress]:
    """Train to the end, from the start or the last checkpoint; leaves pictures and a result."""
    config, recipe = open_run(folder)
    began = time.perf_counter()
    splits = recipe.data(data or data_folder(config))
    facts = recipe.facts(splits)
    check_same_data(folder, describe(facts))
    write_json(folder / "task.json", describe(facts))
    model = build(recipe, facts.task)
    device = config["device"] if device == "auto" else device
    history: list[Record] = []
    stopped = ""
    with (
        (folder / "metrics.jsonl").open("w", encoding="utf-8") as lines,
        closing(recipe.learn(model, splits, folder / "checkpoints", device)) as steps,
    ):
        for progress in steps:
            if progress.record:
                history.append(progress.record)
                lines.write(to_json(progress.record, indent=None) + "\n")
                lines.flush()
                stopped = progress.stopped or stopped
            yield progress
    model.cpu()
    checkpoint.save(folder / "model.safetensors", model.state_dict())
    seconds = sum(record.get("seconds", 0.0) for record in history)
    result = {
        "recipe": config["recipe"],
        "seed": recipe.seed,
        "epochs": len(history),
        "stopped": stopped,
        "metrics": recipe.measure(model, splits),
        "compared": recipe.compare_model(model, splits) | recipe.compare(splits),
        "published": [asdict(figure) for figure in recipe.published],
        "parameters": parameters(model),
        "examples": facts.examples,
        "notes": list(facts.notes),
        "seconds": seconds or time.perf_counter() - began,
        "settings": config["settings"],
        "device": device,
        "versions": versions(),
    }
    draw(recipe, model, splits, history, folder)
    for name, text in recipe.texts(model, splits).items():
        checkpoint.replace(folder / f"{name}.txt", (text + "\n").encode())
    write_json(folder / "result.json", result)


def draw(
    recipe: Experiment, model: nn.Module, data: Any, history: list[Record], folder: Path
) -> None:
    """All pictures of a finished run."""
    from chainrule.plots.style import save

    figures = recipe.pictures(model, data)
    if len(history) > 1:
        figures["learning"] = recipe.curves(history)
    for name, figure in figures.items():
        save(figure, folder / f"{name}.png")


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
        if unknown := values.keys() - {field.name for field in fields(recipe)}:
            raise InputError(
                f"{folder / 'config.json'} has settings that {config['recipe']} does not know: "
                f"{', '.join(sorted(unknown))}; open the run with the version that made it"
            )
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
    task = Task(tuple(state["shape"]), tuple(state["classes"]), state["center"], state["spread"])
    model = build(recipe, task)
    tensors, _ = checkpoint.load(folder / "model.safetensors")
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise InputError(f"the weights in {folder} do not fit its recipe: {reason}") from None
    devices.place(model, torch.device("cpu"))  # kernels laid out as in training round alike
    return recipe, model.eval(), task


def build(recipe: Experiment, task: Task) -> nn.Module:
    """The recipe's model with the initial weights of its seed, whatever was drawn before."""
    if isinstance(recipe, Trained) and recipe.members > 1:
        alone = [replace(recipe, seed=recipe.seed + k, members=1) for k in range(recipe.members)]
        return Ensemble([build(member, task) for member in alone], bool(task.classes))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return recipe.model(task)


def measure_again(folder: Path, data: Path | None = None) -> Json:
    """The result of a finished run with its figures measured anew from the saved weights."""
    recipe, model, _ = open_model(folder)
    if isinstance(recipe, Trained) and recipe.start:  # what it took over then, it holds itself
        recipe = replace(recipe, start=str(folder))
    splits = recipe.data(data or data_folder(open_run(folder)[0]))
    check_same_data(folder, describe(recipe.facts(splits)))
    return read_json(folder / "result.json") | {"metrics": recipe.measure(model, splits)}


def check_same_data(folder: Path, task: Json) -> None:
    """What the data say of themselves must be what they said when the run began."""
    path = folder / "task.json"
    if not path.is_file():
        return
    now = json.loads(to_json(task))
    other = [name for name, value in read_json(path).items() if now.get(name) != value]
    if other:
        raise InputError(
            f"the data have changed since the run in {folder} began ({', '.join(other)} differ); "
            "bring the old ones back, or train anew"
        )


def data_folder(config: Json) -> Path | None:
    """Where the run found its data, if it was told."""
    return Path(config["data"]) if config["data"] else None


def progress_so_far(folder: Path) -> int | None:
    """Whole epochs behind the last checkpoints, one for each network; None where there is none."""
    last = list((folder / "checkpoints").rglob("last.safetensors"))
    return sum(checkpoint.load(path)[1]["epoch"] for path in last) if last else None


def describe(facts: Facts) -> Json:
    """What `predict` needs to know later."""
    return asdict(facts.task) | {"encoder": facts.encoder.to_json() if facts.encoder else None}


def next_folder(name: str, root: Path = Path("runs")) -> Path:
    """runs/NAME-1, or the first number that is free."""
    number = 1
    while (root / f"{name}-{number}").exists():
        number += 1
    return root / f"{name}-{number}"


def parameters(model: nn.Module) -> int:
    """Numbers that were learned by gradients or, where there are none, by a rule of the model's."""
    by_gradient = sum(p.numel() for p in model.parameters())
    return by_gradient or sum(t.numel() for t in model.buffers() if t.is_floating_point())


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
    checkpoint.replace(path, (to_json(value) + "\n").encode())
