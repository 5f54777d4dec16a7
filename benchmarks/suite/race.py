"""A race: contenders take turns, round by round, until the ratios are known or time is up."""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.suite import machine
from benchmarks.suite.contract import Contender, Race, ours
from benchmarks.suite.process import ROOT, Failed, Process
from benchmarks.suite.statistics import LEAST, drift, median_interval, narrow, ratios

WIDTH = 0.05  # of the interval of a ratio, as a share of it
FAR, FAR_WIDTH = 2.0, 0.3  # from this ratio on it need not be known so well
DISTANT, DISTANT_ROUNDS = 5.0, 3  # whoever takes so much longer in so many rounds leaves
CEILING = 5  # times the seconds of a case, within which everybody gets as many rounds as needed
AT_ONCE = 2  # processes that start beside each other
OURS = "chainrule"  # how the names of our contenders begin
USUAL = {"GOMP_SPINCOUNT": "300000"}  # libgomp's own, which this library lowers for itself alone
Say = Callable[[str], None]


@dataclass(frozen=True)
class Rules:
    """How long and with how much."""

    threads: int
    seconds: float = 20.0
    """Of one case, without the time in which its processes start.

    A case goes on beyond them, up to `CEILING` times as long, until every interval has the rounds
    that 95 % confidence needs.
    """
    most_rounds: int = 60
    peers: tuple[str, ...] = ()
    """Words of which the name of a peer must have one; empty: all peers."""
    against: Path | None = None
    """Another checkout, which races as a contender of its own."""


@dataclass
class Runner:
    """A contender that takes part."""

    name: str
    contender: Contender
    process: Process
    parameters: int | None = None
    quality: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    sources: list[str] = field(default_factory=list)
    failed: str = ""


@dataclass(frozen=True)
class Raced:
    """What one case of a race found."""

    case: str
    runners: list[Runner]
    skipped: dict[str, str]
    limits: list[dict[str, float]]
    others: list[float]
    """Share of the cores that other processes took, unit by unit."""


def race(name: str, row: Race, case: str, rules: Rules, say: Say) -> Raced:
    """All rounds of one case."""
    entered, skipped = entrants(row, case, rules)
    raced = Raced(case, [], skipped, [], [])
    with running(name, case, entered, rules) as (runners, limits):
        raced.runners.extend(runners)
        for runner in runners:
            say(f"{runner.name}: warming up")
            attempt(runner, lambda r=runner: warm(r, row))
        rounds(raced, row, limits, rules, say)
        for runner in runners:
            attempt(runner, lambda r=runner: finish(r))
    return raced


def entrants(row: Race, case: str, rules: Rules) -> tuple[dict[str, Contender], dict[str, str]]:
    """Who takes part, and why the others do not."""
    found, skipped = {}, {}
    for name, contender in row.contenders.items():
        if contender.cases and case not in contender.cases:
            continue
        wanted = not rules.peers or any(word.lower() in name.lower() for word in rules.peers)
        if name != ours(row) and not wanted:
            continue
        if absent := machine.missing(contender.needs):
            skipped[name] = f"{' and '.join(absent)} not installed"
        else:
            found[name] = contender
    return found, skipped


@contextmanager
def running(
    name: str, case: str, entered: dict[str, Contender], rules: Rules
) -> Iterator[tuple[list[Runner], Process]]:
    """The processes of all contenders and of the limits; ended whatever happens."""
    opened: list[Process] = []

    def opening(who: str, contender: Contender, source: Path, row: str = name) -> Process:
        usual = {} if who.startswith(OURS) else USUAL
        environment = usual | dict(contender.environment)
        process = Process(
            row, case, who, threads=rules.threads, environment=environment, source=source
        )
        opened.append(process)
        return process

    runners: list[Runner] = []
    wanted = [(who, who, contender, ROOT / "src") for who, contender in entered.items()]
    if rules.against is not None:
        first = next(iter(entered))
        label = f"{first} of {rules.against.name}"
        wanted.insert(1, (label, first, entered[first], rules.against / "src"))
    try:
        limits = opening("", Contender(build=dict), ROOT / "src", "limits")
        for place in range(0, len(wanted), AT_ONCE):
            some = [
                Runner(label, contender, opening(who, contender, source))
                for label, who, contender, source in wanted[place : place + AT_ONCE]
            ]
            for runner in some:
                attempt(runner, lambda r=runner: built(r))
            runners += some
        limits.answer()
        yield runners, limits
    finally:
        for process in opened:
            process.kill()


