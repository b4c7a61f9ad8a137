"""Facts that users plainly state about themselves, as patches of the profile fields that take them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from extraction.bounds import LONGEST_PATCH
from extraction.drafts import DropCounter, PatchDraft
from extraction.offline.answers import completed
from extraction.offline.fact_grammar import Field
from extraction.offline.moods import plain_sentences
from extraction.offline.place_context import may_be_place
from extraction.offline.plain_facts import PlainFact, facts_of
from extraction.offline.property_roles import name_words
from extraction.offline.turns import Turn
from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityProperty, EntityType, MemorySchema
from memory.text import shortened

_TASTES: Final = "preference preferences likes interests tastes hobbies favourites favorites"
_AVOIDED: Final = "avoids dislikes allergies restrictions"
_FIELD_WORDS: Final[dict[Field, str]] = {
    Field.NAME: "name nickname",
    Field.HOME: "home city residence address location lives",
    Field.OCCUPATION: "occupation job profession work employment",
    Field.EMPLOYER: "employer company",
    Field.AGE: "age",
    Field.BIRTHDAY: "birthday",
    Field.LEVEL: "level grade class",
    Field.SIZE: "sizes size",
    Field.GOAL: "goals goal aims",
    Field.LIKE: _TASTES,
    Field.DISLIKE: f"preference preferences {_AVOIDED}",
    Field.AVOID: f"preference preferences {_AVOIDED}",
    Field.ALLERGY: f"preference preferences health {_AVOIDED}",
    Field.DIET: "diet preference preferences",
    Field.RELATION: "relationships relationship family friends pets people",
}
"""Words of a schema's field by which it takes a kind of fact."""
_TAKES: Final = {kind: frozenset(words.split()) for kind, words in _FIELD_WORDS.items()}
_MANY: Final = frozenset(
    f"{_TASTES} {_AVOIDED} relationships relationship family friends pets people goals goal aims sizes health diet".split()
)
_FIRST_PERSON_LINE: Final = re.compile(r"^my\b", re.IGNORECASE)


def user_facts(turns: Sequence[Turn], user: str) -> list[PlainFact]:
    """The facts that the user states about themselves; ``message`` of each is the index of its turn.

    If several people write with the role ``user``, only the one with the user's name counts.

    Args:
        turns: Of the window.
        user: Whose profile it is.
    """
    own = _own_speaker(turns, user)
    stating = [
        index for index, turn in enumerate(turns) if turn.message.role == "user" and turn.speaker == own and not turn.message.tool_call
    ]
    sentences = plain_sentences([_as_statement(turns, index) for index in stating])
    facts = facts_of(sentences)
    return [_at_turn(fact, stating) for fact in facts]


def believed(facts: Sequence[PlainFact], place_scores: Mapping[str, float]) -> list[PlainFact]:
    """The facts without homes that are no places.

    If a move to an unknown name is not believed ("I moved to Zapp"), the former home is in doubt: the fact says that it is over. Software
    and teams leave it alone.

    Args:
        facts: Facts of a window.
        place_scores: The scores of the homes that need evidence, by name.
    """
    found: list[PlainFact] = []
    for fact in facts:
        if fact.place_evidence is None or place_scores.get(fact.value, -1.0) >= fact.place_evidence:
            found.append(fact)
        elif fact.value[0].isupper() and may_be_place(fact.place_evidence):
            found = [each for each in found if each.field is not Field.HOME]
            found.append(replace(fact, value="", place_evidence=None, is_over=True))
    return found


