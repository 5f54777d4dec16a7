"""Misuse of every public function: one argument at a time is replaced by a hostile value.

Right is: a result, an InputError or ValueError, or a TypeError in Python's own words.
"""

import copy
import inspect
import math
import random
import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from campaign.attempt import Attack, Found, Outcome
from campaign.calls import Target, targets
from campaign.isolation import isolated

SECONDS = 20.0  # for one attempt
PYTHONS_WORDS = re.compile(
    r"missing \d+ required|unexpected keyword|positional argument|must be|expected|should be"
    r"|not callable|not iterable|got scalar"
)
ENDLESS = 2**31  # steps, layers or tokens: who asks for so many waits for them
HOSTILE: tuple[Any, ...] = (
    None, "abc", "", b"x", True, False, -1, 0, 2.5, -0.5, 1.5, math.nan, math.inf, -math.inf,
    10**30, -(10**30), ENDLESS, 1j, [], (), {}, [None], ["a"], object(), len, nn.Linear,
    np.zeros(3),
)  # fmt: skip


class Misuse(NamedTuple):
    """A call that works, with one argument replaced."""

    target: Target
    argument: str
    value: Any

    def __str__(self) -> str:
        return f"{self.target.name}({self.argument}={described(self.value)})"

    def run(self) -> Any:
        arguments = copy.deepcopy(self.target.arguments) | {self.argument: self.value}
        found = self.target.function(*self.target.extra, **arguments)
        return found if not inspect.isgenerator(found) else next(found)


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    """One argument of one call: every call comes before any comes again."""
    known = targets()
    target = known[number % len(known)]
    argument = draw.choice(list(target.arguments))
    values = list(hostile_to(target.arguments[argument]))
    misuse = Misuse(target, argument, draw.choice(values))
    ended = isolated(lambda: outcome(misuse), limit=SECONDS)
    if ended.hung:
        endless = isinstance(misuse.value, int) and misuse.value >= ENDLESS
        return Found(Outcome.RIGHT) if endless else Found(Outcome.HANG, str(misuse))
    if ended.signal or not isinstance(ended.value, Found):
        return Found(Outcome.CRASH, f"{misuse}: signal {ended.signal}, {ended.value!r}")
    return ended.value


def outcome(misuse: Misuse) -> Found:
    """Done in the child."""
    warnings.simplefilter("ignore")
    try:
        with redirect_stdout(StringIO()):
            misuse.run()
    except (ValueError, MemoryError):  # InputError is a ValueError
        return Found(Outcome.REFUSED)
    except Exception as error:
        if isinstance(error, TypeError) and PYTHONS_WORDS.search(str(error)):
            return Found(Outcome.REFUSED)
        where = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(where) if "/chainrule/" in f.filename), where[-1])
        said = f"{type(error).__name__}: {str(error)[:200]} in {Path(place.filename).name}"
        return Found(Outcome.RAW, f"{misuse}: {said}:{place.lineno}")
    return Found(Outcome.RIGHT)


def hostile_to(value: Any) -> Iterator[Any]:
    """Values that an argument like this one should not take."""
    yield from HOSTILE
    if isinstance(value, Tensor):
        yield from hostile_tensors(value.detach())
    if isinstance(value, tuple | list) and value:
        yield from (value[:-1], [*value, *value], [*value[:-1], None], value[::-1])
    if isinstance(value, nn.Module):
        yield from (nn.Identity(), nn.Linear(7, 5), nn.Sequential())


def hostile_tensors(value: Tensor) -> Iterator[Tensor | np.ndarray | list[Any]]:
    """Another rank, size, type or content."""
    yield from (value[None], value.flatten()[:1].sum(), value.numpy(), value.tolist())
    yield from (value.to(torch.complex64), value.double(), value.long(), value > 0)
    yield from (value.float() * math.nan, value.float() - 10**6)
    if value.ndim:
        yield from (value[..., :0], value[:0], torch.cat([value, value], -1))


def described(value: Any) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f"{value.dtype}{tuple(value.shape)}"
    return re.sub(r" at 0x\w+", "", repr(value)).splitlines()[0][:40]


ATTACK = Attack("misuse", attempt, small=40, full=6_000)
