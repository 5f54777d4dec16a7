"""Logs for other programs: CSV, TensorBoard, MLflow and Weights & Biases, a file for each."""

from chainrule.runs.logs.log import Log

__all__ = ["Log"]
