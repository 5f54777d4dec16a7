"""An epoch of the MLP 784-256-128-10 while none, one or two other programs keep a core busy."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks.rows import mlp
from benchmarks.suite import classifiers
from benchmarks.suite.contract import Contender, Quality, Race, Ready

SETTLED = 0.3  # seconds until the others are busy
SPIN = """
import sys
from chainrule.children import die_with_parent
die_with_parent(int(sys.argv[1]))
while True:
    pass
"""


@contextmanager
def neighbors(number: int) -> Iterator[None]:
    """So many processes that never wait; they end with this one."""
    words = [sys.executable, "-c", SPIN, str(os.getpid())]
    others = [subprocess.Popen(words) for _ in range(number)]
    try:
        time.sleep(SETTLED if number else 0)
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def disturbed(contender: Contender) -> Contender:
    """The same with busy neighbors in every unit."""

    def build(busy: int, **sizes: int) -> Ready:
        ready = contender.build(**sizes)

        def unit() -> float:
            with neighbors(busy):
                began = time.perf_counter()
                own = ready.unit()
                took = time.perf_counter() - began
            return own if isinstance(own, float) else took

        return Ready(unit, ready.quality, ready.parameters, ready.trial)

    return Contender(build, contender.needs, contender.environment)


def all_disturbed(build: Callable[..., classifiers.Classifier]) -> dict[str, Contender]:
    without = ("fastai", "JAX", "compile", "skorch", "auto", "autocast")
    found = classifiers.contenders(build, without)
    return {name: disturbed(contender) for name, contender in found.items()}


ROW = Race(
    unit="6,000 images",
    contenders=all_disturbed(mlp.build),
    cases={
        f"{number} busy": {"busy": number, "count": 6000, "learned": 6000, "batch": 128}
        for number in range(3)
    },
    tiny={"busy": 1, "count": 64, "learned": 64, "batch": 32},
    quality=Quality("cross-entropy of held images after 6,000, three seeds", 0.1, seeds=3),
)
