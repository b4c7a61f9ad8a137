"""``/v1/admin/webhooks``: what an operator may do, and what is shown only once."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic import SecretStr

from control import read_audit
from runtime.kafka import create_topics
from runtime.settings import Settings, SigningSettings, StoreSettings, WebhookSettings
from tests.api.operating import Operating
from tests.api.running_service import expect_problem, serving
from tests.api.webhooks.receiver import is_signed, receiving
from tests.api.webhooks.webhook_flow import memories, publish
from tests.control_log import add_operator, add_tenant
from tests.one_broker import one_broker
from tests.streams.harness import until, until_true

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

SECRET = SecretStr("a master secret of the tests only")
QUICK = WebhookSettings(allow_private=True, first_retry_s=0.05, longest_retry_s=0.1, attempts=2, timeout_s=5)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def settings(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("webhooks")
    settings = Settings(
        data=folder,
        kafka=one_broker(bootstrap=kafka, topic_prefix="webhook-routes.", partitions=1),
        store=StoreSettings(socket=folder / "edge.sock"),
        signing=SigningSettings(secret=SECRET),
        webhooks=QUICK,
    )
    await create_topics(settings)
    await add_tenant(settings, "acme", schema="companion")
    return settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def operating(settings: Settings) -> AsyncIterator[Operating]:
    keys = {role: await add_operator(settings, role=role) for role in ("viewer", "operator", "admin")}
    async with serving(settings) as http:
        yield Operating(settings=settings, http=http, keys=keys)


async def test_a_webhook_is_added_tried_used_and_removed(operating: Operating) -> None:
    async with receiving() as receiver:
        made = await operating.done("POST", "/webhooks", {"tenant": "acme", "url": receiver.url, "label": "crm", "kinds": ["event"]})
        assert made["secret"].startswith("whsec_")
        listed = await operating.done("GET", "/webhooks", tenant="acme")
        [shown] = listed["webhooks"]
        assert (shown["id"], shown["url"], shown["kinds"]) == (made["id"], receiver.url, ["event"])
        assert made["secret"] not in str(listed)
        trial = await operating.done("POST", f"/webhooks/{made['id']}/test", {"tenant": "acme"})
        assert (trial["delivered"], trial["problem"]) == (True, None)
        assert receiver.requests[0].json["type"] == "webhook.test"
        await publish(operating.settings, *memories("acme", "ann", 2))
        await until(lambda: len(receiver.requests) == 3)
        assert all(is_signed(made["secret"], each.headers, each.body) for each in receiver.requests)
        rotated = await operating.done("POST", f"/webhooks/{made['id']}/rotate", {"tenant": "acme", "overlap_s": 60})
        assert rotated["secret"] != made["secret"]
        await operating.done("POST", f"/webhooks/{made['id']}/test", {"tenant": "acme"})
        assert all(
            is_signed(each, receiver.requests[-1].headers, receiver.requests[-1].body) for each in (made["secret"], rotated["secret"])
        )
    await operating.done("DELETE", f"/webhooks/{made['id']}", tenant="acme", settle="false")
    assert (await operating.done("GET", "/webhooks", tenant="acme"))["webhooks"] == []


async def test_dead_letters_are_listed_and_redriven(operating: Operating) -> None:
    async with receiving() as receiver:
        url = receiver.url
    made = await operating.done("POST", "/webhooks", {"tenant": "acme", "url": url})
    await publish(operating.settings, *memories("acme", "bo", 2))

    async def are_dead() -> bool:
        return bool((await operating.done("GET", f"/webhooks/{made['id']}/dead-letters", tenant="acme"))["dead"] == 2)

    await until_true(are_dead)
    letters = await operating.done("GET", f"/webhooks/{made['id']}/dead-letters", tenant="acme")
    assert {each["problem"] for each in letters["dead_letters"]} == {"no connection"}
    assert "bo says" not in str(letters)
    assert await operating.done("POST", f"/webhooks/{made['id']}/redrive", {"tenant": "acme"}) == {"redriven": 2}
    await until_true(are_dead)


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://localhost/", "https://169.254.169.254/latest/meta-data", "http://8.8.8.8/"])
async def test_private_addresses_are_refused_when_added(settings: Settings, operating: Operating, url: str) -> None:
    strict = settings.model_copy(update={"webhooks": WebhookSettings(enabled=False)})
    async with serving(strict) as http:
        asking = Operating(settings=strict, http=http, keys=operating.keys)
        expect_problem(await asking.ask("POST", "/webhooks", {"tenant": "acme", "url": url}), 422, "url: ")


async def test_webhooks_need_a_master_secret(settings: Settings, operating: Operating) -> None:
    bare = settings.model_copy(update={"signing": SigningSettings()})
    async with serving(bare) as http:
        asking = Operating(settings=bare, http=http, keys=operating.keys)
        expect_problem(await asking.ask("POST", "/webhooks", {"tenant": "acme", "url": "https://8.8.8.8/"}), 409, "VARVE_SIGNING__SECRET")


async def test_roles_tenants_and_ids_are_checked(operating: Operating) -> None:
    body = {"tenant": "acme", "url": "https://8.8.8.8/"}
    for role in ("viewer", "operator"):
        expect_problem(await operating.ask("POST", "/webhooks", body, role=role), 403, "")
    expect_problem(await operating.ask("POST", "/webhooks/wh_none/redrive", {"tenant": "acme"}, role="viewer"), 403, "")
    expect_problem(await operating.ask("POST", "/webhooks", {**body, "tenant": "nobody"}), 404, "nobody")
    expect_problem(await operating.ask("GET", "/webhooks/wh_none/dead-letters", tenant="acme"), 404, "wh_none")
    expect_problem(await operating.ask("DELETE", "/webhooks/wh_none", tenant="acme"), 409, "wh_none")


async def test_the_audit_names_changes_of_webhooks(operating: Operating) -> None:
    made = await operating.done("POST", "/webhooks", {"tenant": "acme", "url": "https://8.8.8.8/a-token"})
    records = str((await read_audit(operating.settings))[1])
    assert "webhook add" in records
    assert made["id"] in records
    assert "a-token" not in records
    assert made["secret"] not in records
