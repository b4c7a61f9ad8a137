"""Work in the console that is interrupted, or that others do at the same time: ``make test-console``."""

import re
from typing import Any

from tests.console.conftest import Visitor


def test_an_ended_session_leads_to_sign_in(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/memories?user=nora")
    page.context.clear_cookies()
    page.get_by_label("Search for").fill("rain")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()

    # A page that reads again by itself notices it, too.
    page = visitor.sign_in(path="/")
    page.context.clear_cookies()
    expect(page.get_by_text("Your session has ended")).to_be_visible()


def test_an_ended_session_keeps_what_was_entered(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    memory = visitor.stack.memory("cora", "bicycle")
    page = visitor.sign_in(path=f"/memories?memory={memory['id']}")
    page.get_by_role("button", name="Correct", exact=True).click()
    form = page.get_by_role("dialog", name="Correct this memory")
    form.get_by_label(re.compile("Reason")).fill("a long reason")
    form.get_by_label("Content").fill("I bought a yellow bicycle for my brother.")
    page.context.clear_cookies()
    form.get_by_role("button", name="Save the correction").click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_label("API key").fill(visitor.stack.tenant_key)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your session has ended")).to_have_count(0)
    expect(form.get_by_label("Content")).to_have_value("I bought a yellow bicycle for my brother.")
    expect(form.get_by_label(re.compile("Reason"))).to_have_value("a long reason")
    form.get_by_role("button", name="Cancel").click()
    assert "red" in visitor.stack.memory("cora", "bicycle")["content"], "the refused change was not made"


def test_the_next_key_sees_nothing_of_the_former(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/memories?user=nora")
    page.context.clear_cookies()
    page.get_by_role("button", name=re.compile("I live in Oslo now.")).click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    page.get_by_label("API key").fill(visitor.stack.graph_key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("There is no such memory")).to_be_visible()
    assert page.get_by_text("I live in Oslo now.").count() == 0


def test_two_tabs_with_different_tenants_stay_apart(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page, stack = visitor.sign_in(path="/schemas"), visitor.stack
    editor = page.get_by_label("Schema as JSON")
    expect(editor).to_have_value(re.compile("EventTypes"))
    editor.fill('{"Name": "mine"}')

    # All tabs of a browser share the cookie.
    other = Visitor(page.context.new_page(), stack)
    other.page.goto(stack.console)
    other.page.get_by_role("button", name="Sign out").click()
    other.sign_in(stack.graph_key, path="/memories?user=ann")
    expect(other.page.get_by_text("brown dog").first).to_be_visible()

    # Not a click: a request of the page itself may have noticed it before, and then the dialog covers the button.
    page.get_by_role("button", name="Refresh").dispatch_event("click")
    ended = page.get_by_text("another tab has signed in")
    expect(ended).to_be_visible()
    page.get_by_label("API key").fill(stack.tenant_key)
    page.keyboard.press("Enter")
    expect(ended).to_have_count(0)
    expect(editor).to_have_value('{"Name": "mine"}')
    other.page.get_by_role("button", name="Refresh").click()
    expect(other.page.get_by_text("another tab has signed in")).to_be_visible()
    assert other.complaints == []


def test_another_operators_limits_are_not_overwritten(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    path = f"/v1/admin/tenants/{stack.graph_tenant}"

    def stored() -> dict[str, Any]:
        return dict(stack.call("GET", path, key=stack.operator_key)["quota"])

    stack.call("PATCH", path, {"quota": {"messages_per_second": 50}}, key=stack.operator_key)
    page = visitor.sign_in(stack.operator_key, path=f"/keys?tenant={stack.tenant}")
    page.get_by_label("Tenant", exact=True).select_option(stack.graph_tenant)
    page.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name=f"Quotas and budget of {stack.graph_tenant}")
    form.get_by_label("Recalls per second", exact=True).fill("250")
    stack.call("PATCH", path, {"quota": {"messages_per_second": 80}}, key=stack.operator_key)
    form.get_by_role("button", name="Save").click()
    changed = form.get_by_role("list", name="Limits that were changed")
    expect(changed).to_contain_text("Messages per second: 50 → 80")
    assert stored() == {"messages_per_second": 80}
    visitor.picture("limits-conflict")
    form.get_by_role("button", name="Load them").click()
    expect(form.get_by_label("Messages per second", exact=True)).to_have_value("80")
    expect(form.get_by_label("Recalls per second", exact=True)).to_have_value("250")

    # A new key changes the tenant, but none of its limits.
    stack.call("POST", "/v1/admin/keys", {"tenant": stack.graph_tenant, "label": "meanwhile"}, key=stack.operator_key)
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The limits are stored")).to_be_visible()
    assert stored() == {"messages_per_second": 80, "recalls_per_second": 250}

    # Going back with an open form leads to the other tenant, without the form.
    page.get_by_role("button", name="Edit").click()
    expect(form).to_be_visible()
    page.go_back()
    expect(page.get_by_text(f"budget of the tenant {stack.tenant}.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    stack.call("PATCH", path, {"quota": {}}, key=stack.operator_key)


def test_another_operators_schema_is_not_overwritten(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack

    def put(description: str) -> str:
        content = {
            "Name": "shared",
            "Description": description,
            "EventTypes": [{"EventType": "note", "Description": "Any.", "Properties": []}],
        }
        return str(stack.call("POST", "/v1/admin/schemas", {"content": content}, key=stack.operator_key)["schema"])

    assert put("First.") == "shared@1"
    page = visitor.sign_in(stack.operator_key, path="/schemas?schema=shared@1")
    editor = page.get_by_label("Schema as JSON")
    expect(editor).to_have_value(re.compile("First."))
    editor.fill(editor.input_value().replace("Any.", "Mine."))
    assert put("Second.") == "shared@2"
    page.get_by_role("button", name="Store as a new revision").click()
    form = page.get_by_role("dialog", name="Store the schema")
    form.get_by_role("button", name="Store", exact=True).click()
    expect(form.get_by_role("list", name="Parts that were changed")).to_contain_text('Description: "First." → "Second."')
    visitor.picture("schema-conflict")
    form.get_by_role("button", name="Cancel").click()
    expect(editor).to_have_value(re.compile("Mine."))

    editor.fill(editor.input_value().replace("First.", "Second."))
    page.get_by_role("button", name="Store as a new revision").click()
    form.get_by_role("button", name="Store", exact=True).click()
    expect(page.get_by_text("Stored as shared@3")).to_be_visible()
    # The next change follows the revision that was just stored.
    expect(page.get_by_text("shared@3").first).to_be_visible()
    editor.fill(editor.input_value().replace("Mine.", "Ours."))
    page.get_by_role("button", name="Store as a new revision").click()
    form.get_by_role("button", name="Store", exact=True).click()
    expect(page.get_by_text("Stored as shared@4")).to_be_visible()


def test_one_of_many_tenants_is_found_by_its_name(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page, stack = visitor.page, visitor.stack
    # Pages of one tenant: the test would need hundreds of them.
    page.route("**/v1/admin/tenants?*", lambda route: route.continue_(url=route.request.url.replace("limit=100", "limit=1")))
    visitor.sign_in(stack.operator_key, path="/keys")
    rows = page.get_by_role("table", name="Tenants").locator("tbody tr")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Load more").click()
    expect(rows).to_have_count(2)
    field = page.get_by_label("Tenant", exact=True)
    field.fill(stack.graph_tenant.upper()[1:])
    expect(page.locator("datalist option")).to_have_attribute("value", stack.graph_tenant)
    field.fill(stack.graph_tenant)
    field.press("Enter")
    expect(page.get_by_text(f"budget of the tenant {stack.graph_tenant}.")).to_be_visible()
    expect(field).to_be_focused()
    field.fill("")
    field.press("Enter")
    expect(rows).to_have_count(2)


def test_the_history_of_a_memory_loads_further(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    entity = stack.call("GET", "/v1/memories?user=nora&kinds=entity&types=user_profile&limit=1")["memories"][0]
    # Pages of one step: the test would need hundreds of messages.
    visitor.page.route("**/history?*", lambda route: route.continue_(url=route.request.url.replace("limit=200", "limit=1")))
    page = visitor.sign_in(path=f"/memories?memory={entity['id']}")
    dialog = page.get_by_role("dialog", name="Memory")
    dialog.get_by_role("tab", name="History").click()
    steps = dialog.get_by_role("list", name="History").locator(":scope > li")
    expect(steps).to_have_count(1)
    dialog.get_by_role("button", name="Load more").click()
    expect(steps).to_have_count(2)


def test_a_key_is_made_once_and_always_shown(visitor: Visitor) -> None:
    from playwright.sync_api import Route, expect

    page = visitor.sign_in(visitor.stack.operator_key, path=f"/keys?tenant={visitor.stack.tenant}")
    waiting: list[Route] = []
    page.route("**/v1/admin/keys", lambda route: waiting.append(route) if route.request.method == "POST" else route.continue_())
    page.get_by_role("button", name="New key").click()
    label = page.get_by_role("dialog", name=f"New key of {visitor.stack.tenant}").get_by_label("Label")
    label.fill("impatient")
    with page.expect_request("**/v1/admin/keys"):
        label.press("Enter")
    # Enter does not submit a form whose button is busy.
    expect(page.get_by_role("button", name="Make the key")).to_be_disabled()
    label.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(waiting) == 1
    waiting[0].continue_()
    secret = page.get_by_role("dialog", name="The new key")
    expect(secret.locator("code")).to_have_text(re.compile("^vk_"))
    secret.get_by_role("button", name="I have copied it").click()
    expect(page.get_by_role("row", name=re.compile("impatient"))).to_have_count(1)


def test_texts_of_any_kind_stay_texts_on_a_phone(phone_visitor: Visitor) -> None:
    from playwright.sync_api import expect

    html, long = "<img src=x onerror=alert(1)><script>alert(2)</script>", "n" * 250
    memory = phone_visitor.stack.memory("nora", "hiking")
    changed = {**memory, "content": html + "\u202e\u0627\u0644" * 50, "speaker": html, "type": long, "user": long, "session": long}
    page = phone_visitor.page
    page.on("dialog", lambda dialog: phone_visitor.complaints.append(dialog.message))
    page.route(f"**/v1/memories/{memory['id']}", lambda route: route.fulfill(json=changed))
    phone_visitor.sign_in(path=f"/memories?memory={memory['id']}")
    dialog = page.get_by_role("dialog", name="Memory")
    expect(dialog.get_by_text(html).first).to_be_visible()
    for tab in ("Evidence", "Details", "History", "JSON"):
        dialog.get_by_role("tab", name=re.compile(tab)).click()
        wide = page.evaluate("[...document.querySelectorAll('dialog .overflow-y-auto')].map((each) => each.scrollWidth - each.clientWidth)")
        assert wide == [0], tab
