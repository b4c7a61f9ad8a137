"""Facts that users state about themselves, as patches of the profile fields that take them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.bounds import LONGEST_PATCH
from extraction.drafts import DropCounter, PatchDraft
from extraction.offline.property_roles import name_words
from extraction.offline.sentences import QUESTION_MARKS, sentences_of
from extraction.offline.turns import Turn
from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityProperty, EntityType, MemorySchema
from memory.text import shortened

_NAME: Final = r"[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){0,2}"
_PHRASE: Final = r"[^.,;!?\n]{2,60}?(?=\s+(?:and|but|because|so|which|since|for|when|while|with|on|until|from)\b|[.,;!?\n]|$)"
_RELATION: Final = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|sister|brother|mother|father|mom|mum|dad|son|daughter|grandma|grandmother|grandpa|"
    "grandfather|aunt|uncle|cousin|niece|nephew|best friend|friend|dog|cat|puppy|kitten|horse|boss|roommate|flatmate|neighbou?r"
)


@dataclass(frozen=True, slots=True)
class FactRule:
    """A pattern for one kind of fact, and the fields that take it."""

    fields: frozenset[str]
    """Words of a field's name, singular."""
    pattern: re.Pattern[str]
    form: str
    """The line that a field with many values gets."""


def _rule(fields: str, pattern: str, form: str = "{value}", *, ignore_case: bool = True) -> FactRule:
    return FactRule(frozenset(fields.split()), re.compile(pattern, re.IGNORECASE if ignore_case else 0), form)


_LIKES: Final = "preference preferences likes interests tastes hobbies favourites favorites"
_AVOIDS: Final = "avoids dislikes allergies restrictions"

RULES: Final = (
    _rule(
        "name nickname",
        rf"\b(?:[Mm]y name is|[Mm]y name['’]s|[Cc]all me|[Ii]['’]m called|[Ii] am called)\s+(?P<value>{_NAME})",
        ignore_case=False,
    ),
    _rule(
        "home city residence address location lives",
        r"\bI(?:['’]ve)? (?:now |just |recently )?(?:live|lived|moved|relocated)(?: back| over)? (?:in|to) "
        rf"(?P<value>{_NAME}(?:,\s+{_NAME})?)",
        ignore_case=False,
    ),
    _rule(
        "occupation job profession work employment",
        rf"\b(?:I (?:now |currently )?work as|I['’]m working as|I (?:have )?start(?:ed)? as|my job is|I am employed as)\s+"
        rf"(?:an?\s+|the\s+)?(?P<value>{_PHRASE})",
    ),
    _rule("employer company", rf"\b[Ii] (?:now |currently )?work (?:for|at)\s+(?P<value>(?:the\s+)?{_NAME})", ignore_case=False),
    _rule("age", r"\bI(?:['’]m| am)\s+(?P<value>\d{1,3})(?: years old)\b"),
    _rule("birthday", rf"\bmy birthday is (?:on )?(?P<value>{_PHRASE})"),
    _rule("level grade class", r"\bI(?:['’]m| am) in (?P<value>(?:grade|year|class)\s+\w+)"),
    _rule("sizes size", r"\b(?P<value>(?:shoe )?size (?:\d+(?:\.\d+)?|X{0,3}[SML])\b)"),
    _rule(
        _LIKES,
        rf"\bI (?:really |absolutely |just )?(?:love|like|enjoy|prefer|adore)\s+"
        rf"(?P<value>(?!(?:to hear|that|it|you|this|how|the way)\b){_PHRASE})",
        "likes {value}",
    ),
    _rule(_LIKES, rf"\b(?P<value>my favou?rite [^.,;!?\n]{{2,60}}? (?:is|are) {_PHRASE})", "{value}"),
    _rule(
        f"{_LIKES} {_AVOIDS}",
        rf"\bI (?:really |absolutely )?(?:hate|dislike|can['’]?t stand|don['’]?t like|do not like)\s+"
        rf"(?P<value>(?!(?:that|it|this|how)\b){_PHRASE})",
        "dislikes {value}",
    ),
    _rule(f"{_AVOIDS} health {_LIKES}", rf"\bI(?:['’]m| am)\s+allergic to\s+(?P<value>{_PHRASE})", "allergic to {value}"),
    _rule(_AVOIDS, rf"\bI (?:don['’]t|do not|never) (?:buy|eat|drink|wear|use)\s+(?P<value>{_PHRASE})"),
    _rule("diet", r"\bI(?:['’]m| am)\s+(?:a\s+)?(?P<value>vegan|vegetarian|pescatarian)\b"),
    _rule(
        "relationships relationship family friends pets people",
        rf"\b[Mm]y (?P<relation>{_RELATION})(?:['’]s name is|,? (?:is )?(?:called|named))?,?\s+(?P<value>{_NAME})",
        "{relation}: {value}",
        ignore_case=False,
    ),
    _rule("goals goal aims", rf"\bmy goal is (?:to )?(?P<value>{_PHRASE})"),
)


