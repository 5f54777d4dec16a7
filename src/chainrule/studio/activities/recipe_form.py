"""The fields of a recipe, from which the page makes a form."""

from dataclasses import MISSING, dataclass
from dataclasses import fields as dataclass_fields
from typing import Annotated, Any, Literal, get_args, get_origin

from chainrule.learning.optimizers import OPTIMIZERS
from chainrule.learning.schedules import SCHEDULES
from chainrule.nn.activations import ACTIVATIONS
from chainrule.registry import find
from chainrule.runs.configuration import Flag, flags
from chainrule.runs.options import RunOptions
from chainrule.studio.activity import Activity, Json, Range, View, read
from chainrule.training import Settings as Training

FILES = ("table", "text", "edges", "nodes")  # settings that name a file of the user
RUNS = ("teacher", "from_run")  # settings that name another run
CHOICES = {
    "optimizer": [name for name in OPTIMIZERS if name != "heavy-ball"],
    "schedule": list(SCHEDULES),
    "activation": list(ACTIVATIONS),
    "sampling": ["shuffle", "replacement"],
    "class_weights": ["none", "balanced"],
    "precision": ["full", "mixed", "auto"],
}


@dataclass(frozen=True)
class Settings:
    """Which recipe."""

    recipe: Annotated[str, Range(1, 80)]


def run(settings: Json) -> Activity:
    entry = find("recipes", read(Settings, settings).recipe)
    kind = entry.load().Recipe
    shared = {field.name for field in (*dataclass_fields(Training), *dataclass_fields(RunOptions))}
    fields = [described(flag) | {"own": flag.name not in shared} for flag in flags(kind)]
    content = {"recipe": entry.name, "title": entry.title, "fields": fields}
    yield View(lambda: content, waiting=True)


def described(flag: Flag) -> Json:
    """Name, kind of control, default, choices and help of one setting."""
    return {
        "name": flag.name,
        "kind": control(flag),
        "default": None if flag.default is MISSING else plain(flag.default),
        "required": flag.default is MISSING,
        "choices": choices(flag),
        "help": flag.help,
    }


def control(flag: Flag) -> str:
    """The kind of control: a check box, a choice, a number, a list, a file, a run or a text."""
    if flag.name in FILES and flag.default is MISSING:
        return "file"
    if flag.name in RUNS:
        return "run"
    if choices(flag):
        return "choice"
    if get_origin(flag.type) is tuple:
        return "list"
    return {bool: "bool", int: "int", float: "float"}.get(flag.type, "text")


def choices(flag: Flag) -> list[str]:
    if get_origin(flag.type) is Literal:
        return list(get_args(flag.type))
    return CHOICES.get(flag.name, [])


def plain(value: Any) -> Any:
    """As JSON has it."""
    return list(value) if isinstance(value, tuple) else value if not callable(value) else ""
