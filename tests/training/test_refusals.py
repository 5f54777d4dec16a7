"""Doors that refuse: branches of `fit`, `predict` and `train` that coverage found no test for."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import chainrule as cr
from chainrule.errors import InputError
from chainrule.learning.soft_labels import check_confusion
from chainrule.registry import entry_from_file
from chainrule.training.rate_finder import suggested

X, Y = torch.randn(8, 3), torch.arange(8) % 2


def model() -> nn.Module:
    return cr.models.MLP(3, [4], 2)


@pytest.mark.parametrize(
    ("data", "settings", "words"),
    [
        (cr.data.arrays(X, Y), {"validation": (X, Y)}, "has a validation split already"),
        ((X,), {}, "expected"),
        ((X, torch.tensor(1)), {}, "a tensor without dimensions"),
        ((X, "y"), {}, "expected"),
        (
            (X, Y),
            {
                "task": lambda z, y: nn.functional.cross_entropy(z, y),
                "class_weights": "balanced",
            },
            "`class_weights` needs",
        ),
    ],
)
def test_fit_says_what_it_wants(data: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cr.fit(model(), data, epochs=1, progress=False, **settings)


def test_predict_wants_batches_of_equal_length() -> None:
    with pytest.raises(InputError, match="a batch of inputs, equally long"):
        cr.predict(nn.Bilinear(3, 3, 1), X, X[:5])
    with pytest.raises(InputError, match="a batch of inputs"):
        cr.predict(model(), torch.tensor(1.0))


def test_no_rate_is_suggested_where_no_loss_is_finite() -> None:
    with pytest.raises(InputError, match="not finite even at the lowest rate"):
        suggested([], [])
    assert suggested([0.1, 0.3, 0.9], [2.0, 1.0, math.inf]) == pytest.approx(0.1)


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"teacher_share": 1.5}])
def test_impossible_distillation_is_refused_before_anything_is_made(
    settings: dict[str, float], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="expected a `temperature` above 0"):
        cr.train("moons-mlp", out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_a_confusion_matrix_is_square() -> None:
    with pytest.raises(InputError, match="square matrix"):
        check_confusion(torch.zeros(2, 3), "rows")


def test_a_recipe_file_that_fails_leaves_no_module_behind(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        '"""Mine."""\nclass Recipe(object): ...\nraise RuntimeError("not today")\n'
    )
    before = set(sys.modules)
    with pytest.raises(Exception, match="not today"):
        entry_from_file("recipes", tmp_path / "mine.py").load()
    assert not [name for name in set(sys.modules) - before if "chainrule_file" in name]
