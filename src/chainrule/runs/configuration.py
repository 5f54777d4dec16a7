"""A recipe's flags: its own fields, its training settings, and the options of a run."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from chainrule.errors import InputError
from chainrule.registry import unknown
from chainrule.runs.options import CAPABILITIES, OPTION_OF, SETTING_OF, RunOptions
from chainrule.runs.recipe import BaseRecipe
from chainrule.training import Settings
from chainrule.training.schema import fault


@dataclass(frozen=True)
class Flag:
    """One setting: its name in Python, type, default (MISSING: required) and help text."""

    name: str
    type: Any
    default: Any
    help: str


@dataclass(frozen=True)
class Configuration:
    """A recipe with its settings, and the options of the run."""

    recipe: BaseRecipe
    options: RunOptions = RunOptions()

    def values(self) -> dict[str, Any]:
        """Every setting by name, as a run records them."""
        kind = type(self.recipe)
        own = {f.name: getattr(self.recipe, f.name) for f in fields(kind)}  # type: ignore[arg-type]
        settings = own.pop("settings", None)
        trained = {f.name: getattr(settings, f.name) for f in fields(Settings)} if settings else {}
        wrapped = {name: getattr(self.options, name) for name in OPTION_OF}
        supported = {flag.name for flag in flags(kind)}
        return {k: v for k, v in (trained | wrapped | own).items() if k in supported}


def flags(kind: type[BaseRecipe]) -> list[Flag]:
    """All settings of a recipe, without those that it does not support."""
    helps, hints = field_help(kind), get_type_hints(kind)
    own = [
        Flag(f.name, hints[f.name], f.default, helps.get(f.name, ""))
        for f in fields(kind)  # type: ignore[arg-type]
        if f.name != "settings"
    ]
    trained: list[Flag] = []
    if kind.by_gradients():
        helps, hints = field_help(Settings), get_type_hints(Settings)
        default = default_settings(kind)
        trained = [
            Flag(f.name, hints[f.name], getattr(default, f.name), helps[f.name])
            for f in fields(Settings)
        ]
    helps, hints = field_help(RunOptions), get_type_hints(RunOptions)
    wrapped = [
        Flag(name, hints[name], getattr(kind.options, name), helps[name])
        for name, capability in OPTION_OF.items()
        if kind.by_gradients() and capability not in kind.unsupported
    ]
    names = {flag.name for flag in own}
    without = {*names, *kind.unsupported}
    without |= {name for name, of in SETTING_OF.items() if of in kind.unsupported}
    rest = [f for f in trained + wrapped if f.name not in without]
    return own + rest


def defaults(kind: type[BaseRecipe]) -> dict[str, Any]:
    """The value of every setting that need not be given."""
    return {flag.name: flag.default for flag in flags(kind) if flag.default is not MISSING}


def default_settings(kind: type[BaseRecipe]) -> Settings:
    """The training settings that a recipe declares."""
    return next(f.default for f in fields(kind) if f.name == "settings")  # type: ignore


def configure(kind: type[BaseRecipe], values: Mapping[str, Any]) -> Configuration:
    """The recipe and its options with these values.

    Args:
        kind: a recipe's class.
        values: fields of the recipe, of its settings and of `RunOptions`, by name.
    """
    known = {flag.name for flag in flags(kind)}
    name = Path(inspect.getfile(kind)).stem.replace("_", "-")
    for given in values:
        if given not in known:
            refuse_unsupported(kind, name, given)
            raise InputError(unknown(f"setting of {name}", given, sorted(known)))
    own_names = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    own = {k: v for k, v in tuples.items() if k in own_names}
    wrapped = {k: v for k, v in tuples.items() if k in OPTION_OF}
    trained = {k: v for k, v in tuples.items() if k not in own_names and k not in OPTION_OF}
    if trained:
        own["settings"] = replace(default_settings(kind), **trained)  # type: ignore[arg-type]
    try:
        return Configuration(kind(**own), replace(kind.options, **wrapped))  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{name}: {error}") from None


def configure_from_json(kind: type[BaseRecipe], values: Mapping[str, Any]) -> Configuration:
    """The same from recorded values, whose types are checked."""
    for flag in flags(kind):
        if flag.name in values and (found := fault(values[flag.name], flag.type, flag.name)):
            raise InputError(found)
    try:
        return configure(kind, values)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def refuse_unsupported(kind: type[BaseRecipe], name: str, given: str) -> None:
    """Raise with the reason, if the recipe declares a setting or capability as unsupported."""
    capability = (OPTION_OF | SETTING_OF).get(given, given)
    reason = kind.unsupported.get(given) or kind.unsupported.get(capability)
    if reason:
        what = CAPABILITIES.get(capability)
        told = f"{name} does not support {what}" if what else f"`{given}` is not for {name}"
        raise InputError(f"{told}: {reason}")


def check_required(name: str, configuration: Configuration) -> None:
    """Refuse a configuration without a required option."""
    for option, hint in configuration.recipe.requires.items():
        if not getattr(configuration.options, option):
            raise InputError(f"{name} needs `{option}`: {hint}")


def require(kind: type[BaseRecipe], name: str, capability: str) -> None:
    """Refuse a recipe that does not support a capability, with its own reason."""
    if reason := kind.unsupported.get(capability):
        raise InputError(f"{name} does not support {CAPABILITIES[capability]}: {reason}")


@cache
def field_help(kind: type) -> dict[str, str]:
    """The string below each field of a dataclass and of the classes that it inherits from."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        try:
            source = textwrap.dedent(inspect.getsource(base))
        except (OSError, TypeError):
            continue
        body = ast.parse(source).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for field, below in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[field.target.id] = inspect.cleandoc(below.value.value)
    return found


def required(flag: Flag) -> bool:
    return flag.default is MISSING
