"""Nine claims of nine chapters, checked by `chainrule lab` on all cores, beside one by one."""

import sys

from benchmarks.rows.start_up import CHAINRULE, running
from benchmarks.suite.contract import Contender, Race

CLAIMS = (
    "novikoff",
    "barron",
    "nesterov",
    "pooling-invariance",
    "gated-memory",
    "attention-cost",
    "over-smoothing",
    "early-stopping",
    "q-learning-limit",
)
ONE_BY_ONE = f"import chainrule as cr; [cr.check(name) for name in {CLAIMS}]"

ROW = Race(
    unit="nine claims",
    contenders={
        "chainrule": Contender(running(*CHAINRULE, "lab", *CLAIMS, "--json"), cases=("",)),
        "chainrule, one by one": Contender(running(sys.executable, "-c", ONE_BY_ONE), cases=("",)),
    },
    cases={"": {"epochs": 1}},
    tiny={"epochs": 1},
)
