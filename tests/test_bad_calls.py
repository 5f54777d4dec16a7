"""Every bad call from Python is answered with one clear sentence; docs/bad-input.md lists them.

`CHAINRULE_WRITE_DOCS=1 pytest tests/test_bad_calls.py` writes that part of the page.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import nn

import chainrule as cr
from chainrule import estimators
from chainrule.errors import InputError

PAGE = Path(__file__).parents[1] / "docs" / "bad-input.md"
MARK = "\n## From Python\n"
HEAD = f"""{MARK}
An `InputError` with such a sentence; words in backticks are arguments. Sparse rows get
scikit-learn's own `TypeError`. Here `x` is a tensor of 40 rows and 3 columns, `y` their classes 0
and 1, `z` a number for each.

| what is wrong | call | what you see |
|---|---|---|
"""
CASES = [
    ("a column compared with a row", "cr.fit(nn.Linear(3, 1), (x, z), loss=nn.MSELoss())"),
    ("inputs and targets apart", "cr.fit(nn.Linear(3, 2), x, y)"),
    ("targets left out", "cr.fit(nn.Linear(3, 2), (x, y[:5]))"),
    ("words as targets", "cr.fit(nn.Linear(3, 2), (x, np.array(list('ab' * 20))))"),
    ("inputs that are not numbers", "cr.fit(nn.Linear(3, 2), (x / 0, y))"),
    ("a layer of another size", "cr.fit(nn.Linear(4, 2), (x, y))"),
    ("an output for two classes", "cr.fit(nn.Linear(3, 1), (x, y))"),
    ("several outputs and no loss", "cr.fit(nn.LSTM(3, 2), (x, y))"),
    ("Keras's and torch's learning rate", "cr.fit(nn.Linear(3, 2), (x, y), lr=0.01)"),
    ("Keras's split", "cr.fit(nn.Linear(3, 2), (x, y), validation_split=0.2)"),
    ("Keras's verbosity", "cr.fit(nn.Linear(3, 2), (x, y), verbose=0)"),
    ("scikit-learn's seed", "cr.fit(nn.Linear(3, 2), (x, y), random_state=0)"),
    (
        "an optimizer that needs a closure",
        "cr.fit(nn.Linear(3, 2), (x, y), optimizer=torch.optim.LBFGS)",
    ),
    (
        "an optimizer of sparse gradients",
        "cr.fit(nn.Linear(3, 2), (x, y), optimizer=torch.optim.SparseAdam)",
    ),
    (
        "a schedule of torch",
        "cr.fit(nn.Linear(3, 2), (x, y), schedule=torch.optim.lr_scheduler.StepLR)",
    ),
    (
        "examples as dictionaries",
        "cr.fit(nn.Linear(3, 2), [{'input': a, 'label': b} for a, b in zip(x, y)])",
    ),
    (
        "an optimizer that is made already",
        "cr.fit(nn.Linear(3, 2), (x, y), optimizer=torch.optim.SGD([z]))",
    ),
    (
        "a schedule of one argument",
        "cr.fit(nn.Linear(3, 2), (x, y), schedule=lambda step: 0.9**step)",
    ),
    ("an estimator without its module", "NetworkClassifier().fit(x, y)"),
    ("a function that makes no module", "NetworkClassifier(lambda: 3).fit(x, y)"),
    ("a name in place of a module", "NetworkClassifier('mlp').fit(x, y)"),
    ("a layer without units", "MLPClassifier(hidden_layer_sizes=(0,)).fit(x, y)"),
    ("sparse rows as images", "CNNClassifier().fit(csr_matrix(x), y)"),
    ("sparse rows as sequences", "RNNClassifier().fit(csr_matrix(x), y)"),
    ("sparse rows for a module", "NetworkClassifier(nn.Linear(3, 2)).fit(csr_matrix(x), y)"),
    ("a run that is not there", "cr.load('nowhere')"),
    ("a claim that does not exist", "cr.check('novikof')"),
]
SKLEARNS = "sparse rows"  # whose refusal is scikit-learn's own TypeError


def test_the_page_has_what_python_answers() -> None:
    z = torch.arange(40) / 40 - 0.5
    x = torch.stack([z, z**2, z.abs()], 1)
    names = {name: getattr(estimators, name) for name in estimators.__all__}
    names |= {"cr": cr, "nn": nn, "np": np, "torch": torch, "csr_matrix": csr_matrix}
    names |= {"x": x, "y": (z > 0).long(), "z": z}
    rows = []
    for what, call in CASES:
        kind = TypeError if what.startswith(SKLEARNS) else InputError
        with pytest.raises(kind) as refused:
            eval(call, dict(names))
        sentence = " ".join(str(refused.value).split()).replace("|", "\\|")
        rows.append(f"| {what} | `{call}` | {sentence} |")
    before, _, _ = (page := PAGE.read_text("utf-8")).partition(MARK)
    calls = HEAD + "\n".join(rows) + "\n"
    if os.environ.get("CHAINRULE_WRITE_DOCS"):
        PAGE.write_text(page := before + calls, "utf-8")
    assert page == before + calls
