"""The search space of `chainrule tune`: settings with a range or a list of values each.

    learning_rate=1e-4:1e-1:log     a number between two, on a logarithmic scale
    weight_decay=1e-6:1e-2:log0     the same, or 0
    dropout=0:0.6                   a number between two
    hidden="64|128|128,64"          one of these; a comma joins the parts of a tuple

Numbers are rounded to three digits before use, so a printed command repeats exactly what ran.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, get_args, get_origin

from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.runs.configuration import Configuration
from chainrule.runs.configuration import flags as recipe_flags
from chainrule.runs.options import OPTION_OF
from chainrule.runs.recipe import BaseRecipe
from chainrule.training.batched.run import OWN

if TYPE_CHECKING:
    from optuna.trial import Trial

NUMERIC = OWN | {"dropout"}
"""Settings in which networks trained together may differ; all others are architecture."""
NEVER = {"seed", "threads", "checkpoint_seconds", "compile", "precision", "patience", "monitor"}
NEVER |= set(OPTION_OF)
SCALES = ("", "log", "log0")
Drawn = int | float | str
Point = Mapping[str, Drawn]


@dataclass(frozen=True)
class Dimension:
    """One setting: its values, or the ends and the scale of its range.

    kind: the type of the setting, int, float, str or bool; `several` if it is a tuple of them.
    """

    name: str
    kind: type
    several: bool = False
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    scale: str = ""

    @property
    def shared(self) -> bool:
        """Whether networks trained together must agree in it."""
        return self.name not in NUMERIC

    @property
    def logarithmic(self) -> bool:
        return bool(self.scale)

    @property
    def lowest(self) -> float:
        """The lower end; with log0 one decade lower, and that decade means 0."""
        return self.low / 10 if self.scale == "log0" else self.low

    @property
    def ends(self) -> tuple[Drawn, ...]:
        """The listed values, or the lowest and the highest."""
        return self.choices or (self.lowest, self.high)

    def suggest(self, trial: "Trial") -> Drawn:
        """Draw a value with the sampler of a trial."""
        if self.choices:
            return trial.suggest_categorical(self.name, list(self.choices))
        if self.kind is int:
            return trial.suggest_int(self.name, int(self.low), int(self.high), log=self.logarithmic)
        return trial.suggest_float(self.name, self.lowest, self.high, log=self.logarithmic)

    def value(self, drawn: Drawn) -> Any:
        """The setting that a drawn value means."""
        if self.choices:
            return self.read(str(drawn))
        if self.kind is int:
            return int(drawn)
        if self.scale == "log0" and float(drawn) < self.low:
            return 0.0
        return float(f"{float(drawn):.3g}")

    def drawn(self, value: Any) -> Drawn | None:
        """The drawn value that means a setting; None if it lies outside the range."""
        if self.choices:
            return next((text for text in self.choices if self.read(text) == value), None)
        value = value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value
        if isinstance(value, tuple):
            return None
        if value == 0 and self.scale == "log0":
            return self.lowest
        return value if self.low <= value <= self.high else None

    def read(self, text: str) -> Any:
        """A value of the setting's type."""
        if self.several:
            return tuple(self.one(part) for part in text.split(",") if part.strip())
        return self.one(text)

    def one(self, text: str) -> Any:
        try:
            if self.kind is bool:
                return {"true": True, "false": False}[text.strip().lower()]
            return self.kind(text.strip())
        except (ValueError, KeyError):
            raise InputError(
                f"`space` {self.name}: expected {self.kind.__name__} values, got {text!r}"
            ) from None


def space_of(recipe: BaseRecipe, texts: Sequence[str], classes: bool) -> list[Dimension]:
    """What the user named, or a space around the recipe's own settings; architecture first."""
    space = [parse(type(recipe), text) for text in texts] or default_space(recipe, classes)
    names = [dimension.name for dimension in space]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"`space` names {', '.join(twice)} more than once")
    space.sort(key=lambda dimension: not dimension.shared)
    for dimension in space:  # a value that no run could have is refused before the first trial
        for end in dimension.ends:
            changed(recipe, [dimension], {dimension.name: end})
    return space


def default_space(recipe: BaseRecipe, classes: bool) -> list[Dimension]:
    """Rate and decay over decades, dropout and smoothing, and widths of the hidden layers."""
    rate, decay = recipe.settings.learning_rate, recipe.settings.weight_decay
    space = [
        Dimension("learning_rate", float, low=rate / 10, high=rate * 10, scale="log"),
        Dimension(
            "weight_decay",
            float,
            low=min(1e-6, decay / 10 or 1e-6),
            high=max(1e-2, decay * 10),
            scale="log0",
        ),
    ]
    if classes:
        smoothing = max(0.2, recipe.settings.label_smoothing)
        space.append(Dimension("label_smoothing", float, high=smoothing))
    for field in searchable(type(recipe)):
        kind, several = kind_of(type(recipe), field)
        value = recipe.value(field)
        if field == "dropout":
            largest = max(value, default=0.0) if several else value
            space.append(Dimension(field, float, several, high=max(0.8, largest)))
        elif field == "hidden" and several and kind is int and value:
            texts = tuple(",".join(map(str, widths)) for widths in neighbors(value))
            space.append(Dimension(field, int, True, texts))
    return space


