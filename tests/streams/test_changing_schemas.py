"""A schema changes while the stages run: fields are added, removed, filled by a replay, or refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from control.errors import ChangeRefusedError
from control.tenant_changes import add_generation, set_tenant
from memory.keys import encode_key
from memory.records import Memory, Message, ToolCall
from memory.schema import parse_schema, scenario, to_json
from memory.schema.model import MemorySchema
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from stores.build import build_store
from stores.port import MemoryStore, TenantScope
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, write
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving

pytestmark = pytest.mark.integration

PROFILE, REMOVED_TYPE = "user_profile", "training_log"
REMOVED, ADDED = "life_events", "moods_told"
ADDED_TYPES = {"mood_week": "added_week", "life_story": "added_story"}
"""Types that are added, each by the type that it is a copy of: filled up, it has what that one has had all the time."""
OTHERS = tuple(name for name in STAGES if name != "extraction")
MOST_SESSIONS = 10


async def test_types_and_fields_change_while_stages_run(flow: Settings) -> None:
    store = build_store(flow)
    began = datetime.now(UTC) - timedelta(hours=1)
    headers = bearer(await add_key(flow, TENANT))
    async with service_of(flow) as http, serving(flow, OTHERS):
        async with serving(flow, ["extraction"]):
            gone, after = await changed_meanwhile(flow, store)
        assert await replay(flow, "extraction", ReplayStart(time=began)), "the other stages run"
        await send_sample(flow, session="s-meanwhile")
        async with serving(flow, ["extraction"]):
            await flush(flow)
            await caught_up(flow)
        filled, moods = await profile(store), await of_type(store, "mood")
        assert filled.properties[ADDED] == len(moods) > int(str(after.properties[ADDED])), "earlier statements count, too"
        assert filled.properties[REMOVED] == after.properties[REMOVED]
        for known, added in ADDED_TYPES.items():
            assert shown(await of_type(store, added)) == shown(await of_type(store, known)) != []
        assert await of_type(store, REMOVED_TYPE) == gone, "extracted again, it stays, too"
        old = await http.get(f"/v1/entities/{REMOVED_TYPE}/{gone[0].entity_key}", headers=headers)
        assert (old.status_code, old.json()["content"]) == (200, gone[0].content)
    await store.close()


async def changed_meanwhile(flow: Settings, store: MemoryStore) -> tuple[list[Memory], Memory]:
    """Changes the schema between sessions. Returns the entities of the removed type, and the profile without the removed field."""
    await tell(flow, "s-first")
    before = await profile(store)
    assert ADDED not in before.properties
    assert before.properties[REMOVED]
    with pytest.raises(ChangeRefusedError, match=r"life_events .* COUNT, and would be by LATEST.*varve generations start"):
        await write(flow, lambda draft: set_tenant(draft, TENANT, schema=with_another_operator()))
    await write(flow, lambda draft: set_tenant(draft, TENANT, schema=changed()))
    await write(flow, lambda draft: add_generation(draft, TENANT, "v2", schema=with_another_operator()))

    known = await until_it_is_in_force(flow, store)
    gone = await of_type(store, REMOVED_TYPE)
    assert gone
    await tell(flow, "s-last")
    after = await profile(store)
    assert int(str(after.properties[ADDED])) > int(str(known.properties[ADDED]))
    assert after.properties[REMOVED] == known.properties[REMOVED], "it stops, and can still be read"
    assert f"life events: {known.properties[REMOVED]}" in after.content
    assert await of_type(store, REMOVED_TYPE) == gone
    for copied, added in ADDED_TYPES.items():
        assert shown(await of_type(store, added)) != shown(await of_type(store, copied)), "so far it has what came since"
    return gone, after


async def tell(settings: Settings, session: str) -> None:
    """Sends a session, and returns when all its results are in the store."""
    await send_sample(settings, session=session)
    run = Message(
        tenant=TENANT,
        user="ada",
        session=session,
        id=f"{session}-run",
        role="tool",
        text="Workout: running: 6.5 km in 41 minutes.",
        tool_call=ToolCall(name="workout", arguments={"kind": "running", "minutes": 41, "distance_km": 6.5}, success=True),
        event_time=datetime(2024, 5, 1, 2, tzinfo=UTC),
    )
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(settings.topic("messages"), encode_key(TENANT, session), run.to_json())])
    await flush(settings)
    await caught_up(settings)


async def until_it_is_in_force(settings: Settings, store: MemoryStore) -> Memory:
    """Sends one session after the other until a window is extracted under the new schema: the running stages learn of it."""
    for number in range(MOST_SESSIONS):
        await tell(settings, f"s-{number}")
        found = await profile(store)
        if ADDED in found.properties:
            return found
    raise AssertionError(f"{MOST_SESSIONS} sessions were extracted under the old schema")


def changed() -> MemorySchema:
    """The companion's schema with a field and two types more, a field and a type less."""
    content: Any = to_json(scenario("companion"))
    types = [each for each in content["EntityTypes"] if each["EntityType"] != REMOVED_TYPE]
    copies = [each | {"EntityType": ADDED_TYPES[each["EntityType"]]} for each in types if each["EntityType"] in ADDED_TYPES]
    content["EntityTypes"] = [*types, *copies]
    fields = profile_fields(content)
    fields[:] = [each for each in fields if each["PropertyName"] != REMOVED]
    counted = {"Op": "COUNT", "EventType": "mood"}
    fields.append({"PropertyName": ADDED, "PropertyValueType": "int64", "AggregateExpression": counted})
    return parse_schema(content)


def with_another_operator() -> MemorySchema:
    """The companion's schema with the last life event in place of their number."""
    content: Any = to_json(scenario("companion"))
    for each in profile_fields(content):
        if each["PropertyName"] == REMOVED:
            each["PropertyValueType"] = "string"
            each["AggregateExpression"] = {"Op": "LATEST", "EventType": "life_event", "EventPropertyName": "content"}
    return parse_schema(content)


def profile_fields(content: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(each["Properties"] for each in content["EntityTypes"] if each["EntityType"] == PROFILE)
    return found


async def profile(store: MemoryStore) -> Memory:
    (found,) = await of_type(store, PROFILE)
    return found


async def of_type(store: MemoryStore, name: str) -> list[Memory]:
    return [each for each in await store.scroll(TenantScope(TENANT), limit=1000) if each.type == name]


def shown(entities: list[Memory]) -> list[tuple[str | None, dict[str, Any]]]:
    """The content of entities, whatever their type is called."""
    return sorted((each.entity_key, dict(each.properties)) for each in entities)
