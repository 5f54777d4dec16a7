"""The training loop: a generator of progress over whatever a trainer does in one step.

    for every epoch e
        for every step t     trainer.step()       batch of (e, t), gradient, update
        trainer.finish_epoch()                    validate, keep the best weights
        stop when the epochs or the patience run out

Between two `yield`s the state is complete, so the caller may stop, save or inspect it there. One
network (`trainer.py`), many networks at once (`batched/`) and reinforcement-learning agents are
trainers of this one loop. Notes: J 3.4, A 1.3.3, A 1.3.8.
"""

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import torch

from chainrule.errors import StopTraining
from chainrule.nn.kernels.float_products import ONEDNN, float_products
from chainrule.training import devices
from chainrule.training.progress import Progress, Record
from chainrule.training.randomness import GENERATOR, outer_randomness
from chainrule.training.state import State

TICK = 0.1  # seconds between two reports inside an epoch


class Trainer(ABC):
    """What a step, an epoch and the end of a run are; the loop around them is shared."""

    state: State
    epochs: int
    steps: int
    threads: int
    device: torch.device
    checkpoint_seconds: float
    large_products: bool = False
    """Whether the products of a step are large enough for oneDNN where it is faster."""
    processes: int = 1
    tick: float = TICK
    reports: bool = True
    """Whether somebody reads reports, who may change the model; else there is one, at the end."""
    loss_name: str = "train_loss"
    """The entry of an epoch's record that progress shows as its loss."""

    @abstractmethod
    def start_epoch(self) -> None:
        """Called before the first step of an epoch, and when a run resumes in the middle of one."""

    @abstractmethod
    def step(self, t: int) -> None:
        """One update, number t of the whole run."""

    @abstractmethod
    def finish_epoch(self) -> Record:
        """Validate and keep the best weights; returns the metrics of the epoch."""

    @abstractmethod
    def out_of_patience(self) -> str:
        """Why early stopping ends training now; empty if it does not."""

    def kept_epoch(self) -> int | None:
        """The epoch whose weights are kept; None: the last."""
        return None

    def release(self) -> None:  # noqa: B027 (most hold nothing)
        """Called when the loop is left, in whatever way."""

    @abstractmethod
    def finish(self) -> None:
        """Load the weights to keep into the models."""

    def after_report(self) -> None:  # noqa: B027 (most look at the model in every step)
        """Called when training goes on after a report, whose reader may have changed the model."""

    def running_loss(self) -> float:
        """Mean training loss of the epoch so far."""
        return self.state.mean_loss()

    def due(self, now: bool) -> bool:
        """Whether a report is due; several processes agree on it."""
        return now

    def agreed(self, now: bool) -> bool:
        """Whether a checkpoint is due; several processes agree on it."""
        return now

    def interrupt(self) -> None:  # noqa: B027 (one process is stopped from outside)
        """Stop here, where one of several processes was asked to; all have saved."""

    def close(self) -> None:  # noqa: B027 (most have nothing to put back)
        """Put back what the trainer has changed about the model."""

    def progress(self, step: int, record: Record | None = None, stopped: str = "") -> Progress:
        """A report, with the record of an epoch that just ended."""
        epoch = self.state.epoch + 1 if record is None else int(record["epoch"])
        loss = self.running_loss() if record is None else float(record[self.loss_name])
        return Progress(
            epoch, self.epochs, step, self.steps, loss, record, stopped, self.kept_epoch()
        )


def run(trainer: Trainer, folder: Path | None, tick: float | None = None) -> Generator[Progress]:
    """Train, from the last checkpoint if the folder has one; closing the generator saves.

    StopTraining thrown into it ends the run as if the epochs had run out.

    Afterwards the model is in evaluation mode, and torch's settings and random generator are as
    they were before.

    tick: seconds between two reports inside an epoch, by default a tenth; 0 reports every step.
    """
    state = trainer.state
    if folder is not None and state.exists(folder):
        state.restore(folder, trainer.loss_name)
    with devices.prepared(trainer.device, threads_of(trainer)), outer_randomness():
        try:
            yield from with_checkpoints(epochs(trainer, tick), trainer, folder)
        except StopTraining as reason:
            state.stopped = str(reason) or StopTraining.DEFAULT
            if folder is not None:
                state.save(folder)
        finally:
            trainer.close()
            state.model.eval()
            trainer.release()
    trainer.finish()


def threads_of(trainer: Trainer) -> int:
    """As many as the run began with: sums over another number of threads round differently."""
    origin = trainer.state.origin
    if origin.get("num_processes", 1) != trainer.processes:  # sums are grouped differently anyway
        origin.pop("num_threads", None)
    if trainer.processes > 1 or "num_processes" in origin:
        origin["num_processes"] = trainer.processes
    began = origin.setdefault("num_threads", trainer.threads)
    if began > devices.MOST_THREADS:
        warnings.warn(
            f"the run began with {began} threads, more than this machine can start: its weights "
            "may differ in their last bits from those of an uninterrupted run",
            stacklevel=2,
        )
    return min(began, devices.MOST_THREADS)


def epochs(trainer: Trainer, tick: float | None = None) -> Iterator[Progress]:
    """The records so far, then epoch after epoch until there is a reason to stop."""
    state, steps = trainer.state, trainer.steps
    for number, past in enumerate(state.history, 1):
        last = number == len(state.history)
        report = trainer.progress(steps, past, state.stopped if last else "")
        yield replace(report, past=True)
    while not state.stopped:
        began = time.perf_counter()
        yield from one_epoch(trainer, tick)
        with GENERATOR:
            record = {"epoch": state.epoch + 1} | trainer.finish_epoch()
        record["seconds"] = time.perf_counter() - began
        state.history.append(record)
        done = "all epochs done" if state.epoch + 1 >= trainer.epochs else ""
        state.stopped = trainer.out_of_patience() or done
        report = trainer.progress(steps, record, state.stopped)
        state.next_epoch()
        if trainer.reports or state.stopped:
            yield report


def one_epoch(trainer: Trainer, tick: float | None) -> Iterator[Progress]:
    """The rest of the current epoch, with a report at every tick."""
    state, steps = trainer.state, trainer.steps
    trainer.start_epoch()
    pause = trainer.tick = TICK if tick is None else tick
    ticked = time.perf_counter()
    while state.step < steps:
        # Steps of runs in other Python threads wait for their turn.
        with GENERATOR, float_products(ONEDNN) if trainer.large_products else nullcontext():
            trainer.step(state.epoch * steps + state.step)
        state.step += 1
        if trainer.reports and trainer.due(time.perf_counter() - ticked >= pause):
            report = trainer.progress(state.step)
            ticked = time.perf_counter()
            yield report
            trainer.after_report()


def with_checkpoints(
    progress: Iterator[Progress], trainer: Trainer, folder: Path | None
) -> Iterator[Progress]:
    """Pass the progress on and write checkpoints: now and then, on closing, and at the end."""
    if folder is None:
        yield from progress
        return
    saved = time.perf_counter()
    try:
        for now in progress:
            if trainer.agreed(time.perf_counter() - saved >= trainer.checkpoint_seconds):
                trainer.state.save(folder)
                saved = time.perf_counter()
            trainer.interrupt()
            yield now
    except GeneratorExit:
        trainer.state.save(folder)
        raise
    trainer.state.save(folder)
