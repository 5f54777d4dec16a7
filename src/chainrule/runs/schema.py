"""The forms of all JSON files of a run folder and of a search."""

from typing import Any, NotRequired, TypedDict

from chainrule.training.schema import Count

Metrics = dict[str, dict[str, float | None]]


class Config(TypedDict):
    """config.json"""

    recipe: str
    settings: dict[str, Any]
    data: str | None
    device: str
    log: NotRequired[list[str]]
    sharded: NotRequired[bool]
    versions: dict[str, Any]


class Data(TypedDict):
    """data.json"""

    shape: list[Count]
    classes: list[str]
    target_mean: float
    target_std: float
    vocab_sizes: list[Count]
    examples: dict[str, Count] | None
    encoder: dict[str, Any] | None
    content: NotRequired[str]
    settings: NotRequired[str]


class Published(TypedDict):
    """A published result in result.json."""

    metric: str
    value: float
    source: str


class Result(TypedDict):
    """result.json"""

    recipe: str
    seed: int
    epochs: Count
    stopped: str
    metrics: Metrics
    compared: dict[str, Metrics]
    published: list[Published]
    parameters: Count
    remarks: list[str]
    seconds: float
    settings: dict[str, Any]
    decision: NotRequired[dict[str, Any]]


Record = dict[str, float | None]
"""A line of metrics.jsonl: the metrics of an epoch; null where one is not defined."""


class Epoch(TypedDict):
    """What every line of metrics.jsonl has."""

    epoch: Count


class TuneConfig(TypedDict):
    """tune.json of a search."""

    plan: dict[str, Any]
    study: str | None
    trials: int | None
    data: str | None
