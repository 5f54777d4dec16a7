"""Small runs of many recipes and settings, and what they end in when nobody disturbs them."""

import json
import random
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

from campaign.program import called

OFTEN = "--checkpoint-seconds 0"
TRAINED = (
    "digits-mlp --epochs 3 --batch-size 64",
    "digits-mlp --epochs 3 --optimizer sgd --learning-rate 0.1 --schedule cosine",
    "digits-mlp --epochs 4 --patience 2 --monitor error --ema-decay 0.9",
    "digits-mlp --epochs 2 --members 3 --hidden 16",
    "digits-mlp --epochs 2 --precision mixed --hidden 16 8",
    "moons-mlp --epochs 6 --weight-decay 0.01 --clip-norm 1",
    "moons-mlp --epochs 3 --optimizer adamw --schedule warm-up-cosine --lasso 1e-4",
    "xor-mlp --epochs 20",
    "mlp --table table.csv --target y --epochs 4",
    "mlp --table table.csv --target a --epochs 3 --hidden 8",
    "gpt --text text.txt --context-length 16 --hidden-size 16 --num-layers 1 --num-heads 2"
    " --epochs 2 --epoch-steps 6 --batch-size 4",
    "karate-gcn --epochs 12",
    "gcn --edges edges.csv --nodes nodes.csv --target y --epochs 8",
    "adding --lengths 10 --cells elman --epochs 1 --num-samples 400 --hidden-size 8",
    "cartpole-dqn --agents 1 --epochs 2 --epoch-steps 40 --warm-up 20 --memory 200"
    " --copies 1 --batch-size 8 --hidden 8 --episodes 1 --test-episodes 1",
)
STORED = (
    "gridworld-q-learning --agents 2 --epochs 3 --epoch-steps 50",
    "gridworld-value-iteration",
    "perceptron-blobs",
)
SETTINGS = tuple(f"{words} --no-pictures --quiet" for words in STORED) + tuple(
    f"{words} {OFTEN} --no-pictures --quiet" for words in TRAINED
)


@dataclass(frozen=True)
class Straight:
    """A run that nobody disturbed."""

    weights: bytes
    history: list[dict[str, float]]
    seconds: float


def materials(folder: Path) -> None:
    """A table, a text and a graph in the folder, always the same."""
    draw = random.Random(0)
    rows = [
        f"{draw.gauss(0, 1):.3f},{draw.choice(['red', 'green'])},{'no' if k % 3 else 'yes'}"
        for k in range(60)
    ]
    (folder / "table.csv").write_text("\n".join(["a,color,y", *rows]) + "\n")
    words = " ".join(draw.choice(["to", "be", "or", "not", "that", "is"]) for _ in range(600))
    (folder / "text.txt").write_text(words)
    nodes = [f"p{k},{draw.gauss(0, 1):.2f},{'no' if k % 3 else 'yes'}" for k in range(40)]
    (folder / "nodes.csv").write_text("\n".join(["id,f,y", *nodes]) + "\n")
    edges = [f"p{k},p{(k * 7 + 1) % 40}" for k in range(40)]
    (folder / "edges.csv").write_text("\n".join(["from,to", *edges]) + "\n")


@cache
def straight(setting: str) -> Straight:
    """The run of a setting, trained once in this process's lifetime."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-"))
    try:
        materials(folder)
        began = monotonic()
        call = called(["train", *setting.split(), "--out", "run"], folder, limit=300)
        if call.ended.value != 0:
            raise RuntimeError(f"the undisturbed run failed: {call}")
        seconds = monotonic() - began
        return Straight(weights(folder / "run"), history(folder / "run"), seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def weights(run: Path) -> bytes:
    return (run / "model.safetensors").read_bytes()


def history(run: Path) -> list[dict[str, float]]:
    """The records of all epochs, without what a clock measured."""
    path = run / "metrics.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [{k: v for k, v in row.items() if "second" not in k} for row in rows]


def difference(run: Path, setting: str) -> str:
    """In what a finished run differs from the undisturbed one; empty if in nothing."""
    wanted = straight(setting)
    if weights(run) != wanted.weights:
        return "other weights"
    if history(run) != wanted.history:
        return "another history"
    left = [path.name for path in run.rglob("*") if path.name.endswith((".part", ".tmp"))]
    return f"left behind: {', '.join(left)}" if left else ""
