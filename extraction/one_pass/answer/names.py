"""The names of lists and fields as models write them: in other cases, with other separators, and under common English synonyms.

Names in other languages are not guessed: an answer that has them parses as empty with content, and the model is asked again.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from extraction.one_pass.answer import form
from memory.json_parser import Repeated
from memory.schema import EntityProperty, EntityType, EventType

N = TypeVar("N", EventType, EntityType, EntityProperty)

_SEPARATORS: Final = re.compile(r"[\W_]+")
_LISTS: Final[Mapping[str, str]] = {
    "segment": form.SEGMENTS,
    "segments": form.SEGMENTS,
    "event": form.EVENTS,
    "events": form.EVENTS,
    "extractedevents": form.EVENTS,
    "eventlist": form.EVENTS,
    "patch": form.PATCHES,
    "patches": form.PATCHES,
    "entitypatches": form.PATCHES,
}
_FIELDS: Final[Mapping[str, str]] = {
    **{name: name for name in (*form.EVENT_FIELDS, form.TOPIC, form.RANGES, form.KEY, form.FIELD, form.SEARCH, form.REPLACE)},
    **dict.fromkeys(("eventtype", "entitytype", "entity"), form.TYPE),
    **dict.fromkeys(("msg", "messages", "message", "messageids", "messageindices", "messagenumbers", "evidence"), form.MESSAGES),
    "eventdate": form.DATE,
    **dict.fromkeys(("text", "statement"), form.CONTENT),
    "properties": form.PROPERTIES,
    "keyword": form.KEYWORDS,
    "importance": form.WEIGHT,
    "range": form.RANGES,
    "entitykey": form.KEY,
    **dict.fromkeys(("old", "oldtext", "oldvalue", "find"), form.SEARCH),
    **dict.fromkeys(("replacement", "replacewith", "new", "newtext", "newvalue"), form.REPLACE),
}
_DRAFTS: Final = re.compile(
    r"draft|think|thought|reason|reflect|scratch|analysis|plan$|firsttry|attempt|reject|discard|wrong|former|previous|example|schema|quote"
)


def plain_name(name: str) -> str:
    """A name without case, white space and punctuation."""
    return _SEPARATORS.sub("", name).casefold()


def candidate_named(candidates: Sequence[N], name: Any) -> N | None:
    """The candidate of a name: written as in the schema, or the only one that differs just in case, blanks, hyphens and underscores."""
    if not isinstance(name, str):
        return None
    exact = next((each for each in candidates if each.name == name), None)
    if exact is not None:
        return exact
    alike = [each for each in candidates if plain_name(each.name) == plain_name(name)]
    return alike[0] if len(alike) == 1 else None


def list_name(name: str) -> str | None:
    """The list of the answer's form that a name means."""
    return _LISTS.get(plain_name(name))


def names_a_draft(name: str) -> bool:
    """Whether a member of a wrapper is something other than its answer: thoughts, a rejected draft, the question."""
    return _DRAFTS.search(plain_name(name)) is not None


def named_fields(item: Mapping[str, Any], *, reserved: Collection[str] = ()) -> dict[str, Any]:
    """An item under the field names of the form.

    Args:
        item: The item.
        reserved: Names that are not changed, because they are properties of the item's type.
    """
    fields: dict[str, Any] = {}
    for name, value in item.items():
        known = _FIELDS.get(plain_name(name))
        target = name if known is None or name in reserved or (known in item and known != name) else known
        fields[target] = value if target not in fields else Repeated((fields[target], value))
    return fields


def kind_of_item(item: Mapping[str, Any]) -> str | None:
    """The list that an item belongs to, by its fields."""
    names = {_FIELDS.get(plain_name(name)) for name in item}
    if form.CONTENT in names and (form.TYPE in names or form.MESSAGES in names):
        return form.EVENTS
    if form.FIELD in names and form.REPLACE in names:
        return form.PATCHES
    if form.TOPIC in names and form.RANGES in names:
        return form.SEGMENTS
    return None
