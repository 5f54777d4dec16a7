"""Start-up of a process: a first model, a list, a trained network, a prediction."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.suite.contract import TINY, Contender, Quality, Race, Ready

PYTHON = sys.executable
Build = Callable[[int], Ready]
Words = Callable[[int], Sequence[str]]
CHAINRULE = (PYTHON, "-m", "chainrule")
MODELS = {
    "chainrule": "import chainrule as cr; cr.models.MLP(64, [128], 10)",
    "PyTorch": "from torch import nn; nn.Sequential(nn.Linear(64, 128), nn.ReLU())",
    "Lightning": "import lightning; from torch import nn; nn.Linear(64, 128)",
    "skorch": "import skorch; from torch import nn; nn.Linear(64, 128)",
    "Keras on torch": "import keras; keras.Sequential([keras.layers.Dense(128)]).build((1, 64))",
    "Keras on JAX": "import keras; keras.Sequential([keras.layers.Dense(128)]).build((1, 64))",
    "scikit-learn": "from sklearn.neural_network import MLPClassifier; MLPClassifier((128,))",
    "transformers": "from transformers import GPT2Config, GPT2Model; GPT2Model",
}
DATA = """
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
X, y = load_digits(return_X_y=True)
X = (X / 16).astype("float32")
X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
"""
SAVED = "weights.pt"
TORCH = f"""{DATA}
import torch, torch.nn.functional as F
from torch import nn
X, X_test, y = torch.tensor(X), torch.tensor(X_test), torch.tensor(y)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
adam = torch.optim.Adam(model.parameters(), fused=True)
rate = torch.optim.lr_scheduler.OneCycleLR(adam, 5e-3, total_steps=40 * -(-len(X) // 64))
for _ in range(EPOCHS):
    for rows in torch.randperm(len(X)).split(64):
        adam.zero_grad()
        F.cross_entropy(model(X[rows]), y[rows]).backward()
        adam.step()
        rate.step()
torch.save(model.state_dict(), "{SAVED}")
print(float((model.eval()(X_test).argmax(1).numpy() != y_test).mean()))
"""
SCIKIT = f"""{DATA}
import pickle, warnings
from sklearn.neural_network import MLPClassifier
warnings.simplefilter("ignore")
model = MLPClassifier((128,), batch_size=64, max_iter=EPOCHS, n_iter_no_change=EPOCHS).fit(X, y)
pickle.dump(model, open("model.pickle", "wb"))
print(1 - model.score(X_test, y_test))
"""
TORCH_PREDICT = f"""
import sys, numpy as np, torch
from PIL import Image
from torch import nn
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
model.load_state_dict(torch.load("{SAVED}"))
x = np.asarray(Image.open("digit.png").convert("L"), dtype="float32").reshape(1, 64) / 255
print(model.eval()(torch.tensor(x)).softmax(1))
"""


def running(*words: str) -> Build:
    """A command that needs nothing prepared."""

    def build(epochs: int) -> Ready:
        return Ready(lambda: called(words, Path.cwd()))

    return build


def called(words: Sequence[str], folder: Path) -> float | None:
    """Run it to its end; what it prints is left out of the answers."""
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return None


def training(words: Words, error: Callable[[Path, str], float]) -> Build:
    """A command that trains in an empty folder and leaves or prints an error."""

    def build(epochs: int) -> Ready:
        def once() -> float:
            with tempfile.TemporaryDirectory() as name:
                done = subprocess.run(
                    words(epochs), cwd=name, check=True, capture_output=True, text=True
                )
                return error(Path(name), done.stdout)

        return Ready(lambda: once() is None, lambda _: once())

    return build


def recorded(folder: Path, _: str) -> float:
    found = json.loads((folder / "run/result.json").read_text("utf-8"))
    return float(found["metrics"]["test"]["error"])


def printed(_: Path, text: str) -> float:
    return float(text.split()[-1])


def ours(*more: str) -> Words:
    words = (*CHAINRULE, "train", "digits-mlp", "--out", "run", "--quiet", *more)
    return lambda epochs: (*words, "--epochs", str(epochs))


def script(text: str) -> Words:
    return lambda epochs: (PYTHON, "-c", text.replace("EPOCHS", str(epochs)))


def predicting(train: Words, *words: str) -> Build:
    """A command that answers for one picture by a network trained beforehand."""

    def build(epochs: int) -> Ready:
        import numpy as np
        from PIL import Image
        from sklearn.datasets import load_digits

        folder = Path(tempfile.mkdtemp())
        Image.fromarray((load_digits().images[0] * 15.9).astype(np.uint8)).save(
            folder / "digit.png"
        )
        called(train(epochs), folder)
        return Ready(lambda: called(words, folder))

    return build


LIBRARIES: dict[str, dict[str, Build]] = {
    "chainrule": {
        "first model": running(PYTHON, "-c", MODELS["chainrule"]),
        "list": running(*CHAINRULE, "list"),
        "train digits": training(ours(), recorded),
        "predict": predicting(ours(), *CHAINRULE, "predict", "run", "digit.png"),
    },
    "chainrule, no pictures": {"train digits": training(ours("--no-pictures"), recorded)},
    "PyTorch": {
        "first model": running(PYTHON, "-c", MODELS["PyTorch"]),
        "train digits": training(script(TORCH), printed),
        "predict": predicting(script(TORCH), PYTHON, "-c", TORCH_PREDICT),
    },
    "scikit-learn": {
        "first model": running(PYTHON, "-c", MODELS["scikit-learn"]),
        "train digits": training(script(SCIKIT), printed),
    },
    "Python itself": {"list": running(PYTHON, "-c", "pass")},
    **{
        name: {"first model": running(PYTHON, "-c", MODELS[name])}
        for name in ("Lightning", "skorch", "Keras on torch", "Keras on JAX", "transformers")
    },
}
NEEDS = {"PyTorch": "torch", "chainrule, no pictures": "chainrule", "Python itself": "chainrule"}


def contender(name: str) -> Contender:
    """The command of a library in each case that it takes part in."""
    ways = LIBRARIES[name]
    backend = "jax" if name.endswith("JAX") else "torch"
    needs = (NEEDS.get(name, name.lower().split()[0]), backend)

    def build(case: str, epochs: int) -> Ready:
        return ways[case](epochs)

    cases = (*ways, TINY) if "list" in ways else tuple(ways)
    return Contender(build, needs, {"KERAS_BACKEND": backend}, cases=cases)


ROW = Race(
    unit="a process",
    contenders={name: contender(name) for name in LIBRARIES},
    cases={
        case: {"case": case, "epochs": 40}
        for case in ("first model", "list", "train digits", "predict")
    },
    tiny={"case": "list", "epochs": 1},
    quality=Quality("test error on the digits, one run", 0.03, absolute=True),
    starts_processes=True,
)
