"""The events that a memory method derives from a window's messages."""

from typing import Any

from extraction.method import derived_events
from extraction.offline.extractor import NAME as OFFLINE
from extraction.port import Quotation
from memory.ids import event_id
from memory.records import EntityPatch, Extraction, Segment, Window
from memory.schema import MemorySchema, parse_schema, scenario
from memory.schema.write import to_json
from tests.extraction.windows import BEGIN, MINUTE, window_of

SAID = ("I moved to Oslo.", "Fine.", "I like green tea.")
QUOTED = {index: Quotation(f"user: {SAID[index]}", f"Alice: {SAID[index]}") for index in (0, 2)}


def with_method(**extract: Any) -> MemorySchema:
    return parse_schema({**to_json(scenario("companion")), "Method": {"Method": "test", **extract}})


def extraction_of(window: Window, extractor: str = OFFLINE) -> Extraction:
    """Two segments, and a patch that states where the user lives."""
    ids = [each.id or "" for each in window.messages]
    segments = [Segment(id="s0", topic="Oslo", ranges=[(0, 1)]), Segment(id="s1", topic="tea", ranges=[(2, 2)])]
    home = EntityPatch(
        id="p0", entity_type="user_profile", entity_key=window.user, field="home", replace="Oslo", event_time=BEGIN, message_ids=ids[:1]
    )
    return Extraction(
        window_id=window.id, tenant=window.tenant, user=window.user, session=window.session, sequence=0, extractor=extractor,
        schema_name="companion", message_ids=ids, segments=segments, patches=[home], window_end=BEGIN,
    )  # fmt: skip


def test_turns_segments_and_relations_follow_each_other() -> None:
    window, schema = window_of(*SAID), with_method(Archive={"Turns": True}, Extract={"Segments": True, "Relations": True})
    found = derived_events(extraction_of(window), window, schema, QUOTED)
    assert [(each.type, each.content, each.message_ids) for each in found] == [
        ("turn", SAID[0], ["m0"]),
        ("turn", SAID[2], ["m2"]),
        ("segment", f"user: {SAID[0]}", ["m0"]),
        ("segment", f"user: {SAID[2]}", ["m2"]),
        ("relation", "alice lives in Oslo", ["m0"]),
    ], "a message without a quotation gives none"
    assert [each.id for each in found] == [event_id(window.id, index) for index in range(5)]
    assert (found[1].speaker, found[1].search_text, found[1].event_time) == ("user", "Alice: I like green tea.", BEGIN + 2 * MINUTE)
    assert (found[3].segment_id, found[3].properties) == ("s1", {"topic": "tea"})
    assert found[4].properties["object"] == "Oslo"


def test_a_model_states_its_own_relations() -> None:
    window, schema = window_of(*SAID), with_method(Extract={"Relations": True})
    assert derived_events(extraction_of(window, "llm:m"), window, schema, QUOTED) == []


def test_no_method_derives_nothing() -> None:
    window = window_of(*SAID)
    assert derived_events(extraction_of(window), window, scenario("companion"), QUOTED) == []


def test_a_shared_segment_has_a_part_for_each_user() -> None:
    window = window_of(*({"text": text, "user": user} for text, user in zip(SAID, ("alice", "bob", "bob"), strict=True)))
    shared = window.model_copy(update={"users": ["alice", "bob"]})
    whole = extraction_of(shared).model_copy(update={"segments": [Segment(id="s0", topic="all", ranges=[(0, 2)])]})
    found = derived_events(whole, shared, with_method(Extract={"Segments": True}), QUOTED)
    assert [each.message_ids for each in found] == [["m0"], ["m2"]]
