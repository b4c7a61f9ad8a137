"""The schema of the chaos runs: the education scenario, which merges texts, with a timeline of each learner's exercises beside."""

from datetime import timedelta
from typing import Final

from memory.schema import MemorySchema, parse_schema
from memory.schema.scenarios import scenario
from memory.schema.write import to_json

STORY: Final = "study_story"
"""The entity type that has the timeline."""
TIMELINE: Final = "story"
"""The timeline."""
QUIET: Final = timedelta(days=2)
KEEP: Final = timedelta(days=7)


def chaos_schema() -> MemorySchema:
    """The schema of every tenant of a run."""
    schema = scenario("education")
    fields = to_json(schema)
    types = fields["EntityTypes"]
    assert isinstance(types, list)
    types.append(
        {
            "EntityType": STORY,
            "Keys": ["user"],
            "Properties": [
                {"PropertyName": "user", "PropertyValueType": "string", "IsPrimaryKey": True},
                {
                    "PropertyName": TIMELINE,
                    "PropertyValueType": "string",
                    "AggregateExpression": {
                        "Op": "TIME_COMPRESS",
                        "EventType": "exercise",
                        "Quiet": {"Length": QUIET.days, "Unit": "day"},
                        "Keep": {"Length": KEEP.days, "Unit": "day"},
                    },
                },
            ],
        }
    )
    return parse_schema(fields, name=schema.name)
