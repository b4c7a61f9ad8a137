"""Facts that users plainly state about themselves, as patches of the profile fields that take them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from extraction.bounds import LONGEST_PATCH
from extraction.drafts import DropCounter, PatchDraft
from extraction.offline.endings import Ending, endings_of
from extraction.offline.fact_words import RELATIVES
from extraction.offline.moods import plain_sentences
from extraction.offline.plain_facts import PlainFact, facts_of
from extraction.offline.profile_lines import edits_of
from extraction.offline.turns import Turn
from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityType, MemorySchema

_ANSWER: Final = re.compile(
    r"^\s*(?:(?:in|a|an) )?(?P<value>[^\W\d_][\w'’-]*(?:,? [\w'’-]+){0,3})(?:\s*[.!]|\s*[^\w\s?,;:]+)?\s*$", re.IGNORECASE
)
_NO_NOUN_PHRASE: Final = re.compile(
    r"\?|\b(?:not?|none|nope|nothing|never|yes|yeah|yep|sure|ok|okay|maybe|why|what|who|guess|you|i|it|that|this|is|are|was|am|do|does"
    r"|don['’]t|can|will|would|skip|pass|secret|private|tell|ask|none|anywhere|nowhere|everywhere|here|thanks|later|stop|idk|dunno)\b",
    re.IGNORECASE,
)
"""Words of a refusal, a question or a clause."""
_ASKING_WORD: Final = re.compile(r"\b(?:what|where|which|who|when|how|or)\b", re.IGNORECASE)
_ASKED: Final = tuple(
    (re.compile(question, re.IGNORECASE), statement)
    for question, statement in (
        (r"\bwhat(?:['’]s| is) your (?:first |full )?name\?|\bwhat (?:should|shall|can|may) i call you\?", "My name is {0}."),
        (
            r"\bwhere do you live\?|\b(?:which|what) (?:city|town|country) (?:do you live in|are you (?:living|based) in)\?"
            r"|\bwhere are you (?:based|living)\?",
            "I live in {0}.",
        ),
        (r"\bwhat(?:['’]s| is) your (?:job|occupation|profession)\?|\bwhat do you do for (?:a living|work)\?", "I work as a {0}."),
        (r"\b(?:do you have any allerg(?:y|ies)|are you allergic to anything|what are you allergic to)\?", "I'm allergic to {0}."),
        (rf"\bwhat(?:['’]s| is) your (?P<relation>{RELATIVES})['’]s name\?", "My {relation}'s name is {0}."),
        (rf"\bwhat(?:['’]s| is) the name of your (?P<relation>{RELATIVES})\?", "My {relation}'s name is {0}."),
    )
)
"""Questions of the assistant, and the statement that a noun phrase answers them with."""


def user_statements(turns: Sequence[Turn], user: str) -> tuple[list[PlainFact], list[Ending]]:
    """The facts that the user states about themselves, and the statements that end facts; ``message`` of each is the index of its turn.

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
    facts = [replace(each, message=stating[each.message]) for each in facts_of(sentences)]
    endings = [replace(each, message=stating[each.message]) for each in endings_of(sentences)]
    return facts, endings


def believed(facts: Sequence[PlainFact], place_scores: Mapping[str, float]) -> list[PlainFact]:
    """The facts without homes that are no places.

    Args:
        facts: Facts of a window.
        place_scores: The scores of the homes that need evidence, by name.
    """
    return [fact for fact in facts if fact.place_evidence is None or place_scores.get(fact.value, -1.0) >= fact.place_evidence]


def patches_of(
    facts: Sequence[PlainFact],
    endings: Sequence[Ending],
    turns: Sequence[Turn],
    *,
    window: Window,
    schema: MemorySchema,
    entities: Sequence[Memory],
    tally: DropCounter,
) -> Iterator[PatchDraft]:
    """Patches for the facts and the ends of facts, as :func:`extraction.offline.profile_lines.edits_of` edits the fields.

    Args:
        facts: What the user states, from :func:`user_statements`.
        endings: Statements that may end facts, from :func:`user_statements`.
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
            for edit in edits_of(field, _lines(entity, field.name), facts, endings):
                if len(edit.search) > LONGEST_PATCH:
                    tally.drop("patch", "too_long")
                    continue
                turn = turns[edit.message]
                yield PatchDraft(
                    entity_type=entity_type.name,
                    entity_key=key,
                    field=field.name,
                    search=edit.search,
                    replace=edit.replace,
                    messages=(turn.message_index,),
                    event_time=turn.message.event_time,
                )


def _as_statement(turns: Sequence[Turn], index: int) -> str:
    """A turn's text. A noun phrase that answers the assistant's only question is completed to a statement."""
    text = turns[index].text
    if index == 0 or turns[index - 1].message.role != "assistant" or len(turns[index - 1].questions) != 1:
        return text
    answer = _ANSWER.match(text)
    if answer is None or _NO_NOUN_PHRASE.search(text):
        return text
    for question, statement in _ASKED:
        asked = question.search(turns[index - 1].questions[0])
        if asked is not None and len(_ASKING_WORD.findall(turns[index - 1].questions[0])) <= 1:
            return statement.format(answer["value"], **asked.groupdict())
    return text


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


def _lines(entity: Memory | None, field: str) -> list[str]:
    value = entity.properties.get(field) if entity is not None else None
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
