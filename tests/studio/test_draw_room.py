"""The room "Draw and see" in a real browser: every tab, and every control changes what is shown."""

import re
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.studio.conftest import Studio

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
expect = playwright.expect


def png() -> bytes:
    """A picture of a bright square."""
    pixels = np.zeros((40, 60), np.uint8)
    pixels[10:30, 20:40] = 255
    content = BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


PICTURE = {"mimeType": "image/png", "buffer": png()}


def canvas_of(page: Any, selector: str) -> str:
    """What a canvas shows, as a data URL."""
    content: str = page.locator(selector).first.evaluate("canvas => canvas.toDataURL()")
    return content


def changed(page: Any, selector: str, before: str) -> None:
    """Wait until the canvas shows something else."""
    page.wait_for_function(
        "([selector, before]) => document.querySelector(selector).toDataURL() !== before",
        arg=[selector, before],
    )


def test_a_drawn_digit_is_read_and_explained(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?network=mlp"))
    expect(page.locator(".train-status[data-trained=true]")).to_be_visible()
    expect(page.locator(".answer")).to_have_text("3")
    expect(page.locator(".layer")).to_have_count(3)
    page.get_by_role("button", name="Write a 0").click()
    expect(page.locator(".answer")).to_have_text("0")
    page.locator(".pad").press("Delete")
    expect(page.locator(".answer")).to_have_text("draw!")
    box = page.locator(".pad").bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 200, steps=8)
    page.mouse.up()
    expect(page.locator(".answer")).to_have_text("1")
    assert "strokes=" in page.url
    before = canvas_of(page, ".figures figure:nth-child(2) canvas")
    page.get_by_label("Explain").select_option("7")
    changed(page, ".figures figure:nth-child(2) canvas", before)
    before = canvas_of(page, ".figures canvas")
    page.get_by_label("Center and scale").uncheck()
    changed(page, ".figures canvas", before)
    before = canvas_of(page, ".figures canvas")
    page.get_by_role("button", name="Move left").click()
    changed(page, ".figures canvas", before)


def test_a_hopfield_network_recalls_unit_by_unit(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?network=hopfield"))
    verdict = page.locator(".recall-verdict")
    expect(verdict).to_contain_text("the stored 3 is recalled exactly")
    before = canvas_of(page, ".recall-state")
    page.get_by_role("button", name="To the start").click()
    changed(page, ".recall-state", before)
    expect(page.locator(".sweeps figure.now")).to_have_text("cue")
    page.get_by_role("button", name="Next sweep").click()
    expect(page.locator(".sweeps figure.now")).to_have_text("sweep 1")
    page.get_by_role("button", name="Write a 6").click()
    expect(verdict).to_contain_text("the stored 6 is recalled exactly")
    page.locator("#stored-4").check()
    expect(page.locator(".stored figure")).to_have_count(3)
    expect(verdict).to_contain_text("nearest to the stored")
    page.get_by_label("Energy", exact=True).select_option("dense")
    expect(verdict).to_contain_text("the stored 6 is recalled exactly")


def test_a_kernel_is_edited_and_its_products_are_shown(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?tab=convolution"))
    output = ".framed canvas[tabindex]"
    expect(page.locator(".products .sum")).to_be_visible()
    for act in (
        lambda: page.get_by_role("button", name="Laplacian").click(),
        lambda: page.get_by_label("Weight in row 2, column 2").fill("5"),
        lambda: page.get_by_label("Stride").fill("2"),
        lambda: page.get_by_label("Padding").fill("4"),
        lambda: page.get_by_label("Dilation").fill("3"),
        lambda: page.get_by_label("Picture", exact=True).select_option("flower"),
        lambda: page.locator("#own-picture").set_input_files({"name": "a.png", **PICTURE}),
    ):
        before = canvas_of(page, output)
        act()
        page.locator(output).focus()
        changed(page, output, before)
    page.get_by_role("button", name="5 × 5", exact=True).click()
    expect(page.locator(".products td")).to_have_count(25)
    before = page.locator(".products").inner_text()
    page.locator(output).hover(position={"x": 20, "y": 20})
    expect(page.locator(".products")).not_to_have_text(before)
    page.locator(output).click(position={"x": 40, "y": 40})
    expect(page).to_have_url(re.compile("row="))


def test_optimizers_race_and_rates_are_compared(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?tab=descent"))
    rate = page.locator(".rates tr[data-name=gd] td.number").first
    expect(rate).to_have_text("0.9")
    before = canvas_of(page, ".surface")
    page.get_by_role("button", name="Best rate and momentum").click()
    changed(page, ".surface", before)
    page.locator("#race-lion").check()
    expect(page.locator(".rates tbody tr")).to_have_count(5)
    before = canvas_of(page, ".surface")
    page.locator(".surface").click(position={"x": 500, "y": 80})
    changed(page, ".surface", before)
    page.get_by_label("Surface", exact=True).select_option("himmelblau")
    expect(page.get_by_label("h(x, y) =")).to_have_value(re.compile("11"))
    page.get_by_label("h(x, y) =").fill("x^2 + os")
    page.get_by_label("h(x, y) =").press("Enter")
    expect(page.get_by_text("a formula cannot have 'os'")).to_be_visible()
    page.get_by_label("h(x, y) =").fill("x^2 + y^2")
    page.get_by_label("h(x, y) =").press("Enter")
    expect(page.get_by_text("a formula cannot have 'os'")).to_have_count(0)
    expect(page.locator(".rates")).to_contain_text("μ = 2, L = 2")


def test_backpropagation_is_stepped_node_by_node(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?tab=backpropagation"))
    expect(page.locator(".node")).to_have_count(12)
    page.locator("body").press("ArrowRight")
    expect(page.locator(".sentence")).to_contain_text("Forward: mul₁ = mul(w₁, x₁) = -2")
    page.get_by_role("button", name="To the end").click()
    expect(page.locator(".sentence")).to_contain_text("∂ℓ/∂w₁ = -0.2689 · -1 = 0.2689")
    page.locator("[data-name='x₁']").fill("0")
    page.locator("[data-name='x₁']").press("Enter")
    expect(page.locator(".node.input").first).to_contain_text("∂ 0")
    page.get_by_label("Example").select_option("mlp")
    expect(page.locator(".node")).to_have_count(14)
    page.get_by_label("Example").select_option("formula")
    page.get_by_label("ℓ =").fill("a * exp(b)")
    page.get_by_label("ℓ =").press("Enter")
    expect(page.locator(".node")).to_have_count(4)


def test_the_tabs_are_reached_from_the_keyboard(page: Any, studio: Studio) -> None:
    page.goto(studio.address("draw?tab=convolution"))
    page.get_by_role("tab", name="Convolution").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".surface")).to_be_visible()
    assert "tab=descent" in page.url
