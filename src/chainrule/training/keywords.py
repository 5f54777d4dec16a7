"""Inputs by name: a dictionary of tensors becomes the keyword arguments of a forward pass.

fit(model, ({"x": x, "mask": mask}, y))           model(x=x, mask=mask)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.training.objective import first_examples
from chainrule.training.sources.base import BatchSource


class KeywordInputs(nn.Module):
    """A module that takes by position what another takes by name; the weights are the other's.

    Args:
        module: what is called.
        names: of its arguments, in the order of the positions.
    """

    def __init__(self, module: nn.Module, names: Sequence[str]):
        super().__init__()
        self.module, self.names = module, tuple(names)

    def forward(self, *inputs: Tensor) -> Any:
        return self.module(**dict(zip(self.names, inputs, strict=True)))

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """The other's, by its own names."""
        return self.module.state_dict(*args, **options)

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **options: Any) -> Any:
        return self.module.load_state_dict(state_dict, *args, **options)


def by_keywords(model: nn.Module, data: Any) -> nn.Module:
    """The model as it takes the inputs of this data, which may come as dictionaries."""
    if isinstance(data, BatchSource):
        return model
    examples = first_examples(data)
    inputs = examples[0] if isinstance(examples, tuple | list) and examples else None
    if not isinstance(inputs, Mapping):
        return model
    if not inputs or not all(isinstance(name, str) for name in inputs):
        raise InputError("expected a dictionary of inputs by argument name, such as {'x': x}")
    return KeywordInputs(model, sorted(inputs))
