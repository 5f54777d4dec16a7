"""Recurrent layers and deep recurrent networks by name, for recipes.

recurrent_layer("gru", 4, 8) is one layer, recurrent_network("gru", 4, 8, num_layers=2) a deep one.
"""

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.models.recurrent.antisymmetric import Antisymmetric
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.lipschitz import Lipschitz
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.mamba import Mamba
from chainrule.models.recurrent.min_gru import MinGRU
from chainrule.models.recurrent.min_lstm import MinLSTM
from chainrule.models.recurrent.notes_gru import NotesGRU
from chainrule.models.recurrent.notes_lstm import NotesLSTM
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.residual_block import residual_stack
from chainrule.models.recurrent.s4 import S4
from chainrule.models.recurrent.selective import Selective
from chainrule.models.recurrent.stacked import Stacked
from chainrule.models.recurrent.state_space import StateSpace
from chainrule.registry import unknown

LINEAR_CELLS: dict[str, type[Recurrent]] = {
    "mingru": MinGRU,
    "minlstm": MinLSTM,
    "lru": LRU,
    "statespace": StateSpace,
    "selective": Selective,
    "mamba": Mamba,
    "s4": S4,
}
"""Layers with a linear recurrence, which stand in residual blocks."""
CELLS: dict[str, type[Recurrent]] = {
    "elman": Elman,
    "lstm": LSTM,
    "gru": GRU,
    "noteslstm": NotesLSTM,
    "notesgru": NotesGRU,
    "antisymmetric": Antisymmetric,
    "lipschitz": Lipschitz,
    **LINEAR_CELLS,
}


def cell_class(cell: str) -> type[Recurrent]:
    """The class of that name; case, dashes and underscores are ignored."""
    plain = cell.lower().replace("-", "").replace("_", "")
    if plain not in CELLS:
        raise InputError(unknown("recurrent cell", cell, list(CELLS)))
    return CELLS[plain]


@checked
def recurrent_layer(cell: str, input_size: Count, hidden_size: Count) -> Recurrent:
    """One new layer.

    >>> recurrent_layer("gru", 3, 8).hidden_size
    8

    Args:
        cell: elman, lstm, gru, lru, mingru, …
        input_size: features of each step.
        hidden_size: units of the state.
    """
    return cell_class(cell)(input_size, hidden_size)


@checked
def recurrent_network(
    cell: str, input_size: Count, hidden_size: Count, num_layers: Count = 1, dropout: Rate = 0.0
) -> Recurrent:
    """New layers on top of each other; linear recurrences stand in residual blocks.

    >>> recurrent_network("lstm", 3, 8, num_layers=2).hidden_size
    8

    Args:
        cell: elman, lstm, gru, lru, mingru, …
        input_size: features of each step.
        hidden_size: units of each layer.
        num_layers: layers on top of each other.
        dropout: probability between the layers.
    """
    chosen = cell_class(cell)
    if chosen in LINEAR_CELLS.values():
        return residual_stack(chosen, input_size, hidden_size, num_layers, dropout)
    sizes = [input_size] + [hidden_size] * (num_layers - 1)
    return Stacked([chosen(size, hidden_size) for size in sizes], dropout)
