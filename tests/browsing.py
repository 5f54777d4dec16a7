"""The system's Chromium, driven by Playwright, for tests that look at a page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
PATIENCE = 120_000  # milliseconds that a busy machine may take for anything


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window; where there is none, the test skips and says so."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs Chromium (apt-get install chromium) to look at the page")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=QUIET, timeout=PATIENCE)
        yield found
        found.close()


@contextmanager
def strict_tab(browser: Any, *allowed: str, **options: Any) -> Iterator[Any]:
    """A tab in which a console error, a missing file or a request elsewhere is a failure.

    allowed: how the addresses begin that it may ask for.
    """
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))

    def asked(request: Any) -> None:
        if not request.url.startswith((*allowed, "data:", "blob:")):
            wrong.append(f"asked for {request.url}")

    tab.on("request", asked)
    yield tab
    context.close()
    assert not wrong, wrong
