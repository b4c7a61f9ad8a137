"""The schema of the chaos runs: the education scenario, and in addition a timeline of each learner's exercises.

It merges texts, and its knowledge points are matched by meaning.
"""

from datetime import timedelta
from typing import Any, Final

from memory.schema import MemorySchema, parse_schema
from memory.schema.scenarios import scenario
from memory.schema.write import to_json

STORY: Final = "study_story"
"""The entity type that has the timeline."""
TIMELINE: Final = "story"
"""The timeline."""
POINT: Final = "knowledge_point"
SIMILARITY: Final = 0.9
QUIET: Final = timedelta(days=2)
KEEP: Final = timedelta(days=7)


def chaos_schema() -> MemorySchema:
    """The schema of every tenant of a run."""
    schema = scenario("education")
    fields = to_json(schema)
    types: Any = fields["EntityTypes"]
    # So near that no two of the load's points are one: each extraction asks the store and Redis, and must find the same.
    (point,) = (
        each for of_type in types if of_type["EntityType"] == "mastery" for each in of_type["Properties"] if each["PropertyName"] == POINT
    )
    point["Similarity"] = SIMILARITY
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