def neighbors(hidden: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The widths themselves, half and twice as wide, one layer more and one less."""
    near = [
        hidden,
        tuple(max(1, width // 2) for width in hidden),
        tuple(2 * width for width in hidden),
        (*hidden, hidden[-1]),
        hidden[:-1],
    ]
    return [widths for widths in dict.fromkeys(near) if widths]


def parse(kind: type[BaseRecipe], text: str) -> Dimension:
    """`name=low:high[:log]` or `name=a|b|c`."""
    name, equals, values = text.partition("=")
    name = name.strip().lstrip("-").replace("-", "_")
    if not equals or not values.strip():
        raise InputError(f"`space` {text}: expected name=low:high, name=low:high:log or name=a|b|c")
    known = searchable(kind)
    if name not in known:
        raise InputError(unknown("setting to search", name, known))
    each, several = kind_of(kind, name)
    if "|" in values or ":" not in values:
        dimension = Dimension(name, each, several, tuple(v.strip() for v in values.split("|")))
        for choice in dimension.choices:
            dimension.read(choice)
        return dimension
    return ranged(name, each, several, values)


def ranged(name: str, kind: type, several: bool, values: str) -> Dimension:
    """Two ends and a scale."""
    if kind not in (int, float) or (several and name != "dropout"):
        raise InputError(f"`space` {name}: a range needs a number; list values as a|b|c")
    low_text, high_text, *rest = values.split(":")
    scale = rest[0] if rest else ""
    if len(rest) > 1 or scale not in SCALES:
        raise InputError(f"`space` {name}={values}: expected the scale log or log0 after the ends")
    try:
        low, high = float(low_text), float(high_text)
    except ValueError:
        raise InputError(f"`space` {name}={values}: expected numbers as ends") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"`space` {name}={values}: expected the lower end first, below the other")
    if scale and low <= 0:
        raise InputError(
            f"`space` {name}={values}: a logarithmic range begins above 0; log0 adds the 0"
        )
    if kind is int and (scale == "log0" or low % 1 or high % 1):
        raise InputError(f"`space` {name}={values}: expected whole numbers as ends")
    return Dimension(name, kind, several, (), low, high, scale)


def searchable(kind: type[BaseRecipe]) -> list[str]:
    """Settings that change the network or its training, but not the data."""
    never = NEVER | set(kind.data_fields)
    return [flag.name for flag in recipe_flags(kind) if flag.name not in never]


def kind_of(kind: type[BaseRecipe], name: str) -> tuple[type, bool]:
    """The type of a setting, and whether it is a tuple of it."""
    hint = next(flag.type for flag in recipe_flags(kind) if flag.name == name)
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return (hint if isinstance(hint, type) else str), False


def changed(recipe: BaseRecipe, space: Sequence[Dimension], point: Point) -> BaseRecipe:
    """The recipe with the settings of a point; one dropout rate serves all hidden layers."""
    own = {d.name for d in space if d.drawn(recipe.value(d.name)) == point[d.name]}
    values = {d.name: d.value(point[d.name]) for d in space if d.name not in own}
    for dimension in space:
        name = dimension.name
        if {name, "hidden"} & set(values) and dimension.several and not dimension.choices:
            layers = len(values.get("hidden", getattr(recipe, "hidden", ())))
            rate = recipe.value(name)[0] if name in own else values[name]
            values[name] = (rate,) * layers
    return recipe.changed(**values)


def own_point(recipe: BaseRecipe, space: Sequence[Dimension]) -> dict[str, Drawn] | None:
    """The recipe's settings as a point of the space; None if they lie outside."""
    point = {d.name: d.drawn(recipe.value(d.name)) for d in space}
    if any(value is None for value in point.values()):
        return None
    return {name: value for name, value in point.items() if value is not None}


def grid(space: Sequence[Dimension]) -> list[dict[str, Drawn]]:
    """Every combination of listed values; those of one architecture follow each other."""
    for dimension in space:
        if not dimension.choices:
            raise InputError(
                f"a grid needs listed values, such as `space` {dimension.name}=a|b|c; "
                f"{dimension.name} has a range"
            )
    names = [dimension.name for dimension in space]
    return [
        dict(zip(names, values, strict=True)) for values in product(*(d.choices for d in space))
    ]


def flags(recipe: BaseRecipe) -> list[str]:
    """The flags of `chainrule train RECIPE` that give this recipe."""
    words: list[str] = []
    values = Configuration(recipe, type(recipe).options).values()
    for flag in recipe_flags(type(recipe)):
        value = values[flag.name]
        if flag.default is not MISSING and value == flag.default:
            continue
        words.append("--" + flag.name.replace("_", "-"))
        if not isinstance(value, bool):
            words += [str(part) for part in (value if isinstance(value, tuple) else (value,))]
    return words
