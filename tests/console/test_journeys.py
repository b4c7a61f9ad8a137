"""Journeys of users through the console, in a real Chromium against a whole stack: ``make test-console``."""

import re
from typing import Any, Final

from tests.console.conftest import Visitor
from tests.varve.varve_process import wait_until

_MINUTE_MS: Final = 60_000


def test_signing_in_and_out(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.page
    page.goto(visitor.stack.console + "/memories?user=nora")
    page.get_by_label("API key").fill("not-a-key")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("does not accept this key")

    page.get_by_label("API key").fill(visitor.stack.tenant_key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memories", exact=True)).to_be_visible()
    assert page.url.endswith("/memories?user=nora")
    expect(page).to_have_title("Memories · Varve console")
    [cookie] = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert visitor.stack.tenant_key not in page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")

    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()
    visitor.picture("sign-in")


def test_an_operator_watches_the_stages(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.operator_key)
    table = page.get_by_role("region", name="Stages")
    for stage in ("sessions", "extraction", "events", "entities", "index"):
        expect(table.get_by_role("row", name=re.compile(f"^{stage}"))).to_be_visible()
    # The first reading has no rates; the page reads again by itself.
    rate = table.get_by_role("row", name=re.compile("^sessions")).get_by_role("cell").nth(2)
    expect(rate).to_have_text(re.compile(r"\d"))
    expect(page.get_by_role("figure", name="Throughput of each stage over time")).to_be_visible()
    visitor.picture("overview")


def test_finding_a_memory_and_its_evidence(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/memories")
    page.get_by_label("User", exact=True).fill("nora")
    page.get_by_label("Kind").select_option("event")
    page.get_by_role("button", name="Apply").click()
    table = page.get_by_role("region", name="Memories")
    expect(table.get_by_text("I live in Oslo now.")).to_be_visible()
    expect(table.get_by_text("Trondheim")).to_have_count(0)

    page.get_by_label("Search for").fill("Who goes hiking?")
    page.get_by_role("button", name="Apply").click()
    expect(table.get_by_role("columnheader", name="Score")).to_be_visible()
    expect(table.get_by_role("row").nth(1)).to_contain_text("hiking on Ulriken")
    table.get_by_role("button", name=re.compile("hiking on Ulriken")).click()

    dialog = page.get_by_role("dialog", name="Memory")
    dialog.get_by_role("tab", name=re.compile("Evidence")).click()
    expect(dialog.get_by_role("list", name="Source messages")).to_contain_text("On Friday I go hiking on Ulriken with my sister Lene.")
    visitor.picture("memory")


def test_correcting_and_reverting_a_memory(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    memory = visitor.stack.memory("cora", "bicycle")
    page = visitor.sign_in(path=f"/memories?memory={memory['id']}")
    page.get_by_role("button", name="Correct", exact=True).click()
    form = page.get_by_role("dialog", name="Correct this memory")
    form.get_by_label("Content").fill("I bought a green bicycle for my brother.")
    form.get_by_label(re.compile("Reason")).fill("wrong colour")
    form.get_by_role("button", name="Save the correction").click()
    expect(page.get_by_role("status").get_by_text("The correction is stored")).to_be_visible()

    wait_until(lambda: "green" in visitor.stack.memory("cora", "bicycle")["content"], seconds=60, failure=lambda: "not corrected")
    page.reload()
    dialog = page.get_by_role("dialog", name="Memory")
    expect(dialog.get_by_text("I bought a green bicycle for my brother.").first).to_be_visible()
    dialog.get_by_role("tab", name="History").click()
    steps = dialog.get_by_role("list", name="Steps").get_by_role("listitem")
    expect(steps.filter(has_text=re.compile("^said"))).to_contain_text("1 message in the session notes")
    expect(steps.filter(has_text=re.compile("^extracted"))).to_contain_text("I bought a red bicycle for my brother.")
    in_force = dialog.get_by_role("region", name="Corrections in force")
    expect(in_force).to_contain_text("wrong colour")
    # The keywords follow from the content.
    expect(in_force.get_by_role("deletion")).to_have_text([re.compile("I bought a red bicycle"), re.compile('"red bicycle"')])
    visitor.picture("memory-history")

    dialog.get_by_role("button", name="Revert the correction").click()
    page.get_by_role("dialog", name="Revert the newest correction").get_by_role("button", name="Revert", exact=True).click()
    wait_until(lambda: "red" in visitor.stack.memory("cora", "bicycle")["content"], seconds=60, failure=lambda: "not reverted")


def test_invalidating_and_deleting_events(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack

    def boats() -> list[Any]:
        return [each for each in stack.call("GET", "/v1/memories?user=ivan&kinds=event")["memories"] if "boat" in each["content"]]

    page = visitor.sign_in(path="/memories?user=ivan&kind=event")
    page.get_by_role("button", name=re.compile("blue boat")).click()
    page.get_by_role("button", name="Invalidate").click()
    page.get_by_role("dialog", name="Invalidate this event").get_by_role("button", name="Invalidate", exact=True).click()
    expect(page.get_by_role("status").get_by_text("The event is invalid")).to_be_visible()
    remains = page.get_by_role("dialog", name="The event is invalid")
    expect(remains.get_by_role("list", name="What remains")).to_contain_text("the log keeps the message")
    remains.get_by_role("button", name="Close", exact=True).last.click()

    # Only its own page still shows it, and takes the change back.
    memory = page.get_by_role("dialog", name="Memory")
    expect(memory.get_by_text("marked as never true")).to_be_visible(timeout=_MINUTE_MS)
    visitor.picture("invalidated")
    wait_until(lambda: not boats(), seconds=60, failure=boats)
    memory.get_by_role("button", name="Revert the invalidation").click()
    page.get_by_role("dialog", name="Revert the newest correction").get_by_role("button", name="Revert", exact=True).click()
    wait_until(lambda: bool(boats()), seconds=60, failure=boats)
    expect(memory.get_by_role("button", name="Invalidate")).to_be_visible(timeout=_MINUTE_MS)
    memory.get_by_role("button", name="Close").click()

    page.get_by_role("button", name=re.compile("strong coffee")).click()
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete this event")
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    dialog.get_by_label(re.compile("to confirm")).fill("delete")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("status").get_by_text("The event is deleted")).to_be_visible()
    page.get_by_role("dialog", name="The event is deleted").get_by_role("button", name="Close", exact=True).last.click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    def left() -> list[Any]:
        return list(stack.call("GET", "/v1/memories?user=ivan&kinds=event")["memories"])

    wait_until(lambda: len(left()) == 1, seconds=60, failure=left)
    page.reload()
    expect(page.get_by_role("button", name=re.compile("blue boat"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("strong coffee"))).to_have_count(0)


def test_moving_through_the_time_of_an_entity(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/entities?entity=user_profile/nora")
    state = page.locator("dl")
    home = state.get_by_text("home", exact=True).locator("xpath=following-sibling::dd[1]")
    expect(home).to_have_text("Oslo")
    slider = page.get_by_role("slider", name="Time of the state")
    slider.press("Home")
    expect(home).to_have_text("Bergen")
    expect(page.get_by_text("State as of")).to_be_visible()
    assert "at=2024-05-06" in page.url
    slider.press("End")
    expect(home).to_have_text("Oslo")
    expect(page.get_by_role("list", name="History")).to_contain_text("Bergen")
    page.get_by_label("Time", exact=True).select_option("known_at")
    expect(page.get_by_text("State as known at")).to_be_visible()
    visitor.picture("entities")


def test_debugging_a_recall(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/recall")
    page.get_by_role("textbox", name="Question").fill("Where does Nora live?")
    page.get_by_label("User", exact=True).fill("nora")
    page.get_by_role("button", name="Recall", exact=True).click()
    results = page.get_by_role("list", name="Results")
    expect(results.get_by_role("listitem").first).to_contain_text("Oslo")
    expect(results.get_by_role("heading", name="Ranking").first).to_be_visible()
    steps = page.get_by_role("list", name="Steps of the pipeline")
    for step in ("retrieve", "score", "rank", "deduplicate", "cut"):
        expect(steps.get_by_text(step, exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Context block")).to_contain_text("user profile of nora")
    expect(page.get_by_role("region", name="Summary")).to_contain_text(re.compile(r"Confidence0?\.\d"))
    visitor.picture("recall")

    hidden = visitor.stack.memory("cora", "Trondheim")["id"]
    page.get_by_role("textbox", name=re.compile("^Why not")).fill(hidden)
    page.get_by_role("button", name="Recall", exact=True).click()
    page.get_by_role("tab", name="Why not (1)").click()
    expect(page.get_by_role("list", name="Why not")).to_contain_text("The request excludes it.")


def test_a_memory_opens_over_the_page(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/recall?q=Where+does+Nora+live%3F&user=nora")
    result = page.get_by_role("list", name="Results").get_by_role("link", name=re.compile("I live in Oslo now"))
    result.click()
    dialog = page.get_by_role("dialog", name="Memory")
    expect(dialog.get_by_role("list", name="Source messages")).to_contain_text("I live in Oslo now.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(result).to_be_focused()
    expect(page.get_by_role("heading", level=1, name="Recall debugger")).to_be_visible()

    result.click()
    dialog.get_by_role("link", name="june/m1").click()
    expect(page.get_by_role("dialog", name="Session june")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(1)


def test_previewing_and_closing_an_open_window(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/sessions?user=nora")
    page.get_by_role("button", name="today").click()
    dialog = page.get_by_role("dialog", name="Session today")
    expect(dialog.get_by_role("list", name="Messages of window 0")).to_contain_text("visit Lene")
    dialog.get_by_role("button", name="Run").click()
    outcome = dialog.get_by_role("group", name="Outcome of the dry run")
    expect(outcome.get_by_role("list", name="Events")).to_contain_text("visit Lene")
    assert not [each for each in visitor.stack.call("GET", "/v1/memories?user=nora&session=today")["memories"] if each["kind"] == "event"]
    visitor.picture("session")

    dialog.get_by_role("button", name="Close the window now").click()
    page.get_by_role("dialog", name="Close the open window").get_by_role("button", name="Close the window", exact=True).click()
    expect(page.get_by_role("status").get_by_text("The window closes now")).to_be_visible()

    def found() -> list[Any]:
        return list(visitor.stack.call("GET", "/v1/memories?user=nora&session=today&kinds=event")["memories"])

    wait_until(lambda: bool(found()), seconds=120, failure=found)


def test_redriving_a_dead_letter(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    # The same id with another text becomes a dead letter.
    stack.call(
        "POST", "/v1/messages", {"user": "lena", "session": "letters", "id": "m1", "speaker": "Lena", "text": "I play go on Sundays."}
    )

    def letters() -> list[Any]:
        return list(stack.call("GET", "/v1/dead-letters")["dead_letters"])

    wait_until(lambda: bool(letters()), seconds=120, failure=letters)

    page = visitor.sign_in(path="/dead-letters")
    page.get_by_role("button", name=re.compile("changed message")).click()
    dialog = page.get_by_role("dialog", name=re.compile("^Dead letter"))
    expect(dialog.get_by_role("region", name="The record")).to_contain_text("I play go on Sundays.")
    expect(dialog.get_by_text("To change a message, send an edit")).to_be_visible()
    visitor.picture("dead-letter")
    dialog.get_by_role("button", name="Close").click()

    page.get_by_label("Reason").select_option(label="changed message (1)")
    page.get_by_label("Failed").select_option("In the last hour")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Redrive 1 chosen").click()
    page.get_by_role("dialog", name="Redrive 1 letter").get_by_role("button", name="Redrive", exact=True).click()
    expect(page.get_by_role("status").get_by_text(re.compile("1 redriven|1 superseded"))).to_be_visible()
    page.get_by_label("State").select_option("redriven")
    expect(page.get_by_role("button", name=re.compile("changed message"))).to_be_visible()


def test_comparing_cost_with_budgets(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    stack.call(
        "PATCH",
        f"/v1/admin/tenants/{stack.tenant}?settle=true",
        {"budget": {"soft_tokens": 50_000, "hard_tokens": 100_000}},
        key=stack.operator_key,
    )
    page = visitor.sign_in(stack.operator_key, path="/cost?by=tenant")
    usage = page.get_by_role("region", name="Usage by tenant")
    expect(usage.get_by_role("row", name=re.compile(f"^{stack.tenant} "))).to_contain_text("79k")
    expect(usage.get_by_role("row", name=re.compile(f"^{stack.graph_tenant} "))).to_contain_text("12k")
    expect(page.get_by_text("of 100k").first).to_be_visible()
    expect(page.get_by_role("figure", name="Tokens by day")).to_be_visible()
    visitor.picture("cost")

    page.get_by_label("Tenant", exact=True).select_option(stack.tenant)
    page.get_by_label("Group by").select_option("model")
    expect(page.get_by_role("region", name="Usage by model").get_by_role("row", name=re.compile("^large-model"))).to_contain_text("70k")
    page.get_by_label("Tenant", exact=True).select_option(stack.graph_tenant)
    expect(page.get_by_role("region", name="Usage by model").get_by_role("row", name=re.compile("^large-model"))).to_have_count(0)


def test_erasing_a_user_and_reading_the_receipt(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/erasures")
    page.get_by_role("button", name="Erase a user").click()
    form = page.get_by_role("dialog", name="Erase a user")
    form.get_by_label("User", exact=True).fill("gone")
    expect(form.get_by_role("button", name="Erase", exact=True)).to_be_disabled()
    form.get_by_label("The same user again").fill("gone")
    form.get_by_label(re.compile("Reason")).fill("request 12")
    form.get_by_role("button", name="Erase", exact=True).click()
    row = page.get_by_role("row", name=re.compile("request 12"))
    expect(row).to_contain_text("erased and verified", timeout=3 * _MINUTE_MS)
    row.get_by_role("button").click()
    receipt = page.get_by_role("dialog", name="Receipt of an erasure")
    expect(receipt).to_contain_text("Found and removed")
    visitor.picture("erasure")
    receipt.get_by_role("button", name="Close").click()

    # Receipts name users by digests: the page computes that of a name.
    search = page.get_by_label("Was this user erased?")
    search.fill("nora")
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_text("No erasure of nora was requested")).to_be_visible()
    search.fill("gone")
    page.get_by_role("button", name="Find").click()
    expect(row).to_be_visible()
    assert "gone" not in page.url
    assert visitor.stack.call("GET", "/v1/memories?user=gone")["memories"] == []


def test_editing_a_schema_with_checks_and_preview(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/schemas")
    editor = page.get_by_label("Schema as JSON")
    check = page.get_by_role("status", name="Check")
    expect(check).to_contain_text("The schema is valid.")
    text = editor.input_value()
    editor.fill(text.replace('"list<string>"', '"list<stringg>"', 1))
    expect(check).to_contain_text("EventTypes[0].Properties[0].PropertyValueType")
    check.get_by_role("button", name=re.compile("Go to line")).click()
    line = int(page.evaluate("document.activeElement.value.slice(0, document.activeElement.selectionStart).split('\\n').length"))
    assert "list<stringg>" in editor.input_value().split("\n")[line - 1]
    visitor.picture("schema")

    editor.fill(text + "}")
    expect(check).to_contain_text(re.compile("JSON"))
    editor.fill(text.replace('"life_event"', '"milestone"'))
    expect(check).to_contain_text("milestone")
    page.get_by_label("Session", exact=True).select_option("monday")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("group", name="Outcome of the dry run")).to_contain_text("by rules, without a model")


def test_an_operator_stores_a_schema(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.operator_key, path="/schemas?schema=new")
    expect(page.get_by_role("status", name="Check")).to_contain_text("The schema is valid.")
    page.get_by_role("button", name="Store as a new revision").click()
    page.get_by_role("dialog", name="Store the schema").get_by_role("button", name="Store", exact=True).click()
    expect(page.get_by_role("link", name=re.compile("notes@1"))).to_be_visible()
    page.wait_for_url(re.compile("schema=notes%40"))


def test_announcing_and_dropping_a_generation(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    links = stack.call("GET", "/v1/links", key=stack.graph_key)
    page = visitor.sign_in(stack.operator_key, path=f"/schemas?tenant={stack.graph_tenant}")
    table = page.get_by_role("region", name="Generations", exact=True)
    expect(table.get_by_role("row", name=re.compile("^first"))).to_contain_text("live")
    page.get_by_role("button", name="New generation").click()
    form = page.get_by_role("dialog", name=f"New generation of {stack.graph_tenant}")
    form.get_by_label("Name").fill("trial")
    form.get_by_label("Method").select_option("mem0")
    form.get_by_role("button", name="Announce").click()
    expect(form.get_by_text(f"varve generations start trial --tenant {stack.graph_tenant}")).to_be_visible()
    form.get_by_role("button", name="Close", exact=True).last.click()
    row = table.get_by_role("row", name=re.compile("^trial"))
    expect(row).to_contain_text("not live")
    visitor.picture("generations")

    # The generation has no window yet.
    row.get_by_role("button", name="Make the generation trial live").click()
    dialog = page.get_by_role("dialog", name="Make trial the live generation")
    dialog.get_by_role("button", name="Make live", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()

    row.get_by_role("button", name="Drop the generation trial").click()
    dialog = page.get_by_role("dialog", name="Drop the generation trial")
    dialog.get_by_label(re.compile("to confirm")).fill("drop")
    dialog.get_by_role("button", name="Drop", exact=True).click()
    expect(page.get_by_role("status").get_by_text("is dropped")).to_be_visible(timeout=_MINUTE_MS)
    listed = stack.call("GET", f"/v1/admin/generations?tenant={stack.graph_tenant}", key=stack.operator_key)["generations"]
    assert [each["live"] for each in listed if each["name"] == ""] == [True]
    assert stack.call("GET", "/v1/links", key=stack.graph_key) == links, "the live generation is unchanged"


def test_pausing_and_limiting_a_reextraction(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.operator_key, path="/reextractions")
    row = page.get_by_role("row", name=re.compile("^again"))
    expect(row).to_contain_text("no worker runs")
    expect(row).to_contain_text(visitor.stack.graph_tenant)
    row.get_by_role("button").click()
    sheet = page.get_by_role("dialog", name="Re-extraction into again")
    expect(sheet.get_by_text("varve generations work again")).to_be_visible()
    visitor.picture("reextraction")
    sheet.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog", name="Pause again").get_by_role("button", name="Pause", exact=True).click()
    expect(sheet.get_by_text(re.compile("paused by operator .* on-call"))).to_be_visible()
    sheet.get_by_role("button", name="Resume").click()
    form = page.get_by_role("dialog", name="Resume again")
    form.get_by_label("Tokens in total").fill("9000")
    form.get_by_role("button", name="Resume", exact=True).click()
    expect(sheet.get_by_text("0 of 9,000")).to_be_visible()
    sheet.get_by_role("button", name="Close").click()
    page.get_by_label("Tenant", exact=True).select_option(visitor.stack.tenant)
    expect(page.get_by_text("There is no re-extraction")).to_be_visible()


def test_making_and_revoking_a_key(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.operator_key, path="/keys")
    page.get_by_role("link", name=visitor.stack.tenant, exact=True).click()
    page.get_by_role("button", name="New key").click()
    form = page.get_by_role("dialog", name=f"New key of {visitor.stack.tenant}")
    form.get_by_label("Label").fill("from the console")
    form.get_by_role("button", name="Make the key").click()
    secret = page.get_by_role("dialog", name="The new key")
    key = secret.locator("code").inner_text()
    assert visitor.stack.call("GET", "/v1/status", key=key)["scopes"] == ["ingest", "recall"]
    secret.get_by_role("button", name="I have copied it").click()
    visitor.picture("keys")

    page.get_by_role("button", name="Revoke the key from the console").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Revoke"))
    dialog.get_by_label(re.compile("to confirm")).fill("revoke")
    dialog.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("status").get_by_text("The key is revoked.")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("from the console"))).to_have_count(0)

    page.get_by_role("button", name="Edit").click()
    limits = page.get_by_role("dialog", name=f"Quotas and budget of {visitor.stack.tenant}")
    limits.get_by_label("Recalls per second", exact=True).fill("250")
    limits.get_by_label("No limit: Memories").check()
    limits.get_by_label("Share for re-extractions (%)").fill("29")
    limits.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The limits are stored")).to_be_visible()
    tenant = visitor.stack.call("GET", f"/v1/admin/tenants/{visitor.stack.tenant}", key=visitor.stack.operator_key)
    assert tenant["quota"] == {"recalls_per_second": 250, "memories": None}
    others = {name: value for name, value in tenant["budget"].items() if name != "reextraction_share"}
    assert tenant["budget"]["reextraction_share"] == 0.29
    expect(page.get_by_text("29 %", exact=True)).to_be_visible()

    # A change of one limit keeps the others.
    page.get_by_role("button", name="Edit").click()
    limits.get_by_label("Above the hard limit").select_option("offline")
    limits.get_by_role("button", name="Save").click()
    expect(limits).to_have_count(0)
    tenant = visitor.stack.call("GET", f"/v1/admin/tenants/{visitor.stack.tenant}", key=visitor.stack.operator_key)
    assert tenant["quota"] == {"recalls_per_second": 250, "memories": None}
    assert tenant["budget"] == {**others, "reextraction_share": 0.29, "policy": "offline"}


def test_a_failing_webhook_is_visible(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack
    # Nothing listens on the port.
    webhook = {"tenant": stack.graph_tenant, "url": "http://127.0.0.1:9/hook", "label": "crm"}
    stack.call("POST", "/v1/admin/webhooks?settle=true", webhook, key=stack.operator_key)
    page = visitor.sign_in(stack.operator_key, path=f"/keys?tenant={stack.graph_tenant}")
    receiver = page.get_by_role("list", name="Webhooks").get_by_role("listitem")
    expect(receiver).to_contain_text("no dead delivery")
    page.get_by_role("button", name="Test the webhook crm").click()
    expect(page.get_by_role("status").get_by_text("The test delivery failed")).to_be_visible()

    before = len(stack.call("GET", "/v1/memories?user=ann&kinds=event&limit=100", key=stack.graph_key)["memories"])
    stack.talk("ann", "hooks", "I bought a green kayak.", key=stack.graph_key)
    stack.flush("ann", "hooks", events=before + 1, key=stack.graph_key)
    hook = stack.call("GET", f"/v1/admin/webhooks?tenant={stack.graph_tenant}", key=stack.operator_key)["webhooks"][0]["id"]
    deliveries = f"/v1/admin/webhooks/{hook}/dead-letters?tenant={stack.graph_tenant}"
    wait_until(
        lambda: stack.call("GET", deliveries, key=stack.operator_key)["dead"] > 0,
        seconds=60,
        failure=lambda: stack.call("GET", deliveries, key=stack.operator_key),
    )
    page.get_by_role("button", name="Refresh").click()
    expect(receiver).to_contain_text(re.compile(r"[1-9]\d* dead deliver"))
    expect(receiver).to_contain_text("Last failure, after 1 attempt")
    visitor.picture("webhooks")
    stack.call("DELETE", f"/v1/admin/webhooks/{hook}?tenant={stack.graph_tenant}", key=stack.operator_key)


def test_a_long_list_is_shown_in_steps(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    row: dict[str, Any] = {
        "tenant": visitor.stack.tenant,
        "reason": "",
        "requested_at": "2026-11-01T10:00:00Z",
        "finished_at": "2026-11-01T10:01:00Z",
        "gone_by": None,
        "found": {},
        "remains": [],
        "running": False,
        "problem": None,
    }
    # A stack does not erase so many users within a test.
    listed = {"erasures": [{**row, "subject": f"{number:064x}"} for number in range(10_000)]}
    visitor.page.route("**/v1/erasures", lambda route: route.fulfill(json=listed))
    page = visitor.sign_in(path="/erasures")
    rows = page.get_by_role("region", name="Erasures").get_by_role("row")
    expect(rows).to_have_count(101)
    page.get_by_role("button", name="Show 100 more of 10k").click()
    expect(rows).to_have_count(201)


def test_a_click_beside_a_form_keeps_it(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/erasures")
    page.get_by_role("button", name="Erase a user").click()
    form = page.get_by_role("dialog", name="Erase a user")
    expect(form.get_by_label("User", exact=True)).to_be_focused()
    form.get_by_label("User", exact=True).fill("nora")
    page.mouse.click(5, 5)
    expect(form.get_by_label("User", exact=True)).to_have_value("nora")


def test_failures_say_what_to_do(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/keys")
    problem = {"type": "urn:varve:problem:internal", "detail": "The service failed.", "trace_id": "4bf92f"}
    page.route("**/v1/sessions*", lambda route: route.fulfill(status=500, json=problem))
    page.get_by_role("link", name="Sessions").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The service failed.")
    expect(alert).to_contain_text("4bf92f")
    page.unroute("**/v1/sessions*")
    page.route("**/v1/sessions*", lambda route: route.abort())
    alert.get_by_role("button", name="Try again").click()
    expect(alert).to_contain_text("The service did not answer.")
    page.unroute("**/v1/sessions*")
    alert.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Sessions")).to_be_visible()


def test_following_links_between_memories(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    stack = visitor.stack

    def found() -> Any:
        return stack.call("GET", "/v1/links", key=stack.graph_key)

    wait_until(lambda: any("brown dog" in each["content"] for each in found()["nodes"]), seconds=60, failure=found)
    page = visitor.sign_in(stack.graph_key, path="/links")
    graph = page.get_by_role("group", name="Link graph")
    node = graph.get_by_role("button", name=re.compile("brown dog")).first
    node.focus()
    page.keyboard.press("Enter")
    links = page.get_by_role("list", name="Links of this memory")
    expect(links.get_by_role("button", name=re.compile("Bruno")).first).to_be_visible()
    visitor.picture("links")


def test_a_key_opens_only_its_pages(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(visitor.stack.reader_key, path="/dead-letters")
    expect(page.get_by_text("It needs the scope “operate”")).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link", name="Dead letters")).to_have_count(0)
    page.goto(f"{visitor.stack.console}/reextractions")
    expect(page.get_by_text("This page is for operators")).to_be_visible()
    memory = visitor.stack.memory("nora", "Oslo")
    page.goto(f"{visitor.stack.console}/memories?memory={memory['id']}")
    expect(page.get_by_text("it lacks the scope “correct”")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Sign out").click()

    page = visitor.sign_in(visitor.stack.operator_key, path="/memories")
    expect(page.get_by_text("Operators’ keys do not read tenants’ memories")).to_be_visible()


def test_every_action_works_with_the_keyboard(visitor: Visitor) -> None:
    from playwright.sync_api import expect

    page = visitor.sign_in(path="/memories?user=cora&kind=event")
    row = page.get_by_role("button", name=re.compile("Trondheim"))
    row.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Memory")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(row).to_be_focused()
    page.get_by_role("link", name="Entities").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Entities")).to_be_focused()
