"""The built site in a real browser: pages open, equations are set, nothing leaves the machine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium, strict_tab

SITE = Path(__file__).parents[2] / "build" / "docs"
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
