"""Logs for other programs, read back by their own libraries."""

import csv
import json
from pathlib import Path

import pytest
import torch
from torch import nn

import chainrule as cr
from chainrule.cli.main import main
from chainrule.errors import InputError
from chainrule.runs.logs import log as logs
from chainrule.runs.run import Run

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()
MOONS = ["moons-mlp", "--num-samples", "100", "--epochs", "3", "--quiet"]


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "log.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def events(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The scalars of TensorBoard by its own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "tensorboard")).Reload()
    tags = found.Tags()
    scalars = {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in tags["scalars"]}
    texts = {tag.removesuffix("/text_summary"): [] for tag in tags["tensors"]}
    return scalars | texts | {f"image:{tag}": [] for tag in tags["images"]}


def test_a_table_has_a_row_for_every_epoch(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["train", *MOONS, "--log", "csv", "--out", str(run)]) == 0
    history = list(Run.load(run).history)
    assert [int(row["epoch"]) for row in rows(run)] == [1, 2, 3]
    for row, record in zip(rows(run), history, strict=True):
        assert {name: float(value) for name, value in row.items()} == record
    assert json.loads((run / "log-settings.txt").read_text())["num_samples"] == 100
    assert json.loads((run / "log-result.txt").read_text()) == Run.load(run).result["metrics"]


def test_tensorboard_shows_scalars_texts_and_pictures(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert main(["train", *MOONS, "--log", "tensorboard", "csv", "--out", str(run)]) == 0
    found, history = events(run), list(Run.load(run).history)
    for name in ("train_loss", "validation_loss", "validation_accuracy"):
        split, _, metric = name.partition("_")
        steps = [(int(record["epoch"]), pytest.approx(record[name])) for record in history]
        assert found[f"{metric}/{split}"] == steps
    assert {"settings", "notes", "result", "image:learning"} <= {*found}


@pytest.mark.parametrize("kind", ["csv", "tensorboard"])
def test_a_resumed_run_continues_the_same_log(kind: str, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    flags = ["train", *MOONS, "--no-pictures", "--log", kind, "--out"]
    assert main([*flags, str(whole)]) == 0
    with pytest.raises(KeyboardInterrupt):
        stopped_run(broken, kind, num_samples=100, epochs=3)
    assert main(["resume", str(broken), "--quiet", "--no-pictures"]) == 0
    if kind == "csv":
        first, second = ([r | {"seconds": ""} for r in rows(f)] for f in (whole, broken))
        assert first == second and len(first) == 3
    else:
        first, second = (events(folder)["loss/train"] for folder in (whole, broken))
        assert first == second and len(first) == 3


def stopped_run(folder: Path, kind: str, **settings: object) -> None:
    """A run whose process ends after the first epoch was logged, before the second was."""
    calls = []

    def once(self: logs.Log, now: object) -> None:
        if getattr(now, "record", None):
            calls.append(now)
            if len(calls) == 2:
                raise KeyboardInterrupt
            self.scalars(now.epoch, now.record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs.Log, "__call__", once)
        cr.train("moons-mlp", out=folder, log=kind, pictures=False, **settings)


def test_rows_that_the_checkpoint_does_not_know_are_replaced(tmp_path: Path) -> None:
    with cr.Log("csv", tmp_path) as log:
        log.scalars(1, {"train_loss": 0.5})
    with (tmp_path / "log.csv").open("a") as file:
        file.write("2,0.25\n3,0.1")  # logged and then killed, before logs.json was written
    with cr.Log("csv", tmp_path) as log:
        log.scalars(2, {"train_loss": 0.3})
    assert rows(tmp_path) == [
        {"epoch": "1", "train_loss": "0.5"},
        {"epoch": "2", "train_loss": "0.3"},
    ]


def test_fit_logs_by_a_callback_and_continues(tmp_path: Path) -> None:
    for epochs in (2, 2):
        with cr.Log("csv", tmp_path / "log") as log:
            cr.fit(
                nn.Linear(3, 2),
                (X, Y),
                epochs=epochs,
                folder=tmp_path / "checkpoints",
                callbacks=[log],
                progress=False,
            )
    assert [row["epoch"] for row in rows(tmp_path / "log")] == ["1", "2"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of SQLAlchemy, inside MLflow
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_mlflow_has_the_run_with_its_metrics_texts_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    run = tmp_path / "run"
    assert main(["train", *MOONS, "--log", "mlflow", "--out", str(run)]) == 0
    assert capfd.readouterr() == ("", "")
    number = json.loads((run / "logs.json").read_text())["mlflow"]["place"]
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    found = client.get_run(number)
    assert found.info.run_name == "run" and found.info.status == "FINISHED"
    assert client.get_experiment(found.info.experiment_id).name == "moons-mlp"
    history = list(Run.load(run).history)
    losses = sorted((m.step, m.value) for m in client.get_metric_history(number, "train_loss"))
    assert losses == [(int(r["epoch"]), pytest.approx(r["train_loss"])) for r in history]
    files = {artifact.path for artifact in client.list_artifacts(number)}
    assert files >= {"settings.txt", "notes.txt", "result.txt", "pictures"}
    pictures = {artifact.path for artifact in client.list_artifacts(number, "pictures")}
    assert "pictures/learning.png" in pictures
    with cr.Log("mlflow", run) as log:
        log.scalars(4, {"train_loss": 0.1})
    steps = [m.step for m in client.get_metric_history(number, "train_loss")]
    assert sorted(steps) == [1, 2, 3, 4]


def test_wandb_keeps_a_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    assert main(["train", *MOONS, "--log", "wandb", "--out", str(run)]) == 0
    (written,) = run.glob("wandb/offline-run-*/*.wandb")
    content = written.read_bytes()
    assert b"train_loss" in content and b"num_samples" in content
    assert json.loads((run / "logs.json").read_text())["wandb"]["epoch"] == 3


def test_what_cannot_be_logged_is_refused_before_a_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logs, "find_spec", lambda name: None)
    run = tmp_path / "run"
    assert main(["train", *MOONS, "--log", "tensorboard", "--out", str(run)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--log tensorboard needs the package tensorboard; install it with: pip" in said
    assert not run.exists()
    with pytest.raises(InputError, match="`log` names csv 2 times"):
        cr.train("moons-mlp", log=["csv", "csv"])
    with pytest.raises(InputError, match="there is no `log` named 'visdom'"):
        cr.train("moons-mlp", log="visdom")


def test_a_library_that_fails_stops_the_run_with_a_sentence_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from chainrule.runs.logs.csv_log import CSVLog

    good = CSVLog.scalars

    def fails(self: CSVLog, epoch: int, record: dict) -> None:
        if epoch == 2:
            raise ConnectionError("the server is gone")
        good(self, epoch, record)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(CSVLog, "scalars", fails)
        assert main(["train", *MOONS, "--log", "csv", "--out", str(run)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "failed: the server is gone;" in said and "chainrule resume" in said
    assert main(["resume", str(run), "--quiet", "--no-pictures"]) == 0
    assert [row["epoch"] for row in rows(run)] == ["1", "2", "3"]
