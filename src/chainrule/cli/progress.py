"""What `train` and `resume` share: watch a run to its end, stop it gently, tell what came out."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chainrule.cli.options import Place
from chainrule.console.output import out, print_json, say, watch
from chainrule.console.tables import result_table
from chainrule.runs.run import carry_on, progress_so_far, read_json


def follow(folder: Path, place: Place) -> dict[str, Any]:
    """Run to the end and print the result; Ctrl-C saves first and says how to go on."""
    silent = place.quiet or place.json
    steps = carry_on(folder, place.device, place.data)
    with gentle_interrupt() as interrupted:
        for step in watch(steps, silent):
            if interrupted:
                steps.close()
                say(stopped(folder, step.epoch))
                raise KeyboardInterrupt
    result = read_json(folder / "result.json")
    if place.json:
        print_json(result)
    elif not place.quiet:
        show(result, folder)
    return result


def stopped(folder: Path, epoch: int) -> str:
    """What an interrupted run leaves behind."""
    if progress_so_far(folder) is None:
        return f"stopped; nothing was learned yet. Start again with:  chainrule resume {folder}"
    return f"saved in epoch {epoch}; go on with:  chainrule resume {folder}"


def show(result: dict[str, Any], folder: Path) -> None:
    """The table, and where to look next."""
    out.print(result_table(result))
    epochs = f"{result['epochs']} epoch{'s' if result['epochs'] != 1 else ''}"
    out.print(
        f"{result['parameters']:,} parameters, {epochs} in {result['seconds']:.1f} s "
        f"({result['stopped']})"
    )
    for note in result["notes"]:
        out.print(f"note: {note}")
    seen = sorted(path.name for kind in ("*.png", "*.txt") for path in folder.glob(kind))
    out.print(f"in {folder}/:  {'  '.join(['model.safetensors', 'result.json', *seen])}")


@contextmanager
def gentle_interrupt() -> Iterator[list[int]]:
    """The first Ctrl-C or SIGTERM leaves a mark, so that the step can end; the second stops."""
    marks: list[int] = []

    def mark(number: int, _: object) -> None:
        if marks:
            raise KeyboardInterrupt
        marks.append(number)
        say("stopping after this step; once more stops at once")

    before = {number: signal.signal(number, mark) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield marks
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
