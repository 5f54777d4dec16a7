"""Shared by `train` and `resume`: show progress, stop cleanly, print the result."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chainrule.cli.options import Parallel, as_flags
from chainrule.cli.processes import among_several, is_first
from chainrule.console.output import out, print_json, say, watch
from chainrule.console.tables import result_table
from chainrule.learning.metrics import format_metric
from chainrule.runs.folder import epochs_behind
from chainrule.runs.run import Run
from chainrule.training.distributed.group import STOP


def follow(run: Run, place: Parallel, force: bool = False) -> None:
    """Train to the end and print the result; Ctrl-C saves first and says how to continue."""
    first = is_first()
    silent = place.quiet or place.json or not first
    steps = run.train(place.device, not place.no_pictures, force, place.sharded)
    announced, epoch = False, 0
    with gentle_interrupt(first) as interrupted:
        try:
            for step in watch(steps, silent, format_metric):
                epoch = step.epoch
                if not announced:
                    for remark in run.remarks:
                        say(f"note: {as_flags(remark)}", silent)
                    announced = True
                if interrupted and not among_several():
                    steps.close()
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            if epoch:
                say(stopped(run.folder, epoch), not first)
            raise
    if not first:
        return
    if place.json:
        print_json(run.result)
    elif not place.quiet:
        show(run.result, run.folder)


def stopped(folder: Path, epoch: int) -> str:
    """What to say about an interrupted run."""
    if epochs_behind(folder) is None:
        return f"stopped; nothing was learned yet. Start again with:  chainrule resume {folder}"
    return f"saved in epoch {epoch}; continue with:  chainrule resume {folder}"


def show(result: dict[str, Any], folder: Path) -> None:
    """Print the metrics and the files of the run folder."""
    out.print(result_table(result, format_metric))
    epochs = f"{result['epochs']} epoch{'s' if result['epochs'] != 1 else ''}"
    out.print(
        f"{result['parameters']:,} parameters, {epochs} in {result['seconds']:.1f} s "
        f"({result['stopped']})"
    )
    seen = sorted(path.name for kind in ("*.png", "*.txt") for path in folder.glob(kind))
    out.print(f"in {folder}/:  {'  '.join(['model.safetensors', 'result.json', *seen])}")


@contextmanager
def gentle_interrupt(first: bool = True) -> Iterator[list[int]]:
    """Record the first Ctrl-C or SIGTERM, so that the step can end; the second interrupts.

    first: whether this is the process that prints.
    """
    marks: list[int] = []

    def mark(number: int, _: object) -> None:
        if marks and not among_several():
            raise KeyboardInterrupt
        marks.append(number)
        if not among_several():
            say("stopping after this step; press Ctrl-C again to stop at once")
        elif number == signal.SIGINT:
            say("stopping after this step", not first)

    before = {number: signal.signal(number, mark) for number in (signal.SIGINT, signal.SIGTERM)}
    STOP[0] = lambda: bool(marks)
    try:
        yield marks
    finally:
        STOP[0] = lambda: False
        for number, handler in before.items():
            signal.signal(number, handler)
