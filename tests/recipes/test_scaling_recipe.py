"""The scaling law: the fit recovers a law, and embeddings are not counted."""

import numpy as np
import pytest

from chainrule.models.attention.gpt import GPT
from chainrule.recipes.attention.shakespeare_scaling import fitted, predicted, weights


def test_the_fit_recovers_the_constants_of_an_exact_law() -> None:
    law = {"E": 1.2, "log A": 3.0, "α": 0.4, "log B": 5.0, "β": 0.6}
    N, D = (axis.ravel() for axis in np.meshgrid(10.0 ** np.arange(3, 8), 10.0 ** np.arange(4, 9)))
    found = fitted(N, D, predicted(law, N, D))
    assert found.pop("relative error of the fit") < 1e-6
    assert found == pytest.approx(law, rel=1e-3)


def test_weights_are_those_outside_the_embeddings() -> None:
    model = GPT(vocab_size=65, context_length=16, hidden_size=8, num_layers=1, num_heads=2)
    every = sum(p.numel() for p in model.parameters())
    assert weights(model) == every - 65 * 8 - 16 * 8
