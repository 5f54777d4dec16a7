"""Predictions of a trained model on its splits, computed once."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.training import outputs

if TYPE_CHECKING:
    from chainrule.runs.recipe import BaseRecipe

Metrics = dict[str, dict[str, float]]
SPLITS = ("train", "validation", "test")
T = TypeVar("T")


class Predictions:
    """The outputs of a model on its splits, shared by metrics, texts and figures.

    Args:
        recipe: says how outputs are computed.
        model: trained.
        data: as the recipe loads it.
    """

    def __init__(self, recipe: "BaseRecipe", model: nn.Module, data: Any):
        self.recipe, self.model, self.data = recipe, model, data
        self.known: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of `compute`, which is called once per key."""
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]

    def outputs(self, split: str) -> Tensor:
        """The model's outputs on a split."""
        return self.once(("outputs", split), lambda: self._outputs(split))

    def _outputs(self, split: str) -> Tensor:
        if isinstance(self.model, Ensemble):
            return self.model.mean(torch.stack(self.member_outputs(split)))
        return self.recipe.outputs(self.model, self.data, split)

    def member_outputs(self, split: str) -> list[Tensor]:
        """The outputs of every member of an ensemble."""
        assert isinstance(self.model, Ensemble)
        x = getattr(self.data, split).x
        members = self.model.members
        return self.once(
            ("members", split), lambda: [outputs(member, (x,)).float() for member in members]
        )

    def member(self, k: int) -> "Predictions":
        """The predictions of one member of an ensemble."""
        assert isinstance(self.model, Ensemble)
        alone = Predictions(self.recipe, self.model.members[k], self.data)
        for split in SPLITS:
            alone.known["outputs", split] = self.member_outputs(split)[k]
        return alone
