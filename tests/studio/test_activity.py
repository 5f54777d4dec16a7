"""Settings from a page are checked; activities are played, paused, stepped and shown in time."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("starlette")

from chainrule.errors import InputError
from chainrule.studio.activity import Activity, Json, Range, View, raster, read, rounded
from chainrule.studio.player import LENGTH, PERIOD, Link, Player, activity_named, activity_names


@dataclass(frozen=True)
class Settings:
    units: Annotated[int, Range(1, 8)]
    rate: Annotated[float, Range(0, 1)] = 0.5
    name: Literal["moons", "xor"] = "moons"
    points: tuple[tuple[float, ...], ...] = ()
    seed: Annotated[int | None, Range(0, 9)] = None
    fast: bool = False
    words: dict = field(default_factory=dict)


def test_settings_are_read_as_they_are_declared() -> None:
    found = read(Settings, {"units": 3, "rate": 1, "points": [[1, 2.5]], "words": {"a": 1}})
    assert found == Settings(3, 1.0, points=((1.0, 2.5),), words={"a": 1})
    assert isinstance(found.rate, float)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"units": 0}, {"units": 9}, {"units": 2.5}, {"units": True}, {"units": "3"},
     {"units": None}, {"units": 1, "rate": 1.5}, {"units": 1, "rate": float("nan")},
     {"units": 1, "rate": float("inf")}, {"units": 1, "name": "spirals"}, {"units": 1, "name": 1},
     {"units": 1, "name": ["moons"]}, {"units": 1, "points": 3}, {"units": 1, "points": [3]},
     {"units": 1, "points": [[None]]}, {"units": 1, "points": [[]] * 20_001},
     {"units": 1, "seed": 10},
     {"units": 1, "fast": 1}, {"units": 1, "words": {"a": []}}, {"units": 1, "unknown": 1},
     {"units": 1, "__class__": 1}],
)  # fmt: skip
def test_everything_else_is_refused_in_one_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read(Settings, wrong)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
)


@given(
    st.dictionaries(st.sampled_from(["units", "rate", "name", "points", "seed", "words"]), values)
)
def test_no_settings_raise_anything_but_an_input_error(given: dict[str, Any]) -> None:
    try:
        found = read(Settings, given)
    except InputError:
        return
    assert 1 <= found.units <= 8 and 0 <= found.rate <= 1


def test_a_raster_holds_the_values_as_bytes() -> None:
    import base64

    found = raster(np.array([[-1.0, 0.0], [1.0, np.nan]]), -1, 1)
    assert found["shape"] == [2, 2]
    assert list(base64.b64decode(found["data"])) == [0, 128, 255, 0]
    assert rounded([[1.23456, np.inf], [0, -2e-9]], 3) == [[1.23, None], [0.0, -2e-9]]
    assert rounded(np.float64(2.0)) == 2.0


LAST = 10**9  # where the activity below begins to wait


def counting(settings: Json) -> Activity:
    count = 0
    while True:
        message = yield View(lambda seen=count: {"count": seen}, waiting=count >= LAST)
        count = message["to"] if message else count + 1


class Page:
    """The other end of a player's link."""

    def __init__(self, activity: Activity):
        ours, theirs = socket.socketpair()
        self.socket = ours
        ours.settimeout(10)
        self.thread = threading.Thread(target=self.play, args=(activity, Link(theirs)), daemon=True)
        self.thread.start()

    def play(self, activity: Activity, link: Link) -> None:
        try:
            Player(activity, link).play()
        except (EOFError, OSError):
            link.connection.close()

    def tell(self, kind: str, **more: Any) -> None:
        content = json.dumps({"type": kind, **more}).encode()
        self.socket.sendall(LENGTH.pack(len(content)) + content)

    def hear(self) -> Json:
        (length,) = LENGTH.unpack(self.exactly(LENGTH.size))
        return json.loads(self.exactly(length))

    def exactly(self, size: int) -> bytes:
        content = b""
        while len(content) < size:
            content += self.socket.recv(size - len(content))
        return content

    def view(self) -> Json:
        """The next view, confirmed."""
        message = self.hear()
        assert message["type"] == "view"
        self.tell("seen", number=message["number"])
        return message["content"]

    def silent(self, seconds: float = 4 * PERIOD) -> bool:
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(10)
        return False


@pytest.fixture
def page() -> Iterator[Page]:
    found = Page(counting({}))
    yield found
    found.socket.close()
    found.thread.join(5)
    assert not found.thread.is_alive()


def test_a_view_comes_only_after_the_last_was_confirmed(page: Page) -> None:
    assert page.hear()["content"] == {"count": 0}
    assert page.silent()
    page.tell("seen", number=1)
    assert page.hear()["content"]["count"] > 0


def test_views_are_a_twentieth_of_a_second_apart(page: Page) -> None:
    drawn = []
    for _ in range(5):
        message = page.hear()
        drawn.append(message["at"])
        page.tell("seen", number=message["number"])
    assert min(later - earlier for earlier, later in pairwise(drawn)) >= 0.99 * PERIOD


def test_a_paused_activity_goes_step_by_step(page: Page) -> None:
    page.tell("pause")
    while not page.silent():
        last = page.view()["count"]
    for step in (1, 2, 3):
        page.tell("step")
        assert page.view() == {"count": last + step}
    assert page.silent()
    page.tell("resume")
    assert page.view()["count"] > last + 3


def test_a_message_is_answered_while_paused(page: Page) -> None:
    page.tell("pause")
    while not page.silent():
        page.view()
    page.tell("send", message={"to": 500})
    assert page.view() == {"count": 500}


def test_an_activity_that_waits_is_not_stepped_until_a_message_comes(page: Page) -> None:
    page.tell("send", message={"to": LAST})
    while (found := page.view()) != {"count": LAST}:
        assert found["count"] < LAST
    assert page.silent()
    page.tell("look")  # the page has come back and wants to see it again
    assert page.view() == {"count": LAST}


def test_the_same_view_is_not_shown_again() -> None:
    def still(settings: Json) -> Activity:
        view = View(lambda: {"still": True})
        while True:
            yield view

    page = Page(still({}))
    assert page.view() == {"still": True}
    assert page.silent()
    page.socket.close()


def test_an_activity_that_refuses_says_why_and_ends() -> None:
    def refusing(settings: Json) -> Activity:
        yield View(lambda: {"fine": True})
        raise InputError("the rate must be below 1")

    page = Page(refusing({}))
    page.hear()
    said = [page.hear() for _ in range(3)]
    assert {"type": "error", "message": "the rate must be below 1"} in said
    assert said[-1] == {"type": "ended"}
    page.socket.close()


def test_names_of_activities_are_looked_up_and_never_imported_blindly() -> None:
    assert "claim" in activity_names()
    for name in ("os", "../player", "claim.run", "", "__init__"):
        with pytest.raises(InputError):
            activity_named(name)
