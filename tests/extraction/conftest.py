"""A schema, an embedder, and tasks of extraction."""

from collections.abc import Callable

import pytest

from extraction.one_pass.answer.form import answer_schema
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.flow import Task
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import ExtractionContext
from memory.records import Window
from memory.schema import MemorySchema, parse_schema

BuildTask = Callable[..., Task]


@pytest.fixture(scope="session")
def schema() -> MemorySchema:
    """Two event types and two entity types, one of which is also keyed by a topic."""
    return parse_schema(
        {
            "Name": "tests",
            "EventTypes": [
                {
                    "EventType": "life_event",
                    "Description": "Something that happened.",
                    "Properties": [
                        {"PropertyName": "place", "PropertyValueType": "string", "Description": "Where."},
                        {"PropertyName": "people", "PropertyValueType": "list<string>", "Description": "With whom."},
                        {"PropertyName": "count", "PropertyValueType": "int64", "Description": "How many."},
                    ],
                },
                {
                    "EventType": "exercise",
                    "Description": "An exercise done.",
                    "Properties": [
                        {"PropertyName": "topic", "PropertyValueType": "string", "Description": "On what."},
                        {"PropertyName": "score", "PropertyValueType": "float32", "Description": "From 0 to 1."},
                        {"PropertyName": "right", "PropertyValueType": "bool", "Description": "Whether it was right."},
                    ],
                },
            ],
            "EntityTypes": [
                {
                    "EntityType": "profile",
                    "Description": "The user.",
                    "Properties": [
                        {"PropertyName": "home", "PropertyValueType": "string", "Description": "Where they live."},
                        {"PropertyName": "likes", "PropertyValueType": "string", "Description": "What they like."},
                    ],
                },
                {
                    "EntityType": "progress",
                    "Description": "How far the user is in a topic.",
                    "Keys": ["user", "topic"],
                    "Properties": [
                        {"PropertyName": "topic", "PropertyValueType": "string", "IsPrimaryKey": True},
                        {"PropertyName": "gaps", "PropertyValueType": "string", "Description": "What is not understood yet."},
                        {
                            "PropertyName": "mean",
                            "PropertyValueType": "float32",
                            "AggregateExpression": {"Op": "AVG", "EventType": "exercise", "EventPropertyName": "score"},
                        },
                    ],
                },
            ],
        }
    )


@pytest.fixture(scope="session")
def limits() -> PromptLimits:
    return PromptLimits(summary_tokens=100, entity_tokens=60, entities_tokens=400, window_tokens=1000)


@pytest.fixture(scope="session")
def task_of(schema: MemorySchema, limits: PromptLimits) -> BuildTask:
    """Builds the task of extracting from a window."""

    def build(window: Window, context: ExtractionContext | None = None) -> Task:
        context = context or ExtractionContext()
        return Task(
            source=ExtractionInput(window, schema, context.recalled_hashes),
            context=context,
            limits=limits,
            answer_schema=answer_schema(schema),
            max_tokens=500,
        )

    return build
