"""The process of one contender: it builds, and then does a unit whenever it is told to.

    python -m benchmarks.suite.worker ROW CASE CONTENDER

Orders are lines on standard input, answers are lines of JSON on what was standard output; whatever
libraries print goes to standard error. An empty CASE with ROW `limits` measures the machine.
"""

import gc
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import IO, Any

from benchmarks.suite import machine, sources
from benchmarks.suite.contract import Growth, Ready, sizes_of

Answer = dict[str, Any]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a library that prints cannot disturb the answers
    warnings.simplefilter("ignore")
    die_with_parent()
    orders = prepared(*sys.argv[1:4], answers)
    for line in sys.stdin:
        order, *words = line.split()
        reply(answers, lambda o=order, w=words: orders[o](*w))  # type: ignore[misc]
        if order == "stop":
            return


def die_with_parent() -> None:
    from chainrule.children import die_with_parent as follow

    follow(os.getppid())


def reply(answers: IO[str], call: Callable[[], Answer]) -> None:
    """Send what the call returns, or why it failed."""
    try:
        answer = call()
    except Exception as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}".split("\n")[0]}
    answers.write(json.dumps(answer) + "\n")


def prepared(
    row: str, case: str, contender: str, answers: IO[str]
) -> dict[str, Callable[..., Answer]]:
    """What this process can be told; its first answer says that it is built."""
    if row == "limits":
        from benchmarks.suite.limits import measurement

        measure = measurement()
        answers.write("{}\n")
        return {"unit": measure, "stop": dict}
    held: dict[str, Any] = {}

    def build() -> Answer:
        from benchmarks.suite.rows import load

        found = load(row)
        if isinstance(found, Growth):
            line = found.lines[contender]
            line.build(min(found.tiny))()  # libraries and thread pools are in memory by now
            machine.forget_peak()
            held["base"] = machine.status("VmRSS")
            held["ready"] = Ready(unit=line.build(int(case)))
        else:
            held["ready"] = found.contenders[contender].build(**sizes_of(found, case))
        held["trial"] = held["ready"].trial
        return {"parameters": held["ready"].parameters}

    reply(answers, build)

    def tuned_unit() -> Answer:
        """A unit; before the first one the number of threads is chosen, if by trial."""
        if trial := held.pop("trial", None):
            from benchmarks.suite.tuning import choose_threads

            choose_threads(trial)
        return unit(held["ready"].unit)

    return {
        "unit": tuned_unit,
        "quality": lambda seed: quality(held["ready"], int(seed)),
        "stop": lambda: {
            "peak_bytes": machine.peak_bytes(),
            "base_bytes": held.get("base", 0),
            "sources": sources.loaded(),
        },
    }


def unit(call: Callable[[], float | None]) -> Answer:
    """One timed unit, with the processor time that it took."""
    used, began = machine.own_seconds(), time.perf_counter()
    seconds = call()
    took = time.perf_counter() - began
    took = seconds if isinstance(seconds, float) else took
    return {"seconds": took, "own": machine.own_seconds() - used}


def quality(ready: Any, seed: int) -> Answer:
    """The figure; the memory of its own model is given back, as many processes live beside it."""
    found = None if ready.quality is None else float(ready.quality(seed))
    gc.collect()
    machine.give_back_memory()
    return {"quality": found}


if __name__ == "__main__":
    main()
