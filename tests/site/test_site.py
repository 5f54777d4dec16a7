"""The built site in a real browser: pages open, equations are set, nothing leaves the machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium, strict_tab

SITE = Path(__file__).parents[2] / "build" / "docs"
PHONE = 390  # pixels
SERIOUS = ("critical", "serious")
CUT_OFF = """width => [...document.querySelectorAll("article *")].filter(one => {
  if (one.getBoundingClientRect().right <= width + 1 || !one.checkVisibility()) return false;
  for (let box = one; box.matches("article *"); box = box.parentElement)
    if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return false;
  return true;
}).map(one => one.outerHTML.slice(0, 120))"""  # what is cut off and cannot be scrolled to
KINDS = (
    "index.html",
    "guides/first-network.html",
    "guides/own-graph.html",
    "course.html",
    "errata.html",
    "results.html",
    "speed.html",
    "lab.html",
    "studio.html",
    "bad-input.html",
    "reference/index.html",
    "reference/chainrule.html",
    "reference/commands.html",
    "reference/settings.html",
    "reference/errors.html",
    "reference/names.html",
    "reference/gallery.html",
    "reference/models/perceptron.html",
    "reference/environments/grid-world.html",
    "reference/recipes/cora-gcn.html",
    "reference/data/moons.html",
    "reference/claims/novikoff.html",
    "reference/modules/training.loop.html",
    "reference/project/architecture.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not (SITE / "index.html").exists():
        pytest.skip("needs the site: make docs")
    with chromium() as found:
        yield found


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A tab that may read files alone."""
    with strict_tab(browser, "file:", color_scheme=request.param) as tab:
        yield tab


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_each_kind_opens(page: Any, name: str) -> None:
    page.goto((SITE / name).as_uri())
    assert page.locator("h1").first.is_visible()
    assert not page.locator("img:not([alt])").count()


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_each_kind_is_accessible(page: Any, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.goto((SITE / name).as_uri())
    found = axe.Axe().run(page, options={"preload": False}).response["violations"]
    wrong = {
        rule["id"]: [node["target"] for node in rule["nodes"]][:3]
        for rule in found
        if rule["impact"] in SERIOUS
    }
    assert not wrong, wrong


def chapters() -> list[str]:
    """Chapters that have a source."""
    sources = SITE.parents[1].glob("docs/chapters/*.md")
    return sorted(f"chapters/{path.stem}.html" for path in sources)


@pytest.mark.parametrize("name", chapters())
def test_equations_and_pictures_of_a_chapter_are_shown(page: Any, name: str) -> None:
    page.goto((SITE / name).as_uri())
    page.wait_for_selector("mjx-container[display=true] mjx-math")
    assert page.locator("mjx-container").count() >= 20
    assert not page.locator("mjx-merror").count()
    assert page.locator(".cell_output img").count() >= 1
    widths = page.eval_on_selector_all("img", "all => all.map(one => one.naturalWidth)")
    assert all(widths)
    solution = page.locator("details").first
    solution.locator("summary").click()
    assert solution.locator("p").first.is_visible()


def test_the_search_works_without_a_server(page: Any) -> None:
    page.goto((SITE / "search.html").as_uri() + "?q=novikoff")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li").count() >= 2


@pytest.mark.parametrize("name", [*KINDS, *chapters()])
def test_a_page_fits_a_phone(browser: Any, name: str) -> None:
    with strict_tab(browser, "file:", viewport={"width": PHONE, "height": 800}) as page:
        page.goto((SITE / name).as_uri())
        formulas_are_set(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
        assert page.evaluate(CUT_OFF, PHONE) == []


def formulas_are_set(page: Any) -> None:
    """Wait until MathJax has replaced every formula."""
    count = page.locator(".math").count()
    page.wait_for_function(f"document.querySelectorAll('mjx-container').length >= {count}")


def test_solutions_are_printed_and_sources_are_not(page: Any) -> None:
    page.goto((SITE / chapters()[0]).as_uri())
    solution = page.locator("details p").first
    assert not solution.evaluate("one => one.checkVisibility()")
    page.emulate_media(media="print")
    assert solution.evaluate("one => one.checkVisibility()")
    assert solution.bounding_box()["height"] > 10
    page.goto((SITE / "reference/models/perceptron.html").as_uri())
    assert not page.locator("details.source pre").evaluate("one => one.checkVisibility()")


def test_a_chapter_can_be_presented(page: Any) -> None:
    page.goto((SITE / chapters()[0]).as_uri())
    page.locator("a.present-link").click()
    section = page.locator("article section")
    assert page.locator(".present-bar output").inner_text() == f"1 / {section.count()}"
    page.keyboard.press("ArrowRight")
    assert shown(page) == section.nth(1).get_attribute("id") == page.url.partition("#")[2]
    prose = section.nth(1).locator("> p").first
    assert prose.is_visible()
    page.keyboard.press("t")
    assert not prose.is_visible()
    assert section.nth(1).locator(".math-wrapper").first.is_visible()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert shown(page) == section.last.get_attribute("id")
    page.keyboard.press("Escape")
    assert page.locator("h1").is_visible()
    assert page.locator(".present-bar").is_hidden()


def test_a_presentation_has_an_address(page: Any) -> None:
    place = page.goto(f"{(SITE / chapters()[0]).as_uri()}?present#exercises")
    assert place is None or place.ok
    assert shown(page) == "exercises"
    page.reload()
    assert shown(page) == "exercises"


def shown(page: Any) -> str:
    """The section whose heading is the only one on the screen."""
    visible = page.locator("article section > :is(h1, h2, h3):visible")
    assert visible.count() == 1
    return str(visible.locator("..").get_attribute("id"))
