"""Chapter 5, recurrent networks: from Elman to linear recurrences and translation."""

from chainrule.models.recurrent.antisymmetric import Antisymmetric
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.deep_transition import DeepTransition
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.forecaster import Forecaster
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.models.recurrent.layers import recurrent_layer, recurrent_network
from chainrule.models.recurrent.lipschitz import Lipschitz
from chainrule.models.recurrent.lru import LRU
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.mamba import Mamba
from chainrule.models.recurrent.min_gru import MinGRU
from chainrule.models.recurrent.min_lstm import MinLSTM
from chainrule.models.recurrent.notes_gru import NotesGRU
from chainrule.models.recurrent.notes_lstm import NotesLSTM
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.residual_block import Projection, ResidualBlock, residual_stack
from chainrule.models.recurrent.s4 import S4
from chainrule.models.recurrent.selective import Selective
from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.models.recurrent.sequence_tagger import SequenceTagger
from chainrule.models.recurrent.stacked import Stacked
from chainrule.models.recurrent.state_space import StateSpace
from chainrule.models.recurrent.text_classifier import TextClassifier
from chainrule.models.recurrent.torch_conversion import from_torch, to_torch
from chainrule.models.recurrent.word_tagger import WordTagger

__all__ = [
    "GRU",
    "LRU",
    "LSTM",
    "S4",
    "Antisymmetric",
    "Bahdanau",
    "Bidirectional",
    "DeepTransition",
    "Elman",
    "Forecaster",
    "LanguageModel",
    "Lipschitz",
    "Mamba",
    "MinGRU",
    "MinLSTM",
    "NotesGRU",
    "NotesLSTM",
    "Projection",
    "Recurrent",
    "ResidualBlock",
    "Selective",
    "Seq2Seq",
    "SequenceClassifier",
    "SequenceTagger",
    "Stacked",
    "StateSpace",
    "TextClassifier",
    "WordTagger",
    "from_torch",
    "recurrent_layer",
    "recurrent_network",
    "residual_stack",
    "to_torch",
]
