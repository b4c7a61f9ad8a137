"""The shipped scenarios have valid schemas that use all operators, and conversations that can be sent unchanged."""

import pytest

from memory.errors import SchemaError
from memory.records import Message
from memory.schema import MemorySchema, sample_conversation, scenario, scenario_names
from memory.schema.model import BUILT_IN_KEYS
from memory.schema.operator_specs import operator_specs

OF_METHODS = {"AGENT", "STRENGTH", "EDGE", "CLUSTER", "HEAT", "LINK", "TREE", "TIERS"}
"""Operators of memory methods, which no scenario needs."""


def ops_of(schema: MemorySchema) -> set[str]:
    return {op for entity in schema.entity_types for each in entity.properties if (op := entity.op_of(each))}


def test_five_scenarios_ship() -> None:
    assert scenario_names() == ("agent_tools", "companion", "education", "meetings", "search_recommendation")


@pytest.mark.parametrize("name", scenario_names())
def test_each_exercises_the_basic_operators(name: str) -> None:
    assert ops_of(scenario(name)) >= {"SUM", "COUNT", "AVG", "MAX", "MIN", "PATCH"}


def test_together_they_exercise_every_available_operator() -> None:
    assert set.union(*(ops_of(scenario(name)) for name in scenario_names())) == set(operator_specs()) - OF_METHODS


def test_entities_are_grouped_by_more_than_the_user() -> None:
    keys = {key for name in scenario_names() for entity in scenario(name).entity_types for key in entity.keys}
    assert {"user", "session", "day", "tool_name", "knowledge_point", "topic"} <= keys
    assert keys - set(BUILT_IN_KEYS)


@pytest.mark.parametrize("name", scenario_names())
def test_every_type_and_property_has_a_description(name: str) -> None:
    schema = scenario(name)
    assert schema.description
    descriptions = [each.description for each in schema.event_types] + [each.description for each in schema.entity_types]
    for kind in schema.event_types:
        descriptions += [each.description for each in kind.properties]
    for entity in schema.entity_types:
        descriptions += [each.description for each in entity.properties]
    assert all(descriptions)


@pytest.mark.parametrize("name", scenario_names())
def test_a_sample_conversation_can_be_sent_as_it_is(name: str) -> None:
    turns = sample_conversation(name)
    messages = [Message.from_fields({**turn, "tenant": "acme"}) for turn in turns]
    assert 24 <= len(messages) <= 90
    assert len({(each.session, each.id) for each in messages}) == len(messages)
    assert len({each.speaker for each in messages}) >= 2
    assert all(each.text for each in messages)
    assert [each.event_time for each in messages] == sorted(each.event_time for each in messages)


def test_the_agents_conversation_has_tool_calls_of_both_outcomes() -> None:
    calls = [call for turn in sample_conversation("agent_tools") if (call := turn.get("tool_call"))]
    assert {call["success"] for call in calls} == {True, False}
    assert all("error" in call for call in calls if not call["success"])


@pytest.mark.parametrize("name", ["companions", "../companion", ""])
def test_an_unknown_scenario_is_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="there is no scenario"):
        scenario(name)
    with pytest.raises(SchemaError, match="there is no scenario"):
        sample_conversation(name)
