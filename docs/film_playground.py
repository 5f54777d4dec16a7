"""Pictures of the playground for the README, from a real browser.

    python docs/film_playground.py            writes docs/pictures/studio-playground.{png,gif}

Needs the extras `studio` and `dev`, and Chromium.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
TOKEN = "a-token-for-the-film"
ROUTE = "playground?data=spirals&noise=0.02&num_samples=400&activation=relu&learning_rate=0.02"
STILL = "playground?activation=relu&regions=true"
FRAMES, PERIOD = 40, 150  # pictures, milliseconds between two
SIZE = (960, 600)


def main() -> None:
    """Start a studio, watch a network learn, save what is seen."""
    command = [sys.executable, "-m", "chainrule", "studio", "--no-browser", "--token", TOKEN]
    with tempfile.TemporaryDirectory() as runs:
        server = subprocess.Popen(
            [*command, "--runs", runs], stdout=subprocess.PIPE, text=True, cwd=runs
        )
        assert server.stdout is not None
        address = f"{server.stdout.readline().split('/?')[0].split()[-1]}/?token={TOKEN}#/"
        try:
            film(address)
        finally:
            server.terminate()
            server.wait(20)


def film(address: str) -> None:
    with sync_playwright() as driver:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        learn(page, f"{address}{STILL}", 300)
        page.screenshot(path=PICTURES / "studio-playground.png")
        page.goto("about:blank")
        learn(page, f"{address}{ROUTE}&speed=100", 0)
        save([shot(page) for _ in range(FRAMES)])
        browser.close()


def learn(page: Page, address: str, steps: int) -> None:
    """Open the room, start, and wait for so many steps."""
    page.goto(address)
    page.wait_for_function("() => document.querySelector('.readings')?.textContent.length > 40")
    page.get_by_role("button", name="Start").click()
    seen = "Number(document.querySelector('.clock').textContent.match(/\\d+/)[0])"
    page.wait_for_function(f"() => {seen} >= {steps}", timeout=60_000)


def shot(page: Page) -> Image.Image:
    page.wait_for_timeout(PERIOD)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return picture.resize(SIZE, Image.Resampling.LANCZOS)


def save(frames: list[Image.Image]) -> None:
    """An animated picture with one palette for all frames."""
    palette = frames[-1].quantize(96, dither=Image.Dither.NONE)
    reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    reduced[0].save(
        PICTURES / "studio-playground.gif",
        save_all=True,
        append_images=reduced[1:],
        duration=[PERIOD] * (len(reduced) - 1) + [10 * PERIOD],
        loop=0,
        optimize=True,
    )


if __name__ == "__main__":
    main()