_MANY_WORDS: Final = """
relationships relationship family friends pets people preference preferences likes interests tastes hobbies favourites favorites
avoids dislikes allergies restrictions goals aims sizes health
"""
_MANY: Final = frozenset(_MANY_WORDS.split())


def patches_of(
    turns: Sequence[Turn], *, window: Window, schema: MemorySchema, entities: Sequence[Memory], tally: DropCounter
) -> Iterator[PatchDraft]:
    """Patches for what the users state about themselves. A field without a rule is not touched.

    A field with one value is replaced if the entity is known. A field with many values gets another line, unless it has that line already.
    Only the user's own words count: if several people speak as users, those of the speaker with the user's name.

    Args:
        turns: Of the window.
        window: It says whose profile it is.
        schema: Its entity types with fields that patches set.
        entities: Those that are known, with their values.
        tally: Counts what is left out.
    """
    own = _own_speaker(turns, window.user)
    stated = [(turn, _statements(turn)) for turn in turns if turn.message.role == "user" and turn.speaker == own]
    values: dict[tuple[str, str], dict[str, str]] = {}
    for entity_type in schema.entity_types:
        key = _key_of(entity_type, window)
        if key is None:
            continue
        entity = next((each for each in entities if each.type == entity_type.name and each.entity_key == key), None)
        for turn, sentences in stated:
            for field, fact in _facts(sentences, entity_type):
                value = shortened(fact, LONGEST_PATCH)
                current = values.setdefault((entity_type.name, field.name), _current_values(entity, field.name))
                if value.casefold() in current:
                    continue
                search = current[next(reversed(current))] if current and _holds_one(field) else ""
                if len(search) > LONGEST_PATCH:
                    tally.drop("patch", "too_long")
                    continue
                if _holds_one(field):
                    current.clear()
                current[value.casefold()] = value
                yield PatchDraft(
                    entity_type=entity_type.name,
                    entity_key=key,
                    field=field.name,
                    search=search,
                    replace=value,
                    messages=(turn.message_index,),
                    event_time=turn.message.event_time,
                )


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


def _statements(turn: Turn) -> list[str]:
    return [sentence for sentence in sentences_of(turn.text) if not sentence.endswith(QUESTION_MARKS)]


def _current_values(entity: Memory | None, field: str) -> dict[str, str]:
    """The lines of a field by their case-folded form."""
    return {line.casefold(): line for line in _lines(entity, field)}


def _lines(entity: Memory | None, field: str) -> list[str]:
    value = entity.properties.get(field) if entity is not None else None
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _facts(sentences: Sequence[str], entity_type: EntityType) -> Iterator[tuple[EntityProperty, str]]:
    for field in entity_type.patched_properties():
        words = {"_".join(name_words(field.name)), *name_words(field.name)}
        for rule in RULES:
            if not words & rule.fields:
                continue
            for sentence in sentences:
                for match in rule.pattern.finditer(sentence):
                    parts = {name: " ".join(part.split()) for name, part in match.groupdict().items() if part}
                    yield field, rule.form.format(**parts) if not _holds_one(field) else parts["value"]


def _holds_one(field: EntityProperty) -> bool:
    return not field.value_type.startswith("list") and not set(name_words(field.name)) & _MANY
