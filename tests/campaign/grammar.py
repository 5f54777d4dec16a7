"""Command lines that are nearly right: words missing, doubled, misspelled, contradictory, absurd.

Right is: exit code 0, or 2 with one sentence.
"""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from campaign import runs
from campaign.attempt import Attack, Found, Outcome
from campaign.files import good_copies
from campaign.program import called, judged
from chainrule.cli.words import is_number

LINES = (
    *(f"train {setting}" for setting in runs.SETTINGS),
    "lr moons-mlp --steps 5",
    "tune moons-mlp --trials 2 --folds 2 --epochs 1",
    "tune --resume nowhere",
    "resume run --quiet",
    "resume stopped --no-pictures",
    "evaluate run",
    "predict run one.png",
    "predict rows table.csv --out answers.csv",
    "generate nowhere --prompt x --length 5 --temperature 0.5 --top-k 3 --top-p 0.9",
    "distill run digits-mlp --epochs 1 --no-pictures --quiet --temperature 2",
    "train digits-mlp --from run --freeze layers.0.* --epochs 1 --hidden 4 --no-pictures",
    "lab novikoff --trials 2",
    "lab xor cover",
    "list models --search attention",
    "list --json",
    "show hopfield --json",
    "show mlp --graph graph.svg",
    "show J 3.1",
    "runs run rows --compare",
)
COUNTS = ("--epochs", "--trials", "--steps", "--length", "--agents", "--epoch-steps", "--folds",
          "--episodes", "--test-episodes", "--members", "--num-samples", "--seeds")  # fmt: skip
MUCH = 300
TRAINING = (
    "--learning-rate", "--batch-size", "--seed", "--dropout", "--momentum", "--weight-decay",
    "--label-smoothing", "--accumulate", "--final-rate", "--patience", "--threads", "--hidden",
    "--members", "--ema-decay", "--beta2", "--class-weights", "--sampling", "--length", "--steps",
)  # fmt: skip
VALUES = (
    "", " ", "0", "-1", "1", "1.5", "-0.0", "nan", "inf", "-inf", "1e400", "1e-400", "9" * 30,
    "9" * 5000, "0x10", "1_0", "true", "None", "x", "é", "→", "\udcff", "-", "--", "-x", "--x",
    "a b", "'", '"', "*", "~", "/", "/dev/null", "table.csv", "../..", "x" * 3000, "=", "=1", "1=1",
    "a=1:2", "constant", "adam", "cpu", "cuda:99", "tpu", "\n", "\t",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1", "2", "3", "-0.0", "0.5", "1.5", "1e-300", "1e300", "nan", "inf", "-inf",
    "2147483648", "9223372036854775807", "9223372036854775808", "100000", "9" * 30,
)  # fmt: skip
Change = Callable[[list[str], random.Random], list[str]]


def lost(words: list[str], draw: random.Random) -> list[str]:
    place = draw.randrange(len(words))
    return words[:place] + words[place + 1 :]


def doubled(words: list[str], draw: random.Random) -> list[str]:
    place = draw.randrange(len(words))
    return [*words, *words[place : place + draw.choice((1, 2))]]


def misspelled(words: list[str], draw: random.Random) -> list[str]:
    place = draw.randrange(len(words))
    word = words[place]
    at = draw.randrange(len(word) + 1)
    slips = (word[:at] + word[at + 1 :], word[:at] + "x" + word[at:], word.upper(), word[::-1])
    return [*words[:place], draw.choice(slips), *words[place + 1 :]]


def replaced(words: list[str], draw: random.Random) -> list[str]:
    place = draw.randrange(len(words))
    return [*words[:place], draw.choice(VALUES), *words[place + 1 :]]


def value_replaced(words: list[str], draw: random.Random) -> list[str]:
    """A value that follows a flag."""
    places = [k for k, word in enumerate(words) if k and words[k - 1].startswith("--")]
    if not places:
        return replaced(words, draw)
    place = draw.choice(places)
    return [*words[:place], draw.choice(VALUES), *words[place + 1 :]]


def number_replaced(words: list[str], draw: random.Random) -> list[str]:
    """Another number, which the parser takes."""
    places = [k for k, word in enumerate(words) if word.strip("-")[:1].isdigit()]
    if not places:
        return value_replaced(words, draw)
    place = draw.choice(places)
    return [*words[:place], draw.choice(NUMBERS), *words[place + 1 :]]


def joined(words: list[str], draw: random.Random) -> list[str]:
    """A flag of another command, or one of the same with an absurd value."""
    flags = sorted({word for line in LINES for word in line.split() if word.startswith("--")})
    return [*words, draw.choice(flags), *draw.choices(VALUES, k=draw.choice((0, 1, 1, 2)))]


def further(words: list[str], draw: random.Random) -> list[str]:
    """A flag of training with a number."""
    flag = draw.choice(TRAINING)
    return [*words, flag, draw.choice(NUMBERS)]


def exchanged(words: list[str], draw: random.Random) -> list[str]:
    a, b = draw.randrange(len(words)), draw.randrange(len(words))
    words = list(words)
    words[a], words[b] = words[b], words[a]
    return words


def contradicting(words: list[str], draw: random.Random) -> list[str]:
    pairs = ("--json --quiet", "--all", "--resume x", "--compare", "--members 3 --teacher x",
             "--from x --freeze *", "--out table.csv", "--data table.csv", "--record")  # fmt: skip
    return [*words, *draw.choice(pairs).split()]


CHANGES: tuple[Change, ...] = (
    lost, doubled, misspelled, replaced, value_replaced, number_replaced, number_replaced, joined,
    exchanged, contradicting, further,
)  # fmt: skip


def attempt(number: int, draw: random.Random, folder: Path) -> Found:
    good_copies(folder)
    words = LINES[number % len(LINES)].split()
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        words = draw.choice(CHANGES)(words, draw) or ["list"]
    if not asks_for_much(words):
        return judged(called(words, folder, limit=120))
    call = called(words, folder, limit=10)
    return Found(Outcome.RIGHT) if call.ended.hung else judged(call)


def asks_for_much(words: list[str]) -> bool:
    """Whether the line, rightly understood, takes hours."""
    return any(
        flag in COUNTS and is_number(value, float) and float(value) > MUCH
        for flag, value in pairwise(words)
    )


ATTACK = Attack("command lines", attempt, small=24, full=2000)
