"""Every page of the console: accessibility in both colour schemes, and the width of a phone: ``make test-console``."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.console.conftest import Visitor
from tests.console.console_stack import ConsoleStack

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_AXE: Final = Path(__file__).parents[2] / "console" / "node_modules" / "axe-core" / "axe.min.js"
_RUN_AXE: Final = """
async () => {
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await axe.run(document, { runOnly: rules });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}
"""
_PHONE_PX: Final = 380

TENANT_PAGES: Final = (
    "/",
    "/memories",
    "/memories?q=Where+does+Nora+live%3F&user=nora",
    "/entities?entity=user_profile/nora",
    "/recall",
    "/recall?q=Where+does+Nora+live%3F&user=nora&why=m1",
    "/links",
    "/sessions?user=nora",
    "/sessions?session=monday",
    "/dead-letters",
    "/cost",
    "/erasures",
    "/schemas",
    "/schemas?method=amem",
    "/keys",
    "/nowhere",
)
OPERATOR_PAGES: Final = (
    "/",
    "/dead-letters",
    "/cost?by=tenant",
    "/erasures",
    "/schemas?schema=new",
    "/schemas?tenant=TENANT",
    "/keys",
    "/reextractions",
    "/reextractions?generation=again",
    "/keys?tenant=TENANT",
    "/memories",
)


def show(page: "Page", visitor: Visitor, path: str) -> None:
    """Opens a page, and waits until nothing is loading."""
    from playwright.sync_api import expect

    page.goto(visitor.stack.console + path)
    page.get_by_role("button", name="Sign out").wait_for()
    expect(page.locator("#main > *").first).to_be_visible()
    expect(page.locator(".animate-pulse, .animate-spin")).to_have_count(0)


def named(path: str) -> str:
    """A path in the name of a picture."""
    return re.sub(r"[^a-z]+", "-", path.lower())[:40].rstrip("-")


def faults(page: "Page") -> list[str]:
    """Violations that axe finds."""
    page.evaluate(_AXE.read_text())
    found: list[str] = page.evaluate(_RUN_AXE)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tenants_pages_are_accessible(visitor: Visitor, scheme: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    page.goto(visitor.stack.console + "/")
    page.get_by_label("API key").wait_for()
    found = {"sign-in": faults(page)}
    visitor.sign_in()
    memory = visitor.stack.memory("nora", "hiking")["id"]
    for path in (*TENANT_PAGES, f"/memories?memory={memory}"):
        show(page, visitor, path)
        found[path] = faults(page)
        visitor.picture(f"{scheme}{named(path)}")
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_operators_pages_are_accessible(visitor: Visitor, scheme: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    visitor.sign_in(visitor.stack.operator_key)
    found = {}
    for path in OPERATOR_PAGES:
        show(page, visitor, path.replace("TENANT", visitor.stack.tenant))
        found[path] = faults(page)
        visitor.picture(f"{scheme}-operator{named(path)}")
    assert {path: each for path, each in found.items() if each} == {}


def test_the_link_graph_is_accessible(visitor: Visitor) -> None:
    page = visitor.sign_in(visitor.stack.graph_key, path="/links")
    page.get_by_role("group", name="Link graph").wait_for()
    assert faults(page) == []


def test_no_page_is_wider_than_a_phone(phone_visitor: Visitor) -> None:
    page = phone_visitor.sign_in()
    memory = phone_visitor.stack.memory("nora", "hiking")["id"]
    wide = {}
    for path in (*TENANT_PAGES, f"/memories?memory={memory}"):
        show(page, phone_visitor, path)
        width = int(page.evaluate("document.documentElement.scrollWidth"))
        if width > _PHONE_PX:
            wide[path] = width
        phone_visitor.picture(f"phone{named(path)}")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Sign out").click()
    phone_visitor.sign_in(phone_visitor.stack.operator_key)
    for path in OPERATOR_PAGES:
        show(page, phone_visitor, path.replace("TENANT", phone_visitor.stack.tenant))
        width = int(page.evaluate("document.documentElement.scrollWidth"))
        if width > _PHONE_PX:
            wide[f"operator {path}"] = width
    assert wide == {}


def test_a_phone_reaches_every_page_through_the_menu(phone_visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = phone_visitor.sign_in()
    page.get_by_role("button", name="Open the menu").click()
    menu = page.get_by_role("dialog", name="Varve")
    assert menu.get_by_role("link").count() == 11
    phone_visitor.picture("phone-menu")
    menu.get_by_role("link", name="Cost").click()
    expect(page.get_by_role("heading", level=1, name="Cost")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_switch_sets_dark_colours(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in()
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Dark").click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    page.get_by_role("button", name="Sign out").wait_for()
    assert page.evaluate(background) == dark


def test_the_policy_blocks_inline_code(browser: "Browser", stack: ConsoleStack) -> None:
    page = Visitor(browser.new_page(), stack).sign_in()
    with page.expect_console_message(lambda message: "script-src" in message.text):
        page.evaluate("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))")
    assert page.evaluate("window.ran") is None
    with page.expect_console_message(lambda message: "style-src" in message.text):
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">x</p>')")
    page.context.close()
