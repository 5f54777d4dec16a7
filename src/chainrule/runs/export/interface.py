"""What goes into an exported model and what comes out: example inputs, outputs, description."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.pixels import unit_range
from chainrule.runs.configuration import require
from chainrule.runs.export.meaning import of_input, of_output
from chainrule.runs.folder import MODEL
from chainrule.training import outputs

if TYPE_CHECKING:
    from chainrule.runs.run import Run

ROWS = 64  # of the test split, on which an exported model is checked
TOKENS = 8  # of each row, where the split is one text


@dataclass(frozen=True, eq=False)
class Interface:
    """A trained network with real inputs.

    Args:
        run: where it comes from.
        network: the module that predicts.
        x: a batch of inputs.
        y: the network's outputs for them.
        origin: where the inputs come from.
    """

    run: "Run"
    network: nn.Module
    x: Tensor
    y: Tensor
    origin: str

    @property
    def rows(self) -> int:
        return len(self.x)

    @property
    def largest(self) -> float:
        return max(1.0, self.y.abs().max().item())

    def difference(self, output: Tensor, rows: slice = slice(None)) -> float:
        """The largest absolute difference from the network's outputs for these rows."""
        wanted = self.y[rows]
        if output.shape != wanted.shape:
            raise InputError(
                f"the exported model gives outputs of shape {tuple(output.shape)} instead of "
                f"{tuple(wanted.shape)}; this format cannot express the model, try another"
            )
        return (output - wanted).abs().max().item()

    def describe(self) -> dict[str, Any]:
        """What a program without chainrule must know to use the model."""
        summary, encoder = self.run.summary, self.run.summary.encoder
        return {
            "recipe": self.run.name,
            "input": {
                "name": "input",
                "shape": ["batch", *self.x.shape[1:]],
                "type": str(self.x.dtype).removeprefix("torch."),
                **of_input(self.run, self.x),
            },
            "output": {
                "name": "output",
                "shape": ["batch", *self.y.shape[1:]],
                **of_output(self.run, self.y),
            },
            "classes": list(summary.classes),
            "preprocessing": encoder.to_json() if encoder else None,
        }


def interface(run: "Run", one_program: bool) -> Interface:
    """The network of a run that can be exported, with rows of its test split.

    Args:
        run: finished.
        one_program: whether the whole prediction must be one forward pass.
    """
    try:
        require(type(run.recipe), run.name, "predict")
        if one_program:
            require(type(run.recipe), run.name, "export")
    except InputError as error:
        raise InputError(f"{error}; its weights are in {run.folder / MODEL}") from None
    network = run.recipe.network_for(run.model).eval()
    x, origin = inputs(run)
    return Interface(run, network, x, outputs(network, (x,)).float(), origin)


def inputs(run: "Run") -> tuple[Tensor, str]:
    """Rows of the test split; random ones where the data are no longer there."""
    try:
        x = run.data().test.x
        if x.ndim == 1 and run.summary.vocab_sizes:  # one long text
            x = x[: len(x) // TOKENS * TOKENS].view(-1, TOKENS)
        if len(run.summary.vocab_sizes) > 1:  # a translator takes them as target tokens, too
            x = x.clamp(max=min(run.summary.vocab_sizes) - 1)
        return unit_range(x[:ROWS]), "rows of the test split"
    except InputError:
        if run.summary.vocab_sizes or not run.summary.shape:
            raise
        draw = torch.Generator().manual_seed(0)
        x = torch.rand(ROWS, *run.summary.shape, generator=draw)
        return x, "random rows, as its data are not at hand"