def patches_of(
    facts: Sequence[PlainFact],
    turns: Sequence[Turn],
    *,
    window: Window,
    schema: MemorySchema,
    entities: Sequence[Memory],
    tally: DropCounter,
) -> Iterator[PatchDraft]:
    """Patches for the facts. A field that takes no kind of fact is not touched.

    A field with one value is replaced if the entity is known. A field with many values gets another line, unless it has that line already.

    Args:
        facts: What the user states, from :func:`user_facts`.
        turns: Of the window.
        window: It says whose profile it is.
        schema: Its entity types with fields that patches set.
        entities: Those that are known, with their values.
        tally: Counts what is left out.
    """
    for entity_type in schema.entity_types:
        key = _key_of(entity_type, window)
        if key is None:
            continue
        entity = next((each for each in entities if each.type == entity_type.name and each.entity_key == key), None)
        for field in entity_type.patched_properties():
            current = _current_values(entity, field.name)
            for fact in (each for each in facts if _takes(field, each.field)):
                turn = turns[fact.message]
                for line in [each for each in current.values() if fact.ends(each)]:
                    del current[line.casefold()]
                    yield _patch(turn, entity_type, key, field, search=line, put="")
                if fact.is_over:
                    continue
                value = shortened(_line(fact, field), LONGEST_PATCH)
                if value.casefold() in current:
                    continue
                search = current[next(reversed(current))] if current and _holds_one(field) else ""
                if len(search) > LONGEST_PATCH:
                    tally.drop("patch", "too_long")
                    continue
                if _holds_one(field):
                    current.clear()
                current[value.casefold()] = value
                yield _patch(turn, entity_type, key, field, search=search, put=value)


def _patch(turn: Turn, entity_type: EntityType, key: str, field: EntityProperty, *, search: str, put: str) -> PatchDraft:
    return PatchDraft(
        entity_type=entity_type.name,
        entity_key=key,
        field=field.name,
        search=search,
        replace=put,
        messages=(turn.message_index,),
        event_time=turn.message.event_time,
    )


def _as_statement(turns: Sequence[Turn], index: int) -> str:
    """A turn's text. A noun phrase that answers the assistant's only question is completed to a statement."""
    text = turns[index].text
    if index == 0 or turns[index - 1].message.role != "assistant" or len(turns[index - 1].questions) != 1:
        return text
    return completed(turns[index - 1].questions[0], text)


def _at_turn(fact: PlainFact, stating: Sequence[int]) -> PlainFact:
    return replace(fact, message=stating[fact.message])


def _own_speaker(turns: Sequence[Turn], user: str) -> str | None:
    speakers = {turn.speaker for turn in turns if turn.message.role == "user"}
    if len(speakers) == 1:
        return next(iter(speakers))
    return next((speaker for speaker in sorted(speakers) if speaker.casefold() == user.casefold()), None)


def _key_of(entity_type: EntityType, window: Window) -> str | None:
    keys = {"user": window.user, "session": window.session}
    if not all(key in keys for key in entity_type.keys):
        return None
    try:
        return entity_key(*(keys[key] for key in entity_type.keys))
    except KeyFormatError:
        return None


def _current_values(entity: Memory | None, field: str) -> dict[str, str]:
    """The lines of a field by their case-folded form."""
    return {line.casefold(): line for line in _lines(entity, field)}


def _lines(entity: Memory | None, field: str) -> list[str]:
    value = entity.properties.get(field) if entity is not None else None
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _takes(field: EntityProperty, kind: Field) -> bool:
    words = {"_".join(name_words(field.name)), *name_words(field.name)}
    return bool(words & _TAKES[kind])


def _line(fact: PlainFact, field: EntityProperty) -> str:
    """The line for a fact. A field for what is avoided, or with one value, takes the bare value."""
    words = set(name_words(field.name))
    if fact.field is Field.RELATION:
        return f"{fact.relation}: {fact.value}"
    if _holds_one(field) or (fact.field in (Field.AVOID, Field.DISLIKE) and words & {"avoids", "dislikes", "restrictions"}):
        return fact.value
    match fact.field:
        case Field.LIKE:
            return (
                _FIRST_PERSON_LINE.sub("", fact.value).strip()
                if _FIRST_PERSON_LINE.match(fact.value) and " is " in fact.value
                else f"likes {fact.value}"
            )
        case Field.DISLIKE:
            return f"dislikes {fact.value}"
        case Field.AVOID:
            return f"doesn't {fact.verb} {fact.value}" if fact.verb else f"avoids {fact.value}"
        case Field.ALLERGY:
            return f"allergic to {fact.value}"
        case _:
            return fact.value


def _holds_one(field: EntityProperty) -> bool:
    return not field.value_type.startswith("list") and not set(name_words(field.name)) & _MANY
