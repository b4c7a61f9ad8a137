"""The event type of an event: the one that it names, or the one that its properties show."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from extraction.drafts import DropCounter
from extraction.one_pass.answer import form
from extraction.one_pass.answer.coercion import as_object
from extraction.one_pass.answer.evidence import InvalidItemError
from extraction.one_pass.answer.names import candidate_named, named_fields, plain_name
from memory.schema import EventType, MemorySchema

_GENERAL: Final = "fact"
"""The name, in a schema that has it, of the type of what fits no other."""


class EventTypes:
    """Chooses the types of the events of one answer.

    Args:
        schema: The schema.
        items: The events of the answer. If none of them names a type of the schema, the answer misses the form, and no type is guessed.
        tally: Counts the guessed types, as dropped properties.
    """

    def __init__(self, schema: MemorySchema, items: Iterable[Any], tally: DropCounter) -> None:
        self._types = schema.event_types
        self._tally = tally
        names = (named_fields(item).get(form.TYPE) for item in items if isinstance(item, dict))
        self._may_guess = any(self._named(name) is not None for name in names)

    def of(self, fields: Mapping[str, Any]) -> EventType:
        """The type of an event; if it names none of the schema, the only one with most of its properties, or else the general one.

        Args:
            fields: The event's, under the form's names.

        Raises:
            InvalidItemError: If there is no such type.
        """
        named = self._named(fields.get(form.TYPE))
        if named is None:
            named = self._likely(fields)
            self._tally.drop("property", "unknown_type")
        return named

    def _named(self, name: Any) -> EventType | None:
        """The type of a name; where the schema has but one, an event need not name it."""
        is_blank = name is None or (isinstance(name, str) and name.strip().lower() in ("", "null"))
        return self._types[0] if len(self._types) == 1 and is_blank else candidate_named(self._types, name)

    def _likely(self, fields: Mapping[str, Any]) -> EventType:
        given = frozenset(map(plain_name, (*fields, *as_object(fields.get(form.PROPERTIES)))))
        counts = {each: sum(plain_name(own.name) in given for own in each.properties) for each in self._types}
        most = max(counts.values(), default=0)
        likely = [each for each, count in counts.items() if count == most > 0]
        if len(likely) != 1:
            likely = [each for each in self._types if each.name == _GENERAL]
        if not likely or not self._may_guess:
            raise InvalidItemError("unknown_type")
        return likely[0]
