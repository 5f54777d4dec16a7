"""The probability that one update flips a stored bit of a Hopfield network.

P(sum of (s - 1)(n - 1) random signs < -(n - 1)):   s patterns, n units, W with a zero diagonal
"""

import math

from scipy.stats import binom


def flip_probability(n: int, s: int) -> float:
    """Exact, by the binomial law; the signal is (n - 1)/n because W has no diagonal."""
    signs = (s - 1) * (n - 1)
    return float(binom.cdf(math.ceil((signs - (n - 1)) / 2) - 1, signs, 0.5))
