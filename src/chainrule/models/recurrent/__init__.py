"""Chapter 5, recurrent networks: from Elman to linear recurrences and translation."""

from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.layers import layer, network
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.min_gru import MinGRU
from chainrule.models.recurrent.min_lstm import MinLSTM
from chainrule.models.recurrent.selective import Selective
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.models.recurrent.stacked import Stacked
from chainrule.models.recurrent.state_space import StateSpace

__all__ = [
    "GRU",
    "LRU",
    "LSTM",
    "Bidirectional",
    "Elman",
    "MinGRU",
    "MinLSTM",
    "Selective",
    "SequenceClassifier",
    "Stacked",
    "StateSpace",
    "layer",
    "network",
]
