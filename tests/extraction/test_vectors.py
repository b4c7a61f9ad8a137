"""Vectors of events: only those that an operator compares have one, with or without a memory method."""

from typing import Any

import pytest

from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Extraction
from memory.records.wording import indexed_text
from memory.schema import MemorySchema, parse_schema, scenario
from memory.schema.write import to_json
from memory.vectors import encode_vector
from tests.extraction.windows import window_of
from tests.stores.factories import BagOfWordsEmbedder, embedding

SAID = ("I moved to Oslo in May because of my new job.", "I like green tea in the morning.")


def with_tree(event_type: str, **method: Any) -> MemorySchema:
    """The companion's schema with a tree of one type of events."""
    aggregate = {"Op": "TREE", "EventType": event_type}
    properties = [{"PropertyName": "topics", "PropertyValueType": "string", "AggregateExpression": aggregate}]
    tree = {"EntityType": "talk", "Description": "Talks.", "Keys": ["user"], "Properties": properties}
    data: dict[str, Any] = to_json(scenario("companion"))
    entity_types = data["EntityTypes"]
    if method:
        return parse_schema({**data, "Method": {"Method": "test", **method, "Manage": {"EntityTypes": [tree]}}})
    return parse_schema({**data, "EntityTypes": [*entity_types, tree]})


async def extracted(schema: MemorySchema) -> Extraction:
    embedder = BagOfWordsEmbedder()
    extractor = MethodExtractor(OfflineExtractor(embedder=embedder), embedder)
    return await extractor.extract(window_of(*SAID), schema, ExtractionContext())


@pytest.mark.parametrize("method", [{}, {"Archive": {"Turns": True}}])
async def test_compared_events_have_vectors(method: dict[str, Any]) -> None:
    event_type = "turn" if method else "*"
    found = (await extracted(with_tree(event_type, **method))).events
    compared = [each for each in found if event_type in ("*", each.type)]
    assert len(compared) >= 2
    assert [each.vector for each in compared] == [encode_vector(embedding(indexed_text(each)).dense) for each in compared]
    assert {each.vector for each in found if each not in compared} <= {None}


async def test_no_vector_is_made_without_need() -> None:
    found = (await extracted(scenario("companion"))).events
    assert found
    assert {each.vector for each in found} == {None}
