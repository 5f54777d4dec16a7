"""A run in several processes: what is refused, who makes the folder, how it is launched."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chainrule.console.output import shown, watch
from chainrule.errors import InputError
from chainrule.learning.metrics import format_metric
from chainrule.registry import Entry
from chainrule.runs.configuration import Configuration, require
from chainrule.runs.folder import CONFIG, discard
from chainrule.runs.run import Run
from chainrule.training import Progress
from chainrule.training.distributed.group import by_torchrun, check_rows, join
from chainrule.training.distributed.launch import INTERRUPTED, check_processes, launch


@dataclass(frozen=True)
class Processes:
    """How many processes share a run, and how.

    Args:
        number: on this machine.
        sharded: whether each holds a part of the parameters only.
        elastic: how often they are started again after one was lost.
    """

    number: int = 1
    sharded: bool = False
    elastic: int = 0

    @classmethod
    def taken_from(cls, settings: dict[str, Any]) -> "Processes":
        """How they share a run, taken out of the settings of a call."""
        number = settings.get("processes", 1)
        return cls.of(number, settings.pop("sharded", False), settings.pop("elastic", 0))

    @classmethod
    def of(cls, number: Any, sharded: Any, elastic: Any) -> "Processes":
        """The same from a call, whose values are of any type."""
        for name, value in (("processes", number), ("elastic", elastic)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"`{name}` must be a whole number, got {value!r}")
        if not isinstance(sharded, bool):
            raise InputError(f"`sharded` must be True or False, got {sharded!r}")
        return cls(number, sharded, elastic)

    def many(self, number: int) -> "Processes":
        """So many of them."""
        return replace(self, number=number)

    def launched(self, configuration: Configuration) -> bool:
        """Whether processes are started that share every batch; members are spread otherwise."""
        return self.number > 1 and configuration.options.members == 1


def check(configuration: Configuration, name: str, processes: Processes) -> None:
    """Refuse processes that the recipe does not support, or that torchrun decides."""
    several = by_torchrun()
    if several and (processes.number > 1 or processes.elastic):
        raise InputError(
            "torchrun has started the processes and restarts them; leave out `processes` and "
            "`elastic`"
        )
    if not several:
        check_processes(processes.number, processes.sharded, processes.elastic)
    number = int(os.environ["WORLD_SIZE"]) if several else processes.number
    if number == 1:
        return
    if configuration.options.members > 1:
        check_members(configuration.options.members, number if several else 1, processes)
        return
    recipe = configuration.recipe
    require(type(recipe), name, "processes")
    if recipe.settings.compile:
        raise InputError("`compile` is for one process; leave it out, or `processes`")
    if recipe.settings.optimizer != "gd":
        check_rows(recipe.settings.batch_size, recipe.settings.accumulate, number)


def check_members(members: int, started: int, processes: Processes) -> None:
    """Refuse members in processes that share every batch, or in too many of them.

    started: how many torchrun has started.
    """
    if started > members:
        raise InputError(
            f"torchrun has started {started} processes, which cannot share {members} `members`, "
            "each of which trains in one; choose more members or start fewer processes"
        )
    given = [name for name in ("sharded", "elastic") if getattr(processes, name)]
    if given:
        raise InputError(
            f"`{given[0]}` is for one network in several processes; those of `members` hold whole "
            "networks and are started again anyway: leave it out"
        )


def number_of(run: Run, given: int | None) -> int:
    """In how many processes a run continues: as many as it began with, or the given number."""
    options = run.configuration.options
    if given is None:
        return 1 if by_torchrun() else options.processes
    if options.members > 1 and given != options.processes:
        raise InputError(
            f"the members of this run are spread over {options.processes} processes, each with a "
            "checkpoint of its own; leave out `processes`"
        )
    run.configuration = replace(run.configuration, options=replace(options, processes=given))
    return given


def create(
    entry: Entry,
    configuration: Configuration,
    processes: Processes,
    folder: Path | None = None,
    data: Path | None = None,
    device: str = "auto",
    log: tuple[str, ...] = (),
) -> Run:
    """A new run; of several processes the first makes it, and restarted ones go on with it."""
    check(configuration, entry.name, processes)

    def made() -> Run:
        found = left_behind(entry, configuration, folder)
        sharded = processes.sharded
        return found or Run.create(entry, configuration, folder, data, device, log, sharded)

    if not by_torchrun():  # torchrun may have gone on with one process, all others being lost
        return made()
    if folder is None and os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0":
        raise InputError("give `out`, so that restarted processes find their run")
    group = join(processes.sharded)
    assert group is not None
    own = made() if group.first else None
    place = group.broadcast(str(own.folder) if own else None)
    run = own or Run.load(place)
    run.data_folder = data or run.data_folder
    return run


def left_behind(entry: Entry, configuration: Configuration, folder: Path | None) -> Run | None:
    """The run in the folder, if torchrun restarts processes and it is the one they began.

    torchrun does not count a restart after the loss of a machine, so an equal run that is not
    finished is enough.
    """
    restarts = os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0"
    if folder is None or not restarts or not (folder / CONFIG).is_file():
        return None
    run = Run.load(folder)
    same = run.name == entry.name and run.configuration.values() == configuration.values()
    return run if same and not run.finished else None


def trained(
    run: Run,
    processes: Processes,
    device: str,
    pictures: bool,
    progress: bool | None,
    followed: Callable[[Iterator[Progress]], Iterator[Progress]],
) -> Run:
    """The finished run, trained in one process or several; what went wrong is raised here.

    Args:
        run: made, or to be continued.
        processes: how many.
        device: cpu or auto.
        pictures: draw pictures of the result.
        progress: whether it is shown; by default where somebody looks.
        followed: shows it, in one process.
    """
    if not processes.launched(run.configuration):
        for _ in followed(run.train(device, pictures, sharded=processes.sharded)):
            pass
        return run
    words = ["--quiet"] * (not shown(progress)) + ["--no-pictures"] * (not pictures)
    code, line = train_in_processes(run, processes, device, words)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code:
        raise InputError(line.removeprefix("chainrule: "))
    return Run.load(run.folder)


def continued(run: Run, given: int | None, sharded: bool, elastic: int) -> Processes:
    """How a run goes on: sharded if it began so, unless one process does it alone."""
    Processes.of(1 if given is None else given, sharded, elastic)
    number = number_of(run, given)
    several = number > 1 or by_torchrun()
    return Processes.of(number, sharded or (run.sharded and several), elastic)


def resumed(
    run: Run,
    number: int | None,
    kind: tuple[bool, int],
    device: str,
    pictures: bool,
    progress: bool | None,
) -> Run:
    """The run, continued to its end.

    kind: whether it is sharded, and how often its processes are started again.
    """
    processes = continued(run, number, *kind)
    check(run.configuration, run.name, processes)
    if run.finished:
        return run
    return trained(
        run,
        processes,
        device,
        pictures,
        progress,
        lambda steps: watch(steps, not shown(progress), format_metric),
    )


def train_in_processes(
    run: Run, processes: Processes, device: str, words: list[str]
) -> tuple[int, str]:
    """Train to the end in processes of this machine; the exit code, and what went wrong.

    Args:
        run: made, or to be continued.
        processes: how many.
        device: cpu or auto.
        words: further flags of `chainrule resume`.
    """
    command = ["resume", str(run.folder), "--device", device, *words]
    if run.data_folder:
        command += ["--data", str(run.data_folder)]
    if processes.sharded:
        command.append("--sharded")
    again = f"continue with: chainrule resume {run.folder} --processes {processes.number}"
    again += " --sharded" * processes.sharded
    code, line = launch(command, processes.number, processes.elastic, again)
    if code not in (0, INTERRUPTED) and run.fresh:
        discard(run.folder, run.made)
    return code, line
