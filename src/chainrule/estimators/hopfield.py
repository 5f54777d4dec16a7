"""A Hopfield network as a transformer: `fit` stores patterns, `transform` recalls them.

s_i = +1 where x_i ≥ threshold, else -1
W   = 1/n Σ_p s_p s_pᵀ,   then one unit at a time until nothing changes
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from chainrule.arguments import Count, Finite
from chainrule.estimators.base import FLOATS, Estimator, estimator, tensor
from chainrule.models.connectionism.hopfield import Hopfield


@estimator
class HopfieldMemory(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """An associative memory of the rows of X, as patterns of -1 and +1.

    >>> import numpy as np
    >>> patterns = np.array([[1, 1, 1, 1, -1, -1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]])
    >>> damaged = patterns * np.array([-1, 1, 1, 1, 1, 1, 1, 1])
    >>> memory = HopfieldMemory().fit(patterns)
    >>> bool((memory.transform(damaged) == patterns).all())
    True
    """

    threshold: Finite = 0.0
    """Values of at least this are +1, the others -1."""
    sweeps: Count = 100
    """Largest number of sweeps over all units in one recall."""

    def fit(self, X: Any, y: Any = None) -> "HopfieldMemory":
        """Store the patterns of the rows of X."""
        self._check_arguments()
        X = validate_data(self, X, dtype=FLOATS)
        units = X.shape[1]
        self.module_ = Hopfield(units).double()
        self.module_.store(self._pattern(X))
        # n W consists of whole numbers: kept so, a field of zero is zero to the last digit.
        self.module_.W.mul_(units).round_()
        return self

    def transform(self, X: Any) -> Any:
        """The patterns that the rows of X recall, in the precision of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        return self.module_.recall(self._pattern(X), self.sweeps).numpy().astype(X.dtype)

    def _pattern(self, X: Any) -> torch.Tensor:
        """+1 where x ≥ threshold, else -1."""
        return 2 * tensor(np.greater_equal(X, self.threshold), torch.float64) - 1

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
