"""Chapter 1, connectionism: threshold units, the perceptron, associative memories."""

from chainrule.models.connectionism.continuous_hopfield import ContinuousHopfield
from chainrule.models.connectionism.dense_hopfield import DenseHopfield
from chainrule.models.connectionism.exponential_hopfield import ExponentialHopfield
from chainrule.models.connectionism.hopfield import Hopfield
from chainrule.models.connectionism.mcculloch_pitts import McCullochPitts
from chainrule.models.connectionism.perceptron import Perceptron
from chainrule.models.connectionism.pocket import Pocket

__all__ = [
    "ContinuousHopfield",
    "DenseHopfield",
    "ExponentialHopfield",
    "Hopfield",
    "McCullochPitts",
    "Perceptron",
    "Pocket",
]
