"""The console without a mouse: ``make test-console``."""

import re

from tests.console.conftest import Visitor


def test_escape_closes_only_the_top_dialog(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    memory = visitor.stack.memory("cora", "bicycle")
    page = visitor.sign_in(path=f"/memories?memory={memory['id']}")
    opener = page.get_by_role("button", name="Correct", exact=True)
    opener.press("Enter")
    expect(page.get_by_role("dialog", name="Correct this memory").get_by_label(re.compile("Content"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Correct this memory")).to_have_count(0)
    expect(opener).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_busy_button_keeps_the_focus(visitor: Visitor) -> None:
    from playwright.sync_api import Route, expect

    page = visitor.sign_in(path="/recall")
    waiting: list[Route] = []
    page.route("**/v1/recall", lambda route: waiting.append(route))
    page.get_by_label("Question").fill("Where does Nora live?")
    button = page.get_by_role("button", name="Recall", exact=True)
    with page.expect_request("**/v1/recall"):
        button.press("Enter")
    expect(button).to_be_disabled()
    expect(button).to_be_focused()
    button.press("Enter")
    waiting[0].continue_()
    expect(button).to_be_enabled()
    expect(button).to_be_focused()
    assert len(waiting) == 1, "a busy button does nothing"
    page.go_back()
    expect(page.get_by_label("Question")).to_have_value("")


def test_a_day_of_a_later_age_is_refused(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.operator_key, path=f"/keys?tenant={visitor.stack.tenant}")
    page.get_by_role("button", name="New key").click()
    form = page.get_by_role("dialog", name=f"New key of {visitor.stack.tenant}")
    form.get_by_label("Label").fill("long")
    expires = form.get_by_label(re.compile("Expires on"))
    expires.fill("202455-06-05")
    form.get_by_role("button", name="Make the key").click()
    assert expires.evaluate("(field) => field.validity.rangeOverflow")
    expect(expires).to_be_focused()
