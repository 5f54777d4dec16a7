"""A run folder: recipe, model, results, and predictions.

run = train("digits-mlp", epochs=5)          the folder is made, the recipe trained
run = Run.load("runs/digits-mlp-1")          a folder from before
run.predict("digit.png")
"""

from collections.abc import Generator
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from chainrule.data.readers.encoders import encoder_from_json
from chainrule.errors import InputError
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.registry import Entry, entry_from_file, find
from chainrule.runs import folder as files
from chainrule.runs.configuration import Configuration, check_required, configure_from_json
from chainrule.runs.folder import CONFIG, DATA, MODEL, RESULT, Json, read_json
from chainrule.runs.identity import check_same, describe
from chainrule.runs.lock import locked
from chainrule.runs.logs.log import check_kinds
from chainrule.runs.measures import as_html, evaluate_run
from chainrule.runs.predictions import Metrics
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.runs.schema import Config, Data, Result
from chainrule.training import History, Progress, checkpoint, devices
from chainrule.training.randomness import GENERATOR

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Run:
    """A run folder: a recipe with its settings, trained or to be trained.

    Args:
        folder: of the run.
        name: of the recipe, or the path of a recipe file.
        configuration: the recipe with its settings and options.
        data_folder: the folder of the data sets, where one was given.
        device: cpu, cuda, mps or auto.
        log: kinds of logs that are written besides: csv, tensorboard, mlflow, wandb.
        sharded: whether each of its processes holds a part of the parameters only.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        configuration: Configuration,
        data_folder: Path | None = None,
        device: str = "auto",
        log: tuple[str, ...] = (),
        sharded: bool = False,
    ):
        self.sharded = sharded
        self.folder, self.name, self.configuration = folder, name, configuration
        self.data_folder, self.device, self.log = data_folder, device, log
        self.remarks: list[str] = []
        self.fresh = self.made = False  # whether this object created the run, and its folder

    @property
    def recipe(self) -> BaseRecipe:
        return self.configuration.recipe

    def __repr__(self) -> str:
        state = "finished" if self.finished else "not finished"
        return f"Run({self.name} in {self.folder}, {state})"

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.result["metrics"] if self.finished else {})

    @classmethod
    def create(
        cls,
        entry: Entry,
        configuration: Configuration,
        folder: Path | None = None,
        data_folder: Path | None = None,
        device: str = "auto",
        log: tuple[str, ...] = (),
        sharded: bool = False,
    ) -> "Run":
        """Claim a folder for a new run; by default runs/RECIPE-1, -2, …"""
        check_required(entry.name, configuration)
        check_kinds(log)
        made = folder is None or files.claim(folder)
        folder = folder or files.next_folder(entry.name)
        run = cls(folder, entry.reference, configuration, data_folder, device, log, sharded)
        run.fresh, run.made = True, made
        config = {
            "recipe": entry.reference,
            "settings": configuration.values(),
            "data": str(data_folder.resolve()) if data_folder else None,
            "device": device,
            "log": log,
            "versions": files.versions(),
        } | ({"sharded": True} if sharded else {})
        with locked(folder):
            files.check_empty(folder)
            files.write_json(folder / CONFIG, config)
        return run

    @classmethod
    def load(cls, folder: Path | str) -> "Run":
        """A run from before, finished or not."""
        folder = Path(folder)
        if not (folder / CONFIG).is_file():
            raise InputError(
                f"{folder} is not a run folder: it has no {CONFIG}; "
                "`chainrule train RECIPE` makes one under runs/"
            )
        config = read_json(folder / CONFIG, Config)
        try:
            kind = recipe_entry(config["recipe"]).load().Recipe
            configuration = configure_from_json(kind, config["settings"])
        except InputError as error:
            raise InputError(
                f"{folder / CONFIG} does not fit this version of the recipe: {error}"
            ) from None
        data = Path(config["data"]) if config["data"] else None
        log = tuple(config.get("log", ()))
        sharded = config.get("sharded", False)
        return cls(folder, config["recipe"], configuration, data, config["device"], log, sharded)

    @property
    def finished(self) -> bool:
        return (self.folder / RESULT).is_file()

    @cached_property
    def summary(self) -> DataSummary:
        """The summary of its data."""
        path = self.folder / DATA
        state = read_json(path, Data)
        try:
            encoder = encoder_from_json(state["encoder"]) if state["encoder"] else None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            said = f"{type(error).__name__} {error}"
            raise InputError(
                f'{path} is damaged: "encoder" cannot be restored ({said}); '
                "restore it from a copy, or start again"
            ) from None
        return DataSummary(
            tuple(state["shape"]),
            tuple(state["classes"]),
            state["target_mean"],
            state["target_std"],
            tuple(state["vocab_sizes"]),
            state["examples"],
            encoder=encoder,
        )

    @cached_property
    def model(self) -> nn.Module:
        """The trained model, on the CPU and in evaluation mode."""
        path = self.folder / MODEL
        if not path.is_file():
            raise InputError(
                f"the run in {self.folder} is not finished; chainrule resume {self.folder}"
            )
        tensors, _ = checkpoint.load(path)
        try:
            model = build(self.configuration, self.summary)
            model.load_state_dict(tensors)
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(
                f"the weights in {self.folder} do not fit its recipe: {reason}"
            ) from None
        checkpoint.check_finite(model, path)
        devices.place(model, torch.device("cpu"))  # kernels laid out as in training round alike
        return model.eval()

    @cached_property
    def result(self) -> Json:
        """The content of result.json: final metrics, settings, versions."""
        return dict(read_json(self.folder / RESULT, Result))

    @property
    def history(self) -> History:
        """One record per epoch."""
        stopped = self.result["stopped"] if self.finished else ""
        return History(files.records(self.folder), stopped)

    def data(self, folder: Path | None = None) -> Any:
        """Its data, refused if they have changed since the run began."""
        recipe = self.recipe
        own = {field.name for field in fields(recipe)}  # type: ignore[arg-type]
        if self.finished and getattr(recipe, "from_run", None) and "from_run" in own:
            recipe = replace(recipe, from_run=str(self.folder))  # type: ignore[type-var]
        data = recipe.data(folder or self.data_folder)
        check_same(self.folder, describe(recipe.summarize(data)))
        return data

    def evaluate(self, data_folder: Path | None = None) -> Metrics:
        """Every metric, measured again from the saved weights."""
        data = self.data(data_folder)  # refuses other data before their encoder meets the model
        return evaluate_run(self.configuration, self.model, data)

    def train(
        self,
        device: str = "auto",
        pictures: bool = True,
        force: bool = False,
        sharded: bool = False,
    ) -> Generator[Progress]:
        """Train to the end, from the start or the last checkpoint.

        Args:
            device: cpu, cuda, mps or auto.
            pictures: draw pictures of the result.
            force: take the run over from another process, which then stops.
            sharded: under torchrun, each process holds a part of the parameters only.
        """
        from chainrule.runs.execute import execute

        return execute(self, device, pictures, force, sharded)

    def resume(
        self,
        processes: int | None = None,
        *,
        device: str = "auto",
        pictures: bool = True,
        progress: bool | None = None,
        sharded: bool = False,
        elastic: int = 0,
    ) -> "Run":
        """Continue to the end, to the weights of a run that was not interrupted.

        Args:
            processes: how many share every batch; by default as many as when the run began.
            device: cpu, cuda, mps or auto.
            pictures: draw pictures of the result.
            progress: show a bar; by default on a terminal and in a notebook.
            sharded: each process holds a part of the parameters only; a run that began so goes on
                so.
            elastic: how often the processes are started again when one is lost.
        """
        from chainrule.runs.processes import resumed

        return resumed(self, processes, (sharded, elastic), device, pictures, progress)

    def predict(self, inputs: Any) -> list[Json]:
        """One answer per row, image or text.

        Args:
            inputs: a file or several, sentences for models of text, a frame, or a tensor or array
                of inputs as the model takes them.
        """
        from chainrule.runs.predict import predict

        return predict(self, inputs)

    def generate(self, prompt: str | None = None, length: int = 500, **options: Any) -> str:
        """Text by a language model; options: temperature, top_k, top_p, seed."""
        from chainrule.runs.generate import generate

        return generate(self, prompt, length, **options)

    def plot(self) -> "Figure":
        """Its learning curves."""
        if not (history := self.history):
            raise InputError(f"the run in {self.folder} has no epochs to plot")
        return self.recipe.curves(list(history))


def recipe_entry(reference: str | Path) -> Entry:
    """A recipe by name, or from a user's file."""
    reference = str(reference)
    if reference.endswith(".py"):
        return entry_from_file("recipes", Path(reference))
    return find("recipes", reference)


def build(configuration: Configuration, summary: DataSummary) -> nn.Module:
    """The recipe's model with the initial weights of its seed, whatever was drawn before."""
    recipe, members = configuration.recipe, configuration.options.members
    if members > 1:
        alone = [recipe.changed(seed=recipe.seed + k) for k in range(members)]
        parts = [build(Configuration(member), summary) for member in alone]
        return Ensemble(parts, bool(summary.classes))
    with GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return recipe.model(summary)


def initial_model(configuration: Configuration, summary: DataSummary, data: Any) -> nn.Module:
    """The model before its first step: built, and initialized by what the data say."""
    model = build(configuration, summary)
    configuration.recipe.initialize(model, data)
    return model
