"""Graphs and decisions in a real browser: every tab opens, every control changes what is shown."""

from typing import Any

import pytest

from tests.studio.conftest import Studio

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect


def select(page: Any, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).select_option(label=text)


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def in_address(page: Any, part: str) -> None:
    page.wait_for_function("part => location.hash.includes(part)", arg=part)


def test_a_signal_is_followed_on_a_graph_that_the_user_edits(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs"))
    facts, nodes = page.locator(".facts"), page.locator("svg.graph .node")
    expect(facts).to_contain_text("nodes within 2 edges26")
    press(page, "Hop ▸")
    expect(facts).to_contain_text("nodes within 3 edges34")
    select(page, "Graph", "path")
    expect(nodes).to_have_count(10)
    expect(facts).to_contain_text("nodes reached (measured)4")
    nodes.nth(5).click()
    expect(facts).to_contain_text("nodes reached (measured)7")
    in_address(page, "source=5")
    for how in ("maximum", "sum", "attention", "mean"):
        before = nodes.nth(5).get_attribute("aria-label")
        select(page, "Aggregation", how)
        expect(nodes.nth(5)).not_to_have_attribute("aria-label", before)
    press(page, "+ node")
    expect(nodes).to_have_count(11)
    edges = page.locator("svg.graph .edge")
    expect(edges).to_have_count(9)
    nodes.nth(10).press("e")
    nodes.nth(5).press("e")  # the keyboard joins them
    expect(edges).to_have_count(10)
    expect(facts).to_contain_text("nodes reached (measured)8")
    link = page.evaluate("location.href")
    nodes.nth(0).press("Delete")
    expect(nodes).to_have_count(10)
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("svg.graph .node")).to_have_count(11)
    expect(page.locator(".depth .figure")).to_be_visible()


def test_a_graph_is_drawn_with_the_mouse(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs?tab=messages&graph=drawn&drawn=20.50_80.50-"))
    nodes, edges = page.locator("svg.graph .node"), page.locator("svg.graph .edge")
    expect(nodes).to_have_count(2)
    press(page, "Draw")
    one, other = (nodes.nth(k).bounding_box() for k in range(2))
    page.mouse.move(one["x"] + 15, one["y"] + 15)
    page.mouse.down()
    page.mouse.move(other["x"] + 15, other["y"] + 15, steps=3)
    page.mouse.up()
    expect(edges).to_have_count(1)
    for height in (90, 150, 210):  # quicker than the server answers
        page.mouse.click((one["x"] + other["x"]) / 2, one["y"] - height)
    expect(nodes).to_have_count(5)
    press(page, "Delete")
    page.mouse.click(one["x"] + 15, one["y"] + 15)
    expect(nodes).to_have_count(4)
    expect(edges).to_have_count(0)


def test_colors_are_refined_until_the_verdict(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs?tab=colors"))
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("Round 1 of 2: 2 colors. The counts agree so far.")
    press(page, "Refine ▸")
    expect(verdict).to_contain_text("may be isomorphic. In fact they are not.")
    select(page, "Pair", "karate club, renumbered")
    expect(verdict).to_contain_text("In fact they are.")
    select(page, "Pair", "star, path")
    expect(verdict).to_contain_text("the graphs are not isomorphic")
    select(page, "Pair", "hexagon, 2 triangles")
    expect(verdict).to_contain_text("may be isomorphic")
    triangles = page.locator("svg.graph").nth(1).locator(".node")
    triangles.nth(0).press("e")
    triangles.nth(3).press("e")  # one more edge
    expect(verdict).to_contain_text("Round 2")
    expect(verdict).to_contain_text("not isomorphic")
    in_address(page, "pair=drawn")


def test_the_club_is_learned_step_by_step(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs?tab=karate"))
    said = page.locator(".said")
    expect(said).to_contain_text("accuracy 9")
    press(page, "Pause")
    page.wait_for_timeout(300)
    count = int(said.inner_text().split()[0])
    press(page, "Step")
    expect(said).to_contain_text(f"{count + 1} updates")
    expect(page.locator("svg.graph .node")).to_have_count(34)
    select(page, "Network", "attention (GAT)")
    expect(page.locator(".equation")).to_contain_text("q_mn")
    expect(said).not_to_contain_text(f"{count + 1} updates")
    page.get_by_label("Labels per side").press("ArrowRight")
    in_address(page, "labels=2")


def test_a_world_is_edited_planned_and_walked(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs?tab=grid&speed=20&map=...G_.w.X_S..."))
    facts, canvas = page.locator(".facts"), page.locator("canvas.world")
    expect(facts).to_contain_text("0.759")
    expect(facts).to_contain_text("converged")
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 20, box["y"] + box["height"] / 2)  # a wall below the corner
    in_address(page, "map=...G_ww.X_S...")
    expect(facts).not_to_contain_text("0.759")
    expect(facts).to_contain_text("converged")
    canvas.press("ArrowDown")
    canvas.press(".")  # the keyboard takes it away
    in_address(page, "map=...G_.w.X_S...")
    expect(page.locator(".key")).to_contain_text("Row 2, column 1: ground")
    select(page, "Method", "policy iteration")
    expect(facts).to_contain_text("actions changed0")
    page.get_by_label("Slip probability").press("ArrowRight")
    in_address(page, "slip=0.25")
    for method in ("Q-learning", "SARSA"):
        select(page, "Method", method)
        expect(facts).to_contain_text("value of the best policy")
        expect(page.locator(".u-legend")).to_contain_text("mean of 20")


def test_cart_pole_is_played_by_the_agent_and_by_hand(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs?tab=cart"))
    facts = page.locator(".facts")
    expect(facts).to_contain_text("updates")
    before = facts.inner_text()
    expect(facts).not_to_have_text(before)
    press(page, "Play yourself")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status").filter(has_text="You")).to_contain_text("You: last")
    press(page, "Let the agent play")
    select(page, "Targets", "DQN")
    expect(page.locator(".equation")).to_contain_text("max_a'")
    press(page, "Pause")


def test_tabs_change_by_keys_and_leave_nothing_behind(page: Any, studio: Studio) -> None:
    page.goto(studio.address("graphs"))
    first = page.get_by_role("tab", name="Message passing")
    expect(first).to_have_attribute("aria-selected", "true")
    first.press("ArrowRight")
    expect(page.get_by_role("tab", name="1-WL colors")).to_be_focused()
    expect(page.locator(".verdict")).to_contain_text("Round")
    in_address(page, "tab=colors")
    for name in ("Karate club", "Grid world", "CartPole", "Message passing"):
        page.get_by_role("tab", name=name).click()
        expect(page.locator(".about .equation")).not_to_be_empty()
    expect(page.locator(".notice")).to_have_count(0)
