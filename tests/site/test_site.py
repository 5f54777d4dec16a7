"""The built site in a real browser: pages open, equations are set, nothing leaves the machine."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parents[2] / "build" / "docs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
KINDS = (
    "index.html",
    "guides/first-network.html",
    "course.html",
    "errata.html",
    "results.html",
    "reference/index.html",
    "reference/chainrule.html",
    "reference/commands.html",
    "reference/names.html",
    "reference/gallery.html",
    "reference/models/perceptron.html",
    "reference/recipes/cora-gcn.html",
    "reference/data/moons.html",
    "reference/claims/novikoff.html",
    "reference/modules/training.loop.html",
    "reference/project/architecture.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright; the site must have been built."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs Chromium (apt-get install chromium) to look at the page")
    if not (SITE / "index.html").exists():
        pytest.skip("needs the site: make docs")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=QUIET)
        yield found
        found.close()


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A tab in which every console error and every request to the network is a failure."""
    context = browser.new_context(color_scheme=request.param)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("requestfailed", lambda asked: wrong.append(f"not found: {asked.url}"))
    tab.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("file:", "data:", "blob:"))
            else wrong.append(f"asked for {asked.url}")
        ),
    )
    yield tab
    context.close()
    assert not wrong, wrong


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_each_kind_opens(page: Any, name: str) -> None:
    page.goto((SITE / name).as_uri())
    assert page.locator("h1").first.is_visible()
    assert not page.locator("img:not([alt])").count()


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


def test_a_page_fits_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((SITE / "reference/models/perceptron.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
