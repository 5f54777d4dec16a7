"""The small campaign: every kind of attack, and no attempt that ends as none may end."""

import json
import random
from io import StringIO
from pathlib import Path

from rich.console import Console

from campaign.attacks import ATTACKS
from campaign.attempt import Attack, Found, Outcome
from campaign.driver import Attempt, attacked, found
from campaign.report import failures, record, table, write

SEED = 0


def test_every_attempt_ends_as_it_must() -> None:
    numbers = {kind: range(attack.small) for kind, attack in ATTACKS.items()}
    attempts = list(attacked(numbers, SEED, workers=1))
    assert len(attempts) == sum(map(len, numbers.values()))
    failed = [f"{a.kind} --attempt {a.number}: {a.found}" for a in failures(attempts)]
    assert not failed, "\n".join(failed)


def test_the_whole_campaign_is_as_large_as_it_was_promised() -> None:
    least = {"kills": 500, "changed files": 20_000, "command lines": 500}
    least["misuse"] = 2_000
    assert {kind: ATTACKS[kind].full >= number for kind, number in least.items()} == dict.fromkeys(
        least, True
    )


def test_an_attempt_draws_the_same_whatever_came_before() -> None:
    attack = ATTACKS["kills"]
    assert attack.draws(1, 2).random() == attack.draws(1, 2).random()
    assert attack.draws(1, 2).random() != attack.draws(1, 3).random()


def test_a_fault_of_an_attack_is_no_success(tmp_path: Path) -> None:
    def attempt(number: int, draw: random.Random, folder: Path) -> Found:
        raise KeyError("x")

    attack = Attack("broken", attempt, 1, 1)
    assert found(attack, 0, random.Random(0), tmp_path).outcome is Outcome.RAW


def test_failures_are_counted_told_and_recorded() -> None:
    done = [
        Attempt("kills", 0, Found(Outcome.RIGHT)),
        Attempt("kills", 1, Found(Outcome.DAMAGE, "other weights")),
        Attempt("orphans", 0, Found(Outcome.REFUSED, "a sentence")),
    ]
    page = StringIO()
    Console(file=page, width=80).print(table(done))
    text = page.getvalue()
    assert "1 silent damage" in text and max(map(len, text.splitlines())) <= 80
    assert [failure.number for failure in failures(done)] == [1]
    kept = record(done, "make campaign", 0, 1.0)
    assert kept["attempts"] == 3 and kept["failures"] == 1
    assert kept["kinds"]["kills"] == {"attempts": 2, "right": 1, "silent damage": 1}
    assert kept["failed"][0]["detail"] == "other weights"


def test_a_record_is_made_kind_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "campaign.json"
    kills = [Attempt("kills", k, Found(Outcome.RIGHT)) for k in range(3)]
    orphans = [Attempt("orphans", 0, Found(Outcome.ORPHAN, "one was left"))]
    write(path, record(kills + orphans, "make campaign", 0, 5.0))
    write(path, record([Attempt("orphans", 0, Found(Outcome.RIGHT))], "make campaign", 0, 2.0))
    found = json.loads(path.read_text())
    assert (found["attempts"], found["failures"], found["seconds"]) == (4, 0, 7)
    assert found["kinds"]["kills"]["right"] == 3 and not found["failed"]
