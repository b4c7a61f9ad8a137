"""The items of the facts data set: a few messages, and the facts that an extractor must, may and must not store of them.

A *pattern* is a list of words, such as ``allerg walnut``: a text matches it if each word of the pattern begins a word of the text. Words in
parentheses may occur in the text, but need not.
"""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from evaluation.errors import DataSetError
from evaluation.windows import windows_of
from memory.records import Message, Window
from memory.schema import MemorySchema, scenario, scenario_names
from memory.validation_problems import problems_of

Text = Annotated[str, StringConstraints(min_length=1)]
Patterns = tuple[Text, ...]

TENANT = "facts"
SHIPPED = Path(__file__).with_name("sentences.jsonl")
CONVERSATIONS = Path(__file__).with_name("conversations.jsonl")
"""Conversations of several messages, which an earlier or later message changes."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ItemMessage(_Part):
    """A message of an item."""

    role: Literal["user", "assistant"]
    speaker: Text
    text: Text
    event_time: datetime
    session: Text = "s1"


class ProfileFact(_Part):
    """A fact in a profile field."""

    entity: Text
    field: Text
    values: Patterns = Field(min_length=1)
    """Patterns of the stored value; one of them must match."""
    negative: bool | None = None
    """Whether the value must express a dislike or an avoidance. None: either."""


class TypedEvents(_Part):
    """The event types and properties that are true of an item. An event is never wrong as a ``fact`` without properties."""

    types: tuple[Text, ...]
    """True types besides ``fact``."""
    properties: dict[str, tuple[bool | int | float | Text, ...]] = {}
    """True values by property: for a text, patterns of which one must match."""


class Item(_Part):
    """One situation with the expected result."""

    id: Text
    kind: Text
    is_trap: bool
    """Whether the messages look like plain statements of the user and are none."""
    user: Text
    schema_name: Text = Field(default="companion", alias="schema")
    messages: tuple[ItemMessage, ...] = Field(min_length=1)
    expected: tuple[ProfileFact, ...] = ()
    """Facts that the profile must have. Other facts are false, except those in ``allowed``."""
    allowed: tuple[ProfileFact, ...] = ()
    """Further facts that are true, and which an extractor may leave out."""
    forbidden: Patterns = ()
    """Patterns that no profile value may match."""
    in_events: Patterns = ()
    """Patterns of which each must match the content of an event."""
    verbatim: Patterns = ()
    """Texts of which each must be in the content of an event, character by character."""
    not_in_events: Patterns = ()
    """Regular expressions that match no event's content."""
    no_event: bool = False
    """Whether the messages contain nothing worth an event."""
    events: TypedEvents | None = None
    """Default: types and properties of the events are not checked."""

    @property
    def memory_schema(self) -> MemorySchema:
        """The memory types to extract."""
        return scenario(self.schema_name)

    def windows(self) -> list[Window]:
        """The messages as windows: one per session, in the order of the sessions' first messages."""
        sessions: dict[str, list[Message]] = {}
        for number, each in enumerate(self.messages):
            sessions.setdefault(each.session, []).append(
                Message(
                    tenant=TENANT,
                    user=self.user,
                    session=each.session,
                    id=f"{self.id}-m{number}",
                    role=each.role,
                    speaker=each.speaker,
                    text=each.text,
                    event_time=each.event_time,
                )
            )
        return [*windows_of(sessions.values())]


def read_items(path: Path) -> list[Item]:
    """Reads a data set of facts.

    Args:
        path: A file of JSON lines, one item per line.

    Raises:
        DataSetError: If the file cannot be read, or a line is not an item, repeats an id, or names a field that its schema lacks. The text
            names the line and the reason.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataSetError(f"{path} cannot be read: {error.strerror}; name a file of JSON lines as in {SHIPPED.name}") from error
    items = [_item(f"{path}, line {number}", line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not items:
        raise DataSetError(f"{path} has no items; name a file of JSON lines as in {SHIPPED.name}")
    repeated = sorted(id for id, count in Counter(each.id for each in items).items() if count > 1)
    if repeated:
        raise DataSetError(f"{path}: several items have the id {repeated[0]}; give each its own")
    return items


def _item(place: str, line: bytes) -> Item:
    try:
        item = Item.model_validate(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise DataSetError(f"{place}: not JSON: {error}") from error
    except ValidationError as error:
        raise DataSetError(f"{place}: {problems_of(error)}") from error
    if item.schema_name not in scenario_names():
        raise DataSetError(f"{place}: schema: no schema {item.schema_name!r} ships; the names are {', '.join(scenario_names())}")
    _check_names(place, item)
    return item


def _check_names(place: str, item: Item) -> None:
    """Raises a DataSetError for a type, property or field that the item's schema lacks."""
    if item.events is not None:
        types = {each.name: {one.name for one in each.properties} for each in item.memory_schema.event_types}
        for name in item.events.types:
            if name not in types:
                raise DataSetError(f"{place}: the schema {item.schema_name} has no event type {name}")
        for name in item.events.properties:
            if not any(name in properties for properties in types.values()):
                raise DataSetError(f"{place}: no event type of the schema {item.schema_name} has a property {name}")
    for fact in (*item.expected, *item.allowed):
        entity_type = item.memory_schema.entity_type(fact.entity)
        if entity_type is None or fact.field not in {each.name for each in entity_type.patched_properties()}:
            raise DataSetError(f"{place}: the schema {item.schema_name} has no patched field {fact.entity}.{fact.field}")
