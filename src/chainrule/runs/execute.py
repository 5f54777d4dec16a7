"""Executing a run: train, evaluate, draw, write.

Values pass from step to step in memory; the folder receives copies.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import nn

from chainrule.data.splits import BlockSplits
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs import folder as files
from chainrule.runs.configuration import Configuration
from chainrule.runs.folder import CHECKPOINTS, DATA, METRICS, MODEL, RESULT
from chainrule.runs.identity import check_same, describe, fingerprints
from chainrule.runs.lock import Lock, locked
from chainrule.runs.logs.run_logs import RunLogs
from chainrule.runs.measures import measure
from chainrule.runs.predictions import Metrics, Predictions
from chainrule.runs.recipe import DataSummary
from chainrule.runs.run import Run, initial_model
from chainrule.training import History, Progress, Record, checkpoint, iterate
from chainrule.training.distributed.group import current, first_in_turn, join, leave
from chainrule.training.files import WriteError, writing
from chainrule.training.files import replace as replace_file
from chainrule.training.sources.convert import as_source


def execute(
    run: Run,
    device: str = "auto",
    pictures: bool = True,
    force: bool = False,
    sharded: bool = False,
) -> Generator[Progress]:
    """Train to the end, from the start or the last checkpoint; the first process writes."""
    group = join(sharded)
    try:
        if group is None or group.first:
            yield from write(run, device, pictures, force)
        else:
            yield from take_part(run, device)
    finally:
        leave(together=False)


def write(run: Run, device: str, pictures: bool, force: bool) -> Generator[Progress]:
    """Train and write the results.

    A run that is refused before it has learned anything leaves nothing behind.
    """
    with locked(run.folder, force) as lock:
        try:
            yield from train(run, device, pictures, lock)
        except WriteError as error:
            lock.check()
            raise WriteError(f"{error}; {files.what_is_safe(run.folder)}") from None
        except Exception:
            if run.fresh and lock.held:
                files.discard(run.folder, run.made)
            raise


def train(run: Run, device: str, pictures: bool, lock: Lock) -> Generator[Progress]:
    """Train and write, as long as the folder is ours."""
    began = time.perf_counter()
    with first_in_turn("data"):
        data, summary = read_data(run, lock)
    model = initial_model(run.configuration, summary, data)
    run.remarks = [*summary.remarks, *start_from(run.configuration, model, summary)]
    device = run.device if device == "auto" else device
    steps = fit_of(run, model, data, device)
    with closing(RunLogs(run.log, run.folder, run.name)) as logs:
        logs.begin(run.configuration.values(), run.remarks)
        history = yield from recorded(run, steps, lock, logs)
        lock.check()
        leave()  # what follows is the work of one process
        model.cpu().eval()
        checkpoint.save(run.folder / MODEL, model.state_dict())
        predictions = Predictions(run.recipe, model, data)
        trained = sum(record.get("seconds", 0.0) for record in history)
        result = result_of(run, predictions, history) | {
            "examples": summary.examples,
            "seconds": trained or time.perf_counter() - began,
            "device": device,
        }
        if pictures:
            draw(predictions, history, run.folder)
        for name, text in run.recipe.texts(predictions).items():
            replace_file(run.folder / f"{name}.txt", (text + "\n").encode())
        logs.finish(result["metrics"])
    files.write_json(run.folder / RESULT, result)
    run.__dict__ |= {"model": model, "summary": summary, "result": result}


def recorded(
    run: Run, steps: Generator[Progress], lock: Lock, logs: RunLogs
) -> Generator[Progress, None, History]:
    """Pass the progress on and write the record of every epoch; returns all of them."""
    history = History([])
    with files.lines(run.folder / METRICS) as write, closing(steps):
        for progress in steps:
            lock.check()
            if progress.record:
                history.records.append(progress.record)
                write(files.to_json(progress.record, indent=None))
                logs.epoch(progress)
                history.stopped = progress.stopped or history.stopped
            yield progress
    return history


def take_part(run: Run, device: str) -> Generator[Progress]:
    """Train beside the first process, which alone writes."""
    with first_in_turn("data"):
        data = run.recipe.data(run.data_folder)
    summary = run.recipe.summarize(data)
    model = initial_model(run.configuration, summary, data)
    start_from(run.configuration, model, summary)
    device = run.device if device == "auto" else device
    steps = fit(run.configuration, model, data, run.folder / CHECKPOINTS, device)
    with closing(steps):
        yield from steps
    leave()


def read_data(run: Run, lock: Lock) -> tuple[Any, DataSummary]:
    """The data of the run and their summary; refuses others than those it began with."""
    data = run.recipe.data(run.data_folder)
    summary = run.recipe.summarize(data)
    description = describe(summary) | fingerprints(run.configuration, data)
    check_same(run.folder, description, run.configuration)
    lock.check()
    files.write_json(run.folder / DATA, description)
    return data, summary


def result_of(run: Run, predictions: Predictions, history: History) -> dict[str, Any]:
    """What result.json tells about the trained model."""
    return {
        "recipe": run.name,
        "seed": run.recipe.seed,
        "epochs": len(history),
        "stopped": history.stopped,
        "metrics": measure(predictions),
        "compared": compared(run.configuration, predictions),
        "decision": run.recipe.decision(predictions),
        "published": [asdict(result) for result in run.recipe.published],
        "parameters": parameters(predictions.model),
        "remarks": run.remarks,
        "settings": run.configuration.values(),
        "versions": files.versions(),
    }


def start_from(configuration: Configuration, model: nn.Module, summary: DataSummary) -> list[str]:
    """Take over and freeze weights as the options ask; one remark for each."""
    options = configuration.options
    remarks: list[str] = []
    if not (options.from_run or options.freeze):
        return remarks
    from chainrule.runs import transfer

    if options.from_run:
        source = Path(options.from_run)
        remarks.append(str(transfer.start_from(configuration, model, summary, source)))
    if options.freeze:
        frozen = transfer.freeze(model, options.freeze)
        remarks.append(f"frozen: {len(frozen)} tensors matching {options.freeze}")
    return remarks


def fit_of(run: Run, model: nn.Module, data: Any, device: str) -> Generator[Progress]:
    """Train the model of a run in place, in one process or several."""
    several = run.configuration.options.processes > 1 and current() is None
    if isinstance(model, Ensemble) and several:
        from chainrule.runs.member_processes import spread

        return spread(run, model)
    return fit(run.configuration, model, data, run.folder / CHECKPOINTS, device)


def fit(
    configuration: Configuration, model: nn.Module, data: Any, folder: Path | None, device: str
) -> Generator[Progress]:
    """Train the model in place, as an ensemble or by a teacher where the options say so."""
    recipe, options = configuration.recipe, configuration.options
    if not isinstance(model, Ensemble) and options.processes > 1 and current() is None:
        raise InputError(
            "`processes` are started by `chainrule train` and `resume`, by `cr.train` and by "
            "`cr.load(folder).resume()`; call one of them"
        )
    if not options.teacher and not isinstance(model, Ensemble):
        return recipe.fit(model, data, folder, device)
    if isinstance(data, BlockSplits):
        what = "`teacher`" if options.teacher else "`members`"
        raise InputError(f"{what} cannot be used here: the rows are on the disk; leave it out")
    if isinstance(model, Ensemble):
        if device not in ("auto", "cpu"):
            raise InputError(f"`members` train on the CPU; leave out `device` {device}")
        from chainrule.runs.members import fit_members

        if (group := current()) is not None and folder is not None:
            from chainrule.runs.member_processes import shared

            return shared(configuration, model, data, folder, group)
        return fit_members(configuration, model, data, folder, range(len(model.members)))
    train, task = learned(configuration, data)
    source = as_source(train, recipe.settings, task.inputs, recipe.augmentation())
    validation = tuple(data.validation)
    return iterate(
        model,
        source,
        validation,
        task=task,
        settings=recipe.settings,
        folder=folder,
        device=device,
    )


def learned(configuration: Configuration, data: Any) -> tuple[Any, Task]:
    """The training split and the task, with the outputs of a teacher where there is one."""
    train, task = tuple(data.train), configuration.recipe.task(data)
    if not configuration.options.teacher:
        return train, task
    from chainrule.runs.distillation import with_teacher

    return with_teacher(train, task, configuration.options)


def compared(configuration: Configuration, predictions: Predictions) -> dict[str, Metrics]:
    """Parts of the model, members of an ensemble, and other methods on the same data."""
    recipe = configuration.recipe
    found = dict(recipe.breakdown(predictions))
    if isinstance(predictions.model, Ensemble):
        from chainrule.runs.ensembles import member_statistics

        found |= member_statistics(predictions)
    return found | recipe.baselines(predictions.data)


def draw(predictions: Predictions, history: Sequence[Record], folder: Path) -> None:
    """All pictures of a finished run."""
    from chainrule.plots.style import save

    figures = predictions.recipe.figures(predictions)
    if isinstance(predictions.model, Ensemble):
        from chainrule.runs.ensembles import reliability_pictures

        figures |= reliability_pictures(predictions)
    if len(history) > 1:
        figures["learning"] = predictions.recipe.curves(history)
    for name, figure in figures.items():
        with writing(folder / f"{name}.png"):
            save(figure, folder / f"{name}.png")


def parameters(model: nn.Module) -> int:
    """Number of parameters, or of buffer entries where a model has no parameters."""
    by_gradient = sum(p.numel() for p in model.parameters())
    return by_gradient or sum(t.numel() for t in model.buffers() if t.is_floating_point())
