"""Nine claims of nine chapters, checked by `chainrule lab` on all cores, beside one by one."""

import json
import subprocess
import sys
from collections.abc import Callable

from benchmarks.rows.start_up import CHAINRULE
from benchmarks.suite.contract import Contender, Quality, Race, Ready

CLAIMS = (
    "novikoff",
    "barron",
    "nesterov",
    "pooling-invariance",
    "exploding-gradient",
    "attention-cost",
    "over-smoothing",
    "early-stopping",
    "q-learning-limit",
)
ONE_BY_ONE = """
import sys
import chainrule as cr
print(sum(cr.check(name).holds for name in sys.argv[1:]))
"""


def together(claims: int) -> Ready:
    """One command, which shares the claims between the cores."""

    def holding(text: str) -> int:
        return sum(verdict["holds"] for verdict in json.loads(text).values())

    return checking(holding, *CHAINRULE, "lab", *CLAIMS[:claims], "--json")


def one_by_one(claims: int) -> Ready:
    """A loop in one process."""
    return checking(int, sys.executable, "-c", ONE_BY_ONE, *CLAIMS[:claims])


def checking(holding: Callable[[str], int], *words: str) -> Ready:
    """A command, and how many claims hold by what it prints."""

    def printed() -> str:
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return Ready(lambda: printed() is None, lambda _: float(holding(printed())))


ROW = Race(
    unit="nine claims",
    contenders={"chainrule": Contender(together), "chainrule, one by one": Contender(one_by_one)},
    cases={"": {"claims": len(CLAIMS)}},
    tiny={"claims": 1},
    quality=Quality("claims that hold", 0.0),
    starts_processes=True,
)
