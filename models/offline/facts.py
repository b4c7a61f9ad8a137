"""Name-value facts that a user states about themselves, as patches of the profiles that have a field for them."""

from collections.abc import Iterator, Sequence
from typing import Final

from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityProperty, EntityType, MemorySchema
from models.extraction.drafts import PatchDraft
from models.offline.fact_rules import RULES
from models.offline.meanings import name_words
from models.offline.sentences import QUESTION_MARKS, sentences_of
from models.offline.turns import Turn

_MANY_WORDS: Final = """
relationships relationship family friends pets people preference preferences likes interests tastes hobbies favourites favorites
avoids dislikes allergies restrictions goals aims sizes health
"""
_MANY: Final = frozenset(_MANY_WORDS.split())


def patches_of(turns: Sequence[Turn], *, window: Window, schema: MemorySchema, entities: Sequence[Memory]) -> Iterator[PatchDraft]:
    """Patches for what the user says of themselves; a field that no rule knows stays untouched.

    A field that holds one value is replaced where the entity is shown, a field that holds many gets a line more; what it already says is
    not said again. Only the user's own words count: where several people speak as users, those of the one who bears the user's name.

    Args:
        turns: Of the window.
        window: It says whose profile it is.
        schema: Its entity types with fields that patches set.
        entities: Those that are known, with their values.
    """
    own = _own_speaker(turns, window.user)
    told: dict[tuple[str, str], list[str]] = {}
    for entity_type in schema.entity_types:
        key = _key_of(entity_type, window)
        if key is None:
            continue
        shown = next((each for each in entities if each.type == entity_type.name and each.entity_key == key), None)
        for turn in turns:
            if turn.message.role != "user" or turn.speaker != own:
                continue
            for field, value in _facts(turn, entity_type):
                known = told.setdefault((entity_type.name, field.name), _lines(shown, field.name))
                if any(value.casefold() == line.casefold() for line in known):
                    continue
                search = known[-1] if known and _holds_one(field) else ""
                known[:] = [value] if _holds_one(field) else [*known, value]
                yield PatchDraft(
                    entity_type=entity_type.name,
                    entity_key=key,
                    field=field.name,
                    search=search,
                    replace=value,
                    messages=(turn.place,),
                    event_time=turn.message.event_time,
                )


def _own_speaker(turns: Sequence[Turn], user: str) -> str | None:
    speakers = {turn.speaker for turn in turns if turn.message.role == "user"}
    if len(speakers) == 1:
        return next(iter(speakers))
    return next((speaker for speaker in sorted(speakers) if speaker.casefold() == user.casefold()), None)


def _key_of(entity_type: EntityType, window: Window) -> str | None:
    known = {"user": window.user, "session": window.session}
    if not all(key in known for key in entity_type.keys):
        return None
    try:
        return entity_key(*(known[key] for key in entity_type.keys))
    except KeyFormatError:
        return None


def _lines(shown: Memory | None, field: str) -> list[str]:
    value = shown.properties.get(field) if shown is not None else None
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _facts(turn: Turn, entity_type: EntityType) -> Iterator[tuple[EntityProperty, str]]:
    for field in entity_type.patched_properties():
        words = {"_".join(name_words(field.name)), *name_words(field.name)}
        for rule in RULES:
            if not words & rule.fields:
                continue
            for sentence in sentences_of(turn.text):
                if sentence.endswith(QUESTION_MARKS):
                    continue
                for match in rule.pattern.finditer(sentence):
                    parts = {name: " ".join(part.split()) for name, part in match.groupdict().items() if part}
                    yield field, rule.form.format(**parts) if not _holds_one(field) else parts["value"]


def _holds_one(field: EntityProperty) -> bool:
    return not field.value_type.startswith("list") and not set(name_words(field.name)) & _MANY
