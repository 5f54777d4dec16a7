"""Every room in a real browser: no errors, no foreign requests, accessible, light enough."""

from pathlib import Path
from typing import Any

import pytest

from tests.studio.conftest import Studio

ROOMS = ("home", "playground", "draw", "sequences", "graphs", "lab", "runs")
STATIC = Path(__file__).parents[2] / "src" / "chainrule" / "studio" / "static"
SERIOUS = ("critical", "serious")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_accessible(page: Any, studio: Studio, room: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.emulate_media(color_scheme=theme)
    page.goto(studio.address(room))
    page.wait_for_selector("main h1, main h2")
    page.wait_for_timeout(800)
    found = axe.Axe().run(page).response["violations"]
    wrong = {
        rule["id"]: [node["target"] for node in rule["nodes"]][:3]
        for rule in found
        if rule["impact"] in SERIOUS
    }
    assert not wrong, wrong


def test_rooms_are_reached_by_keyboard_and_the_theme_is_kept(page: Any, studio: Studio) -> None:
    page.goto(studio.address("home"))
    page.wait_for_selector("h1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.get_by_role("link", name="Lab", exact=True).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.startsWith('#/lab')")
    before = page.evaluate("document.documentElement.dataset.theme")
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    after = page.evaluate("document.documentElement.dataset.theme")
    assert {before, after} == {"light", "dark"}
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == after


def test_the_token_does_not_stay_in_the_address(page: Any, studio: Studio) -> None:
    page.goto(studio.address("home"))
    page.wait_for_selector("h1")
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""


def test_an_unknown_room_is_home_and_an_unknown_entry_a_sentence(page: Any, studio: Studio) -> None:
    page.goto(studio.address("nowhere"))
    page.wait_for_selector("h1:has-text('The whole course')")


def test_the_page_comes_back_by_itself(page: Any, studio: Studio) -> None:
    page.goto(studio.address("lab/xor"))
    page.wait_for_selector(".outcome .good")
    context = page.context
    context.set_offline(True)
    context.set_offline(False)
    page.wait_for_selector("#connection[data-state=connected]", state="attached")


def test_no_user_text_becomes_html_and_no_code_is_written_as_text() -> None:
    for path in STATIC.rglob("*.js"):
        code = path.read_text("utf-8")
        for wrong in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert wrong not in code, f"{path.name}: {wrong}"


UPLOT = 122_000  # bytes


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_weighs_less_than_300_kilobytes(room: str) -> None:
    rooms = STATIC / "rooms"
    shared = [path for path in STATIC.glob("*") if path.is_file()]
    own = [*rooms.glob(f"{room}.*"), *(rooms / room).rglob("*")]
    assert UPLOT + sum(path.stat().st_size for path in (*shared, *own) if path.is_file()) < 300_000


def test_no_room_changes_the_look_of_another(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw"))
    page.wait_for_selector("main h2")
    page.evaluate("location.hash = '#/graphs'")
    page.wait_for_selector("main[data-room=graphs] h2")
    page.wait_for_selector("link[href$='graphs.css']", state="attached")
    disabled = "document.querySelector(\"link[href$='{}.css']\").disabled"
    assert page.evaluate(disabled.format("draw")) and not page.evaluate(disabled.format("graphs"))
