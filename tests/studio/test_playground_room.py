"""The playground in a real browser: every control changes what is shown."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from studio.conftest import Studio

PICTURE = "() => document.querySelector('canvas.plane').toDataURL()"
DIAGRAM = "() => document.querySelector('canvas.network').toDataURL()"


@pytest.fixture
def room(page: "Page", studio: "Studio") -> Callable[..., "Page"]:
    """The room with an address; it has shown its first view."""

    def opened(query: str = "num_samples=60") -> "Page":
        page.goto(studio.address(f"playground?{query}"))
        readings(page, "training loss")
        return page

    return opened


def readings(page: "Page", text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.readings')?.textContent.includes(text)", arg=text
    )


def until(page: "Page", condition: str) -> None:
    page.wait_for_function(f"() => {condition}")


def control(page: "Page", label: str) -> "Locator":
    """The control of that label; the other configuration has one too, which is hidden."""
    return page.get_by_label(label, exact=True).locator("visible=true")


def step_number(page: "Page") -> int:
    return int(re.search(r"\d+", page.locator(".clock").inner_text()).group())  # type: ignore[union-attr]


def wait_for_step(page: "Page", least: int) -> None:
    page.wait_for_function(
        "least => Number(document.querySelector('.clock').textContent.match(/\\d+/)[0]) >= least",
        arg=least,
    )


def changed(page: "Page", look: str, act: Callable[[], Any]) -> None:
    """Something that is drawn differs after the action."""
    before = page.evaluate(look)
    act()
    page.wait_for_function(f"before => ({look})() !== before", arg=before)


def move(page: "Page", label: str, value: float) -> None:
    control(page, label).evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input'));"
        " input.dispatchEvent(new Event('change')); }",
        value,
    )


def test_start_step_pause_and_reset(room: Callable[..., "Page"]) -> None:
    page = room()
    assert step_number(page) == 0
    page.get_by_role("button", name="Step").click()
    wait_for_step(page, 1)
    assert step_number(page) == 1
    changed(page, PICTURE, lambda: page.get_by_role("button", name="Start").click())
    wait_for_step(page, 50)
    page.get_by_role("button", name="Pause").click()
    assert page.locator(".u-legend").inner_text()
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function(
        "() => document.querySelector('.clock').textContent.startsWith('step 0')"
    )


SLOW = """const Fast = WebSocket;
window.WebSocket = class extends Fast {
  set onmessage(hear) { super.onmessage = (event) => setTimeout(() => hear(event), 1000); }
};"""


def test_a_click_before_the_page_is_connected_is_not_lost(page: "Page", studio: "Studio") -> None:
    page.add_init_script(SLOW)
    page.goto(studio.address("playground?num_samples=60"))
    page.get_by_role("button", name="Start").click()
    assert step_number(page) == 0  # nothing has arrived yet
    wait_for_step(page, 5)


def test_every_control_changes_what_is_shown(room: Callable[..., "Page"]) -> None:
    page = room("num_samples=60&layers=1&units=3&activation=relu")
    for label, value in (("points", 100), ("noise", 0.4), ("seed", 3)):
        changed(page, PICTURE, lambda label=label, value=value: move(page, label, value))
    for label, value in (("layers", 2), ("units", 5)):
        changed(page, DIAGRAM, lambda label=label, value=value: move(page, label, value))
    changed(page, DIAGRAM, lambda: control(page, "activation").select_option("tanh"))
    changed(page, PICTURE, lambda: page.get_by_label("held-out points").click())
    changed(page, PICTURE, lambda: control(page, "task").select_option("circles"))
    for name in ("residual-network", "ensemble", "random-forest", "perceptron"):
        changed(page, PICTURE, lambda name=name: control(page, "model").select_option(name))
    assert "perceptron" in page.url
    assert "seed=3" in page.url


def test_a_rate_changed_meanwhile_goes_on_from_the_present_weights(
    room: Callable[..., "Page"],
) -> None:
    page = room()
    page.get_by_role("button", name="Step").click()
    wait_for_step(page, 1)
    move(page, "rate η", 0)
    control(page, "decay μ").select_option("0.01")
    control(page, "optimizer").select_option("sgd")
    page.get_by_role("button", name="Step").click()
    wait_for_step(page, 2)
    page.get_by_role("button", name="As Python").click()
    assert (
        "optimizer='sgd', learning_rate=1.0, weight_decay=0.01"
        in page.locator("dialog pre").inner_text()
    )


def test_linear_regions_are_counted(room: Callable[..., "Page"]) -> None:
    page = room("num_samples=60&layers=1&units=4&activation=relu")
    page.get_by_label("linear regions").click()
    readings(page, "linear regions")


def test_own_points_are_drawn_by_mouse_and_keyboard_and_live_in_the_address(
    room: Callable[..., "Page"], studio: "Studio", page: "Page"
) -> None:
    page.goto(studio.address("playground?data=own&model=perceptron"))
    plane = page.locator("canvas.plane")
    until(page, "document.querySelector('canvas.plane')?.clientWidth > 350")  # it has its style
    plane.click(position={"x": 90, "y": 90})
    page.get_by_label("class 1").click()
    plane.click(position={"x": 250, "y": 250})
    readings(page, "of 2 wrong")
    plane.focus()
    for key in ("ArrowLeft", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    readings(page, "of 3 wrong")
    points = re.search(r"points=(\w+)", page.url).group(1)  # type: ignore[union-attr]
    assert len(points) == 15
    plane.click(position={"x": 90, "y": 90}, modifiers=["Shift"])
    readings(page, "2 points")  # one class is left: nothing to learn
    again = room(f"data=own&points={points}&model=perceptron&num_samples=40")
    readings(again, "of 3 wrong")


def test_a_pasted_csv_becomes_points(room: Callable[..., "Page"]) -> None:
    page = room()
    page.get_by_text("Paste a CSV").click()
    area = page.get_by_label("CSV of x1, x2, label")
    area.fill("x1,x2,label\n1,10,a\n2,20")
    page.get_by_role("button", name="Use these rows").click()
    assert "expected two numbers and a label" in page.locator("#notices").inner_text()
    area.fill("x1,x2,label\n1,10,yes\n2,20,no\n3,5,yes")
    page.get_by_role("button", name="Use these rows").click()
    readings(page, "of 3 wrong")


def test_two_configurations_learn_side_by_side(room: Callable[..., "Page"]) -> None:
    page = room("num_samples=60&b_model=logistic-regression")
    page.get_by_label("compare two").click()
    until(page, "document.querySelectorAll('canvas.plane').length === 2")
    page.get_by_role("tab", name="B").click()
    control(page, "model").select_option("svm")
    until(page, "document.querySelectorAll('.stage h2')[1].textContent.includes('vector machine')")
    until(page, "document.querySelectorAll('.readings')[1].textContent.includes('wrong')")
    assert "b_model=svm" in page.url


def test_both_configurations_are_printed_as_python(room: Callable[..., "Page"]) -> None:
    page = room("num_samples=60&compare=true&b_units=3")
    until(page, "document.querySelectorAll('.readings')[1]?.textContent.includes('training loss')")
    page.get_by_role("button", name="As Python").click()
    text = page.locator("dialog pre").inner_text()
    assert text.index("# Configuration A") < text.index("[8, 8]") < text.index("# Configuration B")
    assert "[3, 3]" in text.partition("# Configuration B")[2]


def test_a_link_reproduces_the_experiment_and_offers_its_code(room: Callable[..., "Page"]) -> None:
    page = room("data=xor&num_samples=80&noise=0.2&layers=1&units=4&learning_rate=0.05&seed=2")
    page.get_by_role("button", name="As command").click()
    text = page.locator("dialog pre").inner_text()
    assert text.startswith("chainrule train xor-mlp --activation tanh --num-samples 80")
    page.get_by_role("button", name="Close").click()
    control(page, "model").select_option("svm")
    until(page, "document.querySelector('.readings').textContent.includes('it has no steps')")
    page.get_by_role("button", name="As command").click()
    assert not page.locator("dialog pre").is_visible()


def test_a_unit_can_be_looked_at_from_the_keyboard(room: Callable[..., "Page"]) -> None:
    page = room()
    page.locator("canvas.network").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".stage h2").inner_text() == "Output of unit 2 in hidden layer 1"
    page.keyboard.press("Escape")
    assert page.locator(".stage h2").inner_text() == "Multi-layer perceptron"


def test_nothing_scrolls_or_moves_at_1280_by_800(room: Callable[..., "Page"]) -> None:
    page = room("data=spirals&num_samples=400&layers=4")
    frame = "() => JSON.stringify(document.querySelector('.bottom').getBoundingClientRect())"
    before = page.evaluate(frame)
    page.get_by_role("button", name="Start").click()
    wait_for_step(page, 20)
    assert page.evaluate(frame) == before
    assert page.evaluate("document.documentElement.scrollHeight") <= 800
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
