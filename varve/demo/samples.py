"""The scenarios' sample conversations, with questions to them."""

from importlib import resources

import orjson

from memory.schema import sample_conversation
from varve.conversations import Conversation


def sample(scenario: str) -> Conversation:
    """The sample conversation of a scenario that ships with Varve.

    Raises:
        SchemaError: If there is no such scenario.
    """
    questions: dict[str, list[str]] = orjson.loads(resources.files("varve.demo").joinpath("questions.json").read_bytes())
    return Conversation(tuple(sample_conversation(scenario)), tuple(questions.get(scenario, ())))