def attempt(runner: Runner, call: Callable[[], None]) -> None:
    """Note a failure; who has failed takes no further part."""
    if not runner.failed:
        try:
            call()
        except Failed as reason:
            runner.failed = str(reason)


def built(runner: Runner) -> None:
    runner.parameters = runner.process.answer()["parameters"]


def warm(runner: Runner, row: Race) -> None:
    """A unit that is not timed, and the figures of quality."""
    runner.process.told("unit")
    for seed in range(row.quality.seeds if row.quality else 0):
        found = runner.process.told(f"quality {seed}")["quality"]
        runner.quality += [] if found is None else [found]


def finish(runner: Runner) -> None:
    last = runner.process.stop()
    runner.peak, runner.sources = last["peak_bytes"], last["sources"]


def rounds(raced: Raced, row: Race, limits: Process, rules: Rules, say: Say) -> None:
    """Every round in another order, so that nobody always follows the same neighbor.

    A peer whose ratio is known leaves the race, which gives the close ones more rounds.
    """
    draw, began = random.Random(0), time.perf_counter()
    own = raced.runners[0]
    racing = [runner for runner in raced.runners if not runner.failed]
    for number in range(rules.most_rounds):
        raced.limits.append(limits.told("unit"))
        for runner in draw.sample(racing, len(racing)):
            attempt(runner, lambda r=runner: timed(r, raced))
        racing = still_racing(racing, own)
        spent = time.perf_counter() - began
        say(f"round {number + 1}, {spent:.0f} s, {max(0, len(racing) - 1)} peers undecided")
        enough = number + 1 >= min(LEAST, rules.most_rounds)
        limit = rules.seconds * (1 if enough else CEILING)
        if own.failed or len(racing) < 2 or spent * (number + 2) / (number + 1) > limit:
            return


def timed(runner: Runner, raced: Raced) -> None:
    """One unit, and what the rest of the machine did meanwhile."""
    before = machine.clock()
    answer = runner.process.told("unit")
    other = machine.others(before, machine.clock(), answer["own"])
    runner.seconds.append(answer["seconds"])
    raced.others.extend([] if other is None else [other])


def still_racing(racing: Iterable[Runner], own: Runner) -> list[Runner]:
    """Those whose ratio to ours is not known well enough."""
    return [
        runner
        for runner in racing
        if not runner.failed and (runner is own or not known(ratios(runner.seconds, own.seconds)))
    ]


def known(values: list[float]) -> bool:
    """Whether more rounds would tell a reader nothing new."""
    if len(values) >= DISTANT_ROUNDS and min(values) > DISTANT:
        return True
    far = len(values) >= LEAST and median_interval(values).low > FAR
    return narrow(values, FAR_WIDTH if far else WIDTH)


def disturbance(raced: Raced) -> list[str]:
    """What a reader must know about the machine during the run."""
    found = []
    busy = median(raced.others) if raced.others else 0.0
    if busy > machine.BUSY:
        found.append(f"busy machine: other processes took {100 * busy:.0f} % of the cores")
    rates = [rate["float32"] for rate in raced.limits]
    if len(rates) > 2 and abs(change := drift(rates)) > machine.DRIFT:
        found.append(f"the rate of a product changed by {100 * change:+.0f} % during the run")
    return found


def summary(raced: Raced) -> dict[str, Any]:
    """Limits and disturbance of a case, for its record."""
    rates = {k: max(r[k] for r in raced.limits) for k in raced.limits[0]} if raced.limits else {}
    return {
        "others": round(median(raced.others), 4) if raced.others else None,
        "disturbed": disturbance(raced),
        "limits": {name: float(f"{rate:.4g}") for name, rate in rates.items()},
    }
