"""A process of the run that does not answer any more: how it is noticed, and what is said of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist

from chainrule.errors import InputError

SECONDS = 60  # that a process waits for the others in a step
MARKS = ("third_party/gloo", "caused pair closure")  # of gloo's faults


class LostProcessError(InputError):
    """Another process of the run does not answer."""


@contextmanager
def answered(beside: bool = False) -> Iterator[None]:
    """A process that does not answer is told of in one sentence.

    beside: whether other code, such as a model's, runs there too; its faults stay as they are.
    """
    try:
        yield
    except LostProcessError:
        raise
    except (RuntimeError, InputError) as error:
        if (lost := lost_by(error)) is None and (beside or isinstance(error, InputError)):
            raise
        raise (lost or lost_process(error)) from error


def lost_by(error: BaseException | None) -> LostProcessError | None:
    """The sentence of a lost process, where one is behind an error, or behind what caused it."""
    while error is not None:
        if isinstance(error, LostProcessError):
            return error
        if of_processes(error):
            return lost_process(error)
        error = error.__cause__
    return None


def lost_process(error: BaseException) -> LostProcessError:
    """The sentence of a lost process."""
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return LostProcessError(
        f"a process of the run was lost, or did not answer for {SECONDS} s: {reason}"
    )


def of_processes(error: BaseException) -> bool:
    """Whether torch's collectives or their store have raised it, and not the code of a model.

    gloo's faults have no type of their own: the first names the file of gloo that has found it.
    """
    if isinstance(error, dist.DistError):
        return True
    told = str(error) if isinstance(error, RuntimeError) else ""
    return any(mark in told for mark in MARKS)
