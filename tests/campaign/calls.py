"""Calls that work, of every public function: what misuse takes apart.

They are those that the examples of the library make: `example()` of every model file and the
examples of docstrings are run once, and all constructions and calls of public classes are recorded.
Functions of `learning`, `autodiff` and `nn` get arguments made from their annotations.
"""

import copy
import doctest
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from io import StringIO
from typing import Any, get_args

import torch
from torch import Tensor, nn

import chainrule as cr
from chainrule.registry import entries

ROOMS = ("learning", "autodiff", "nn")
SIZES = {"batch": 4, "steps": 5, "n": 3, "classes": 3, "height": 8, "width": 8}


@dataclass(frozen=True)
class Target:
    """A call that works: what is called, and its arguments by name."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    extra: tuple[Any, ...] = ()


@dataclass
class Recorder:
    """The calls of public methods while examples run, the first few of each method."""

    calls: dict[str, list[Target]] = field(default_factory=dict)

    @contextmanager
    def watching(self, kinds: list[type]) -> Iterator[None]:
        """Record the constructors and public methods of these classes."""
        originals = []
        for kind in kinds:
            for name, member in list(vars(kind).items()):
                if inspect.isfunction(member) and (name == "__init__" or name[0] != "_"):
                    originals.append((kind, name, member))
                    setattr(kind, name, self.recording(kind, name, member))
        try:
            yield
        finally:
            for kind, name, member in originals:
                setattr(kind, name, member)

    def recording(self, kind: type, name: str, member: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(member)

        def record(this: Any, *args: Any, **options: Any) -> Any:
            if type(this) is kind or name != "__init__":
                self.note(kind, name, member, signature, (this, *args), options)
            return member(this, *args, **options)

        return record

    def note(self, kind, name, member, signature, args, options) -> None:  # type: ignore[no-untyped-def]
        title = kind.__name__ if name == "__init__" else f"{kind.__name__}.{name}"
        known = self.calls.setdefault(title, [])
        if len(known) >= 1:
            return
        try:
            bound = signature.bind(*args, **options).arguments
            this = bound.pop("self")
            if any(inspect.isgenerator(value) for value in bound.values()):
                return
            own = copy.deepcopy(bound)
            if name == "__init__":
                known.append(Target(title, kind, own))
            else:
                known.append(Target(title, member, own, (copy.deepcopy(this),)))
        except (TypeError, RuntimeError):
            return


def public_classes() -> list[type]:
    """Classes that the chapters, the environments and the layers define."""
    found = []
    for room in ("models", "environments", "nn", "learning"):
        package = import_module(f"chainrule.{room}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for kind in vars(import_module(info.name)).values():
                if (
                    inspect.isclass(kind)
                    and kind.__module__ == info.name
                    and kind.__name__[0] != "_"
                ):
                    found.append(kind)
    return [kind for kind in found if not issubclass(kind, tuple | torch.autograd.Function)]


def recorded() -> list[Target]:
    """The calls that examples make."""
    recorder, kinds = Recorder(), public_classes()
    with recorder.watching(kinds), redirect_stdout(StringIO()):
        for entry in entries("models") + entries("environments"):
            torch.manual_seed(0)
            made, x = entry.load().example()
            made(x)
        runner = doctest.DocTestRunner(verbose=False)
        for name in sorted({kind.__module__ for kind in kinds}):
            for test in doctest.DocTestFinder().find(import_module(name)):
                torch.manual_seed(0)
                runner.run(test, out=lambda _: None)
    return [call for calls in recorder.calls.values() for call in calls]


def from_annotations() -> list[Target]:
    """Public functions of the rooms below the models, with arguments made from annotations."""
    found = []
    for room in ROOMS:
        package = import_module(f"chainrule.{room}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, function in vars(import_module(info.name)).items():
                public = inspect.isfunction(function) and name[0] != "_"
                if public and function.__module__ == info.name and is_door(function):
                    found += made_target(f"{info.name.removeprefix('chainrule.')}.{name}", function)
    return found


def is_door(function: Callable[..., Any]) -> bool:
    """Whether the arguments of a function are checked."""
    return function.__code__.co_name == "door"


def made_target(name: str, function: Callable[..., Any]) -> list[Target]:
    """The function with such arguments, if it takes them."""
    arguments: dict[str, Any] = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = parameter.default
        arguments[key] = sample(parameter.annotation) if value is parameter.empty else value
    target = Target(name, function, arguments)
    try:
        function(**copy.deepcopy(arguments))
    except Exception:  # these arguments do not work together: the function needs real ones
        return []
    return [target]


def sample(kind: Any) -> Any:
    """A value of this annotation."""
    if hasattr(kind, "dim_str"):
        shape = [SIZES.get(axis.strip("*# "), 3) for axis in kind.dim_str.split() if axis[0] != "*"]
        real = torch.rand(shape)
        kinds = kind.__name__.split("[")[0]
        return real if kinds == "Float" else (real > 0.5 if kinds == "Bool" else (2 * real).long())
    for part in (kind, *get_args(kind)):
        if part in (int, float, str, bool):
            return {int: 2, float: 0.5, str: "relu", bool: True}[part]
    if inspect.isclass(kind) and issubclass(nn.Module, kind):
        return nn.Linear(3, 3)
    return torch.rand(4, 3) if kind is Tensor else [torch.rand(4, 3)]


def front_door() -> list[Target]:
    """The functions of `cr.` and the estimators, on small data."""
    torch.manual_seed(0)
    x, y = torch.randn(24, 3), torch.arange(24) % 2
    quick = {"epochs": 1, "batch_size": 8}
    data = {"model": cr.models.MLP(3, [4], 2), "data": (x, y)}
    shared = data | {"validation": (x, y), "task": None, "settings": None, "folder": None}
    settings = cr.Settings()
    changes = {name: getattr(settings, name) for name in vars(settings)}
    both = [cr.models.MLP(3, [4], 2), cr.models.MLP(3, [4], 2)]
    many = {"models": both, "train": (x, y), "validation": (x, y), "task": None, "folds": None}
    many |= {"settings": [cr.Settings(**quick, seed=k) for k in (0, 1)], "augment": None}
    found = [
        Target("cr.fit", cr.fit, shared | quick | {"progress": False, "device": "cpu"}),
        Target("cr.fit settings", cr.fit, data | {"progress": False} | changes | quick),
        Target("cr.iterate", cr.iterate, shared | quick | {"device": "cpu"}),
        Target("cr.evaluate", cr.evaluate, data | {"task": None}),
        Target(
            "cr.predict",
            lambda model, x, batch_size: cr.predict(model, x, batch_size=batch_size),
            {"model": data["model"], "x": x, "batch_size": 4},
        ),
        Target(
            "cr.summary", lambda model, x: cr.summary(model, x), {"model": data["model"], "x": x}
        ),
        Target("cr.fit_many", cr.fit_many, many),
        Target("cr.Settings", cr.Settings, changes),
        Target(
            "cr.Task",
            cr.Task,
            {"name": "own", "loss": nn.functional.mse_loss, "metrics": (), "inputs": 1},
        ),
        Target("cr.Metric", cr.Metric, {"name": "own", "function": max, "higher_is_better": True}),
    ]
    for name in cr.estimators.__all__:
        kind = getattr(cr.estimators, name)
        arguments = kind().get_params() | {"X": x.double().numpy(), "y": y.numpy()}
        if "max_iter" in arguments:
            arguments["max_iter"] = 3
        found.append(Target(f"estimators.{name}", fitted(kind), arguments))
    return found


def fitted(kind: type) -> Callable[..., Any]:
    """A constructor and `fit` as one call."""
    return lambda X, y, **arguments: kind(**arguments).fit(X, y)


@cache
def targets() -> list[Target]:
    """All of them, found once in a process's lifetime."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = front_door() + recorded() + from_annotations()
    return [target for target in found if target.arguments]
