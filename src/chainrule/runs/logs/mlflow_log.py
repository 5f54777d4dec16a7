"""MLflow: its library decides where to, by MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chainrule.runs.logs.log import Opening


class MLflowLog:
    """A run of MLflow, named by its id."""

    def __init__(self, name: str, experiment: str, place: str):
        from mlflow import MlflowClient

        logging.getLogger("mlflow.store.db.utils").setLevel(logging.WARNING)  # it makes a database
        self.client: Any = MlflowClient()
        if place:
            self.place = place
            self.client.update_run(place, status="RUNNING")
            return
        experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME", experiment)
        found = self.client.get_experiment_by_name(experiment)
        number = found.experiment_id if found else self.client.create_experiment(experiment)
        self.place = self.client.create_run(number, run_name=name).info.run_id

    def scalars(self, epoch: int, record: Mapping[str, float]) -> None:
        for name, value in record.items():
            self.client.log_metric(self.place, name, value, step=epoch)

    def text(self, name: str, content: str) -> None:
        self.client.log_text(self.place, content, f"{name}.txt")

    def image(self, name: str, path: Path) -> None:
        self.client.log_artifact(self.place, str(path), "pictures")

    def close(self) -> None:
        self.client.set_terminated(self.place)


def open_log(opening: Opening) -> MLflowLog:
    return MLflowLog(opening.name, opening.experiment, opening.place)
