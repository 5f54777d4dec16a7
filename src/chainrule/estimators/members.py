"""Training networks of one shape on the same data, each by its own settings."""

from collections.abc import Sequence
from contextlib import closing

from torch import Tensor, nn

from chainrule.learning.objective import Objective
from chainrule.training import Settings, fit

Arrays = tuple[Tensor, ...]
History = list[dict[str, int | float]]


def _train_members(
    networks: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None,
    settings: Sequence[Settings],
    objective: Objective,
    flat: tuple[float, int],
    device: str,
) -> list[History]:
    """Train every network in place, one after another; returns their records by epoch.

    Without a validation split a network stops when its training loss has become `flat`: no lower by
    a tolerance in the last so many epochs than before them.
    """
    return [
        _train_one(network, train, validation, own, objective, flat, device)
        for network, own in zip(networks, settings, strict=True)
    ]


def _train_one(
    network: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: Settings,
    objective: Objective,
    flat: tuple[float, int],
    device: str,
) -> History:
    history: History = []
    with closing(fit(network, train, validation, settings, objective, None, device)) as progress:
        for now in progress:
            if now.record is not None:
                history.append(now.record)
                if validation is None and is_flat(history, *flat):
                    break
    network.cpu()
    return history


def is_flat(history: History, tolerance: float, epochs: int) -> bool:
    """Whether the last epochs brought the training loss no lower than the tolerance asks."""
    losses = [record["train_loss"] for record in history]
    return len(losses) > epochs and min(losses[-epochs:]) > min(losses[:-epochs]) - tolerance
