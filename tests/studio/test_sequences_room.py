"""The room of sequences in a real browser: every tab opens, every control changes what is shown."""

import re
from typing import Any

import pytest

Page = Any  # playwright's, where it is installed

TEXT = "to be or not to be, that is the question. whether it is nobler in the mind to suffer. " * 14


def changes(page: Page, selector: str, before: str) -> None:
    """Wait until the text of an element is another one."""
    page.wait_for_function(
        "([selector, before]) => document.querySelector(selector)?.textContent !== before",
        arg=[selector, before],
    )


def opened(page: Page, studio: Any, query: str) -> None:
    page.goto(studio.address(f"sequences?{query}"))


def slide(page: Page, label: str, key: str = "ArrowRight") -> None:
    """One step of a slider, by the keyboard."""
    page.get_by_label(label, exact=True).press(key)


def test_it_trains_then_writes_and_the_sliders_act_at_once(page: Page, studio: Any) -> None:
    opened(page, studio, "corpus=course&prompt=the")
    page.locator(".written b").first.wait_for()  # a first sample
    page.get_by_role("button", name="Pause").click()
    step = page.locator("text=/^step \\d+/").first.text_content()
    page.get_by_role("button", name="Step").click()
    page.wait_for_function(
        "before => ![...document.querySelectorAll('.steady')].some(e => e.textContent === before)",
        arg=step,
    )
    page.get_by_role("button", name="Write now").click()
    page.get_by_role("button", name="Train on").wait_for()
    written = page.locator(".written").text_content()
    page.get_by_role("button", name="Step").click()
    changes(page, ".written", written)
    bar = page.locator(".bars li").first.text_content()
    page.get_by_label("Temperature τ").fill("0")
    page.locator(".bars li.chosen", has_text="100 %").wait_for()
    changes(page, ".bars li", bar)
    assert "temperature=0" in page.url
    page.get_by_label("Temperature τ").fill("1")
    page.get_by_label("Top k").fill("2")
    page.locator("text=/^2 of the characters/").wait_for()
    page.get_by_label("Prompt").fill("Ω")
    page.get_by_label("Prompt").blur()
    page.locator(".remark.bad", has_text="never seen").wait_for()


def test_the_maps_follow_the_text_the_head_and_the_token(page: Page, studio: Any) -> None:
    opened(page, studio, "tab=attention&corpus=course&attended=the%20network")
    page.locator(".token").nth(10).wait_for()
    assert page.locator(".head").count() == 8
    before = page.locator("text=/looks at/").text_content()
    page.locator(".token").nth(2).focus()
    page.locator("text=/^“e” \\(3\\) looks at/").wait_for()
    assert page.locator("text=/looks at/").text_content() != before
    assert page.locator(".token.masked").count() == 8
    page.get_by_role("button", name="Show layer 2, head 3").click()
    page.get_by_role("heading", name="Layer 2, head 3").wait_for()
    page.get_by_label(re.compile("^Text, up to")).fill("a loss")
    page.get_by_label(re.compile("^Text, up to")).blur()
    page.wait_for_function("() => document.querySelectorAll('.token').length === 6")
    page.get_by_label("Model").select_option("lru")
    page.locator(".remark", has_text="no attention").wait_for()


def test_the_maps_of_bert_follow_the_sentence(page: Page, studio: Any) -> None:
    pytest.importorskip("tokenizers")
    opened(page, studio, "tab=attention&reader=bert&blanks=the%20cat%20sees%20a%20[MASK]")
    page.locator(".token", has_text="[MASK]").focus()
    page.locator("text=/^“\\[MASK\\]” \\(6\\) looks at/").wait_for()
    assert page.locator(".token.masked").count() == 0
    page.get_by_label("A sentence, with or").fill("a cat")
    page.get_by_label("A sentence, with or").blur()
    page.wait_for_function("() => document.querySelectorAll('.token').length === 4")
    page.get_by_label("Which").select_option("gpt")
    page.wait_for_function("() => document.querySelectorAll('.token').length > 10")
    assert page.locator(".token.masked").count() == 0  # the last character sees all others


def test_a_sentence_is_translated_while_the_network_learns(page: Page, studio: Any) -> None:
    opened(page, studio, "tab=translation")
    page.locator(".word").first.wait_for()
    assert "Alignment of" in page.locator("canvas.map").get_attribute("aria-label")
    page.get_by_label("English").fill("the zebra sees a dog")
    page.get_by_label("English").blur()
    page.wait_for_function(
        "() => document.querySelector('canvas.map').getAttribute('aria-label').includes('zebra')"
    )
    page.get_by_label("Model").select_option("seq2seq")
    page.wait_for_function(
        "() => document.querySelector('canvas.map').ariaLabel.startsWith('No alignment')"
    )
    page.get_by_label("Learns").select_option("numbers")
    page.get_by_label("A number below a thousand, in words").wait_for()


def test_blanks_are_filled_for_the_text_of_the_user(page: Page, studio: Any) -> None:
    pytest.importorskip("tokenizers")
    opened(page, studio, "tab=masking")
    page.locator(".blanks li").nth(19).wait_for()
    page.get_by_label("A sentence with [MASK] in it").fill("no blank")
    page.get_by_label("A sentence with [MASK] in it").blur()
    page.locator(".remark.bad", has_text="[MASK]").wait_for()
    page.get_by_label("Reads").select_option("own")
    page.get_by_label(re.compile("^Your text")).fill(TEXT)
    page.get_by_label("A sentence with [MASK] in it").fill("that is the [MASK] .")
    page.get_by_label("A sentence with [MASK] in it").blur()
    page.wait_for_function("() => document.querySelectorAll('.blanks li').length === 10")
    page.locator("text=/your text: /").wait_for()


def test_gradients_follow_the_sliders(page: Page, studio: Any) -> None:
    opened(page, studio, "tab=gradients&scale=0.5&steps=20")
    page.locator(".numbers dd").nth(1).wait_for()
    for label in ("σ₁ of the recurrent weights", "Size of the inputs", "Steps T", "Units"):
        before = page.locator(".numbers").text_content()
        slide(page, label)
        changes(page, ".numbers", before)
    before = page.locator(".numbers").text_content()
    page.get_by_label("Bounds").select_option("lstm")
    changes(page, ".numbers", before)
    before = page.locator(".numbers").text_content()
    slide(page, "Bias of the gate that keeps")
    changes(page, ".numbers", before)
    assert "cell=lstm" in page.url and "scale=0.55" in page.url


def test_leaving_a_tab_keeps_its_network_and_leaving_the_room_ends_it(
    page: Page, studio: Any
) -> None:
    opened(page, studio, "tab=translation")
    page.locator(".word").first.wait_for()
    page.get_by_role("tab", name="Gradients through time").click()
    page.locator(".numbers dd").first.wait_for()
    step = page.locator("text=/^step \\d+ · /").text_content()
    page.wait_for_timeout(300)
    assert int(re.findall(r"\d+", page.locator("text=/^step \\d+ · /").text_content())[0]) <= (
        int(re.findall(r"\d+", step)[0]) + 50
    )
    page.get_by_role("tab", name="Translation").click()
    assert page.locator(".word").count()
    page.get_by_role("link", name="Home", exact=True).click()
    page.wait_for_function("() => document.querySelector('main').dataset.room === 'home'")
