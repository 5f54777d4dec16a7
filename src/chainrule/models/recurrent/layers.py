"""Recurrent layers and networks by name, for recipes: `layer("gru", inputs, width)`."""

from chainrule.errors import InputError
from chainrule.models.recurrent.antisymmetric import Antisymmetric
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.lipschitz import Lipschitz
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.min_gru import MinGRU
from chainrule.models.recurrent.min_lstm import MinLSTM
from chainrule.models.recurrent.notes_gru import NotesGRU
from chainrule.models.recurrent.notes_lstm import NotesLSTM
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.residual_block import deep
from chainrule.models.recurrent.selective import Selective
from chainrule.models.recurrent.stacked import Stacked
from chainrule.models.recurrent.state_space import StateSpace
from chainrule.registry import unknown

LINEAR: dict[str, type[Recurrent]] = {
    "mingru": MinGRU,
    "minlstm": MinLSTM,
    "lru": LRU,
    "statespace": StateSpace,
    "selective": Selective,
}
"""The layers whose recurrence is linear: all steps at once, by the scan."""
LAYERS: dict[str, type[Recurrent]] = {
    "elman": Elman,
    "lstm": LSTM,
    "gru": GRU,
    "noteslstm": NotesLSTM,
    "notesgru": NotesGRU,
    "antisymmetric": Antisymmetric,
    "lipschitz": Lipschitz,
    **LINEAR,
}


def kind(name: str) -> type[Recurrent]:
    """The class of that name; dashes and underscores do not count."""
    plain = name.lower().replace("-", "").replace("_", "")
    if plain not in LAYERS:
        raise InputError(unknown("recurrent layer", name, list(LAYERS)))
    return LAYERS[plain]


def layer(name: str, inputs: int, width: int) -> Recurrent:
    """One fresh layer."""
    return kind(name)(inputs, width)


def network(name: str, inputs: int, width: int, depth: int = 1, dropout: float = 0.0) -> Recurrent:
    """`depth` layers: stacked, or where the recurrence is linear in residual blocks."""
    made = kind(name)
    if depth < 1:
        raise InputError(f"a network needs one layer or more, got a depth of {depth}")
    if made in LINEAR.values():
        return deep(made, inputs, width, depth, dropout)
    sizes = [inputs] + [width] * (depth - 1)
    return Stacked([made(size, width) for size in sizes], dropout)
