"""Changed files of every format that the program reads.

Right is: a value, or a refusal in one sentence; never another error, a crash, or other weights.
"""

import random
import shutil
import tempfile
import traceback
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from campaign import materials
from campaign.attempt import Attack, Found, Outcome
from campaign.ceilings import excess
from campaign.formats import FORMATS, Format
from campaign.isolation import Ended, isolated
from chainrule.errors import InputError

TURNS = tuple(chain.from_iterable([number] * f.share for number, f in enumerate(FORMATS)))


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    form = FORMATS[TURNS[number % len(TURNS)]]
    good_copies(folder, {*form.needs, form.file.split("/")[0]})
    path = folder / form.file
    before = path.read_bytes()
    content = form.change(before, draw)
    path.write_bytes(content)
    ended = isolated(lambda: outcome_of(form, folder), limit=60)
    found = judged(ended, path, form, content == before)
    return Found(found.outcome, f"{form.file}: {found.detail}") if found.detail else found


@cache
def good_files() -> Path:
    """The unchanged files, made once in this process's lifetime."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-files-"))
    materials.write(folder)
    return folder


def good_copies(folder: Path, names: Iterable[str] = ()) -> None:
    """Unchanged files in another folder: those of these names, or all."""
    good = good_files()
    for name in names or [path.name for path in good.iterdir()]:
        copy = shutil.copytree if (good / name).is_dir() else shutil.copy
        copy(good / name, folder / name)


@cache
def right_value(form: Format) -> Any:
    """What the unchanged file gives."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        good_copies(Path(name))
        return isolated(lambda: form.read(Path(name))).value


def outcome_of(form: Format, folder: Path) -> Found | tuple[str, Any]:
    """Done in the child: the value, or how reading failed."""
    try:
        return "value", form.read(folder)
    except InputError as error:
        lines = str(error).strip().splitlines()
        fits = len(lines) == 1
        return Found(Outcome.REFUSED if fits else Outcome.RAW, str(error)[:300])
    except MemoryError:
        return Found(Outcome.CEILING, "out of memory")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in last if "/chainrule/" in frame.filename][-1:]
        place = "".join(f" in {Path(f.filename).name}:{f.lineno}" for f in ours)
        return Found(Outcome.RAW, f"{type(error).__name__}: {str(error)[:200]}{place}")


def judged(ended: Ended, path: Path, form: Format, same: bool) -> Found:
    """What the end of the child means."""
    if ended.hung:
        return Found(Outcome.HANG, "no answer")
    if ended.signal or ended.value is None:
        return Found(Outcome.CRASH, f"signal {ended.signal}, exit {ended.code}")
    if over := excess(ended, path):
        return Found(Outcome.CEILING, over)
    if not (isinstance(ended.value, tuple) and ended.value[0] == "value"):
        found = ended.value
        return found if isinstance(found, Found) else Found(Outcome.RAW, repr(found))
    if form.checked and not same and ended.value[1] != right_value(form):
        return Found(Outcome.DAMAGE, "read as something else without a word")
    return Found(Outcome.RIGHT)


ATTACK = Attack("changed files", attempt, small=len(TURNS), full=24_000)
