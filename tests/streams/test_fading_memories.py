"""Memories that fade unless recalled (STRENGTH), through the recalls, events and entities stages."""

from typing import Any

from memory.headers import EXPIRY, KIND
from memory.schema import MemorySchema, parse_schema
from memory.strengths import Recalls, recalls_memory_id
from memory.times import microseconds_of
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, USER, Timelines

DAY = 86_400_000_000
"""In microseconds."""


def bank(**parameters: Any) -> MemorySchema:
    """A schema with memories that fade, and a number of events that does not."""
    strength = {"Op": "STRENGTH", "EventType": "*", **parameters}
    count = {"Op": "COUNT", "EventType": "life_event"}
    properties = [
        {"PropertyName": "remembered", "PropertyValueType": "int64", "AggregateExpression": strength},
        {"PropertyName": "count", "PropertyValueType": "int64", "AggregateExpression": count},
    ]
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [{"EventType": "life_event", "Description": "What happened."}],
            "EntityTypes": [{"EntityType": "bank", "Keys": ["user"], "Properties": properties}],
        }
    )


def flow_of(settings: Settings, schema: MemorySchema) -> Timelines:
    return Timelines(settings, known_tenants({TENANT: schema}))


def counts(flow: Timelines) -> dict[str, object]:
    """The numbers of the only entity."""
    (entity,) = flow.kinds("entity").values()
    return {name: value for name, value in entity.properties.items() if name != "user"}


async def test_a_memory_fades_unless_recalled(settings: Settings) -> None:
    flow = flow_of(settings, bank())
    found = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(2, step=1)
    assert set(flow.kinds("event")) == {"Moved to Lyon.", "Met Paul."}
    await flow.recall(found, 2, 1)
    await flow.pass_time(4, step=1)
    assert set(flow.kinds("event")) == {"Met Paul."}
    assert counts(flow) == {"remembered": 1, "count": 2}
    await flow.recall(found, 6, 1)
    await flow.pass_time(8, step=1)
    assert set(flow.kinds("event")) == {"Met Paul."}, "two recalls: its strength is three days"
    await flow.pass_time(3, step=1)
    assert set(flow.kinds("event")) == set()
    assert counts(flow) == {"remembered": 0, "count": 2}


async def test_a_rebuild_forgets_the_same(settings: Settings) -> None:
    flow = flow_of(settings, bank(Limit=3))
    found = await flow.extract(0, 0, [f"Event {number}." for number in range(5)])
    await flow.recall(found, 1, 4)
    await flow.pass_time(2, step=1)
    assert len(flow.kinds("event")) == 3, "the weakest above the limit"
    await flow.extract(1, 3, ["A later event."])
    await flow.pass_time(1.5, step=0.5)
    assert set(flow.kinds("event")) == {"Event 4.", "A later event."}
    before = dict(flow.memories)
    assert (await flow.rebuilt()).memories == before
    await flow.repeat()
    assert flow.memories == before


async def test_a_successor_lets_memories_fade(settings: Settings) -> None:
    flow = flow_of(settings, bank())
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.restart_entities()
    await flow.pass_time(5, step=1)
    assert flow.kinds("event") == {}
    await flow.pass_time(20, step=5)
    assert sum((KIND, EXPIRY) in each.headers for each in flow.extractions) == 1


async def test_a_forgotten_memory_may_leave_other_entities(settings: Settings) -> None:
    flow = flow_of(settings, bank(Retract=True))
    await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(5, step=1)
    assert counts(flow) == {"remembered": 0}
    await flow.extract(0, 5, [])
    assert flow.memories == {}, "a later extraction retracts what is left"


async def test_recalls_are_published_for_ranking(settings: Settings) -> None:
    flow = flow_of(settings, bank(Ranks=True, LeastRetention=1))
    found = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    moved, met = (each.id for each in found.events)
    name = recalls_memory_id(TENANT, "bank", USER, "remembered", "")

    def counted() -> Recalls:
        (memory,) = (each for each in flow.memories.values() if each.id == name)
        assert memory.expires_at is not None
        return Recalls.read(memory.properties)

    assert counted().recalled == {}
    await flow.recall(found, 2, 1)
    at = microseconds_of(flow.now(2))
    assert counted() == Recalls(DAY, {met: (1, at)})
    made, later = microseconds_of(flow.now(0)), microseconds_of(flow.now(4))
    assert counted().retention(moved, made=made, now=later) < 0.05 < counted().retention(met, made=made, now=later)
    assert (await flow.rebuilt()).memories == flow.memories
    await flow.deliver_again(correction_record(correction(found.events[1], 1, "delete"), 1))
    assert counted().recalled == {}
    await flow.extract(0, 4, [])
    assert flow.memories == {}


async def test_recalls_are_not_published_unless_asked_for(settings: Settings) -> None:
    flow = flow_of(settings, bank())
    await flow.recall(await flow.extract(0, 0, ["Moved to Lyon."]), 1, 0)
    assert flow.kinds("summary") == {}
