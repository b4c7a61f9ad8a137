"""Facts that users plainly state about themselves, as patches of the profile fields that take them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from extraction.bounds import LONGEST_PATCH
from extraction.drafts import DropCounter, PatchDraft
from extraction.offline.facts.endings import Ending, endings_of, with_antecedents
from extraction.offline.facts.place_context import may_be_place
from extraction.offline.facts.plain_facts import facts_of
from extraction.offline.facts.profile_lines import edits_of
from extraction.offline.facts.sentence_facts import PlainFact
from extraction.offline.factuality.moods import plain_sentences
from extraction.offline.factuality.unrelated_cues import without_unrelated_cues
from extraction.offline.grammar.clauses import clauses_of, statement_of
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.implied.facts import with_implied_facts
from extraction.offline.implied.mentioned_facts import with_mentions_stated
from extraction.offline.reactions import as_statement
from extraction.offline.rewriting.answers import completed
from extraction.offline.rewriting.canonical_clauses import in_usual_order
from extraction.offline.rewriting.clause_structure import with_plain_structure
from extraction.offline.rewriting.given_names import with_names_capitalised
from extraction.offline.rewriting.introductions import with_introductions
from extraction.offline.rewriting.name_corrections import introduces_writer, names_writer, with_right_name
from extraction.offline.rewriting.openers import without_openers
from extraction.offline.rewriting.own_forms import with_form_as_statements
from extraction.offline.rewriting.plain_wording import plainly_worded
from extraction.offline.rewriting.short_answers import affirmed, whole_question
from extraction.offline.rewriting.spelling import with_keywords_spelled
from extraction.offline.rewriting.spoken_style import in_standard_english
from extraction.offline.rewriting.statements_apart import with_statements_in_place
from extraction.offline.rewriting.taste_wording import with_tastes_in_place
from extraction.offline.turns import Turn, agreed_statement, question_to
from extraction.port import EntityName
from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityType, MemorySchema
from memory.texts.prefiltered_patterns import compiled

_INTRODUCTION: Final = re.compile(
    r"^\W*(?:i['’]?m|i am) (?P<name>(?-i:[A-Z])[a-zà-ÿ'’-]+)(?=\s*(?:[.,!]|$)|\s+(?:and|from)\b)", re.IGNORECASE
)
_LOWER_INTRODUCTION: Final = re.compile(
    r"^\W*(?:(?i:hi|hello|hey|hiya)(?: there| all| everyone)?[\s,!.]+)?(?i:i['’]?m|i am) (?P<name>[a-zà-ÿ]{2,15})(?=\s*(?:[.,!]|$)"
    r"|\s+(?:and|from)\b)"
)
_OWN_NAME: Final = compiled(
    r"^\W*(?:(?:hi|hello|hey|hiya|yes|so|ok)\b[\s,!.]+)?(?:(?P<it>it['’]?s|it is|this is) )?(?P<name>[^\W\d_]{2,20})(?P<more>"
    r" (?-i:[A-ZÀ-Þ])[\w'’-]+)?"
    r"(?P<after> (?:here|speaking|again)\b|(?= (?:with|without) (?:an?|the|two|one|no) )|(?=\s*[.!]?\s*$))",
    re.IGNORECASE,
)
"""Begins a message with a name: "Ana Kos here", "it's zoë with two dots". It is the writer's if the speaker is called so."""
_ROUND_OF_NAMES: Final = compiled(
    r"\bmy name(?:['’]?s| is)\b|\b(?:hi|hello|hey)\b[^.!?]{0,20}\b(?:i['’]?m|i am) (?-i:[A-Z])|\bintroduce "
    r"(?:yourself|yourselves|ourselves)\b|\bwho (?:is|are) (?:you|new)\b|\bwho['’]s (?:new|there|here)\b|\byour names?\?"
    r"|^\W*(?:i['’]?m|i am) (?-i:[A-Z][a-z]+)(?:\s*[.,!]|$| (?:and|from)\b)",
    re.IGNORECASE,
)
_NEW_HERE: Final = compiled(
    r"\s*,?\s+(?:and )?(?:i['’]?m|i am) (?:the|your) new\b|\s*,\s+(?:the|your) new\b|\s+from\b.{2,30}\bteam\b", re.IGNORECASE
)
"""After a name, says that others do not know the writer yet."""
_OWN_CLAUSE: Final = re.compile(r"(?:i|we)\b(?!.*\b(?:my|our|you|your|here|me|us)\b)", re.IGNORECASE)
"""A clause about its speaker that another speaker may repeat of themselves."""
_ROUND: Final = 4
"""Turns before an introduction in which others may have introduced themselves."""


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
    sentences = plain_sentences(_with_right_names([_as_statement(turns, index) for index in stating]))
    stated = facts_of(sentences)
    ended = with_antecedents(endings_of(sentences), stated)
    facts = [replace(each, message=stating[each.message]) for each in stated]
    unique = {(each.field, each.value.casefold(), each.relation, each.message): each for each in reversed(facts)}
    return list(reversed(unique.values())), [replace(each, message=stating[each.message]) for each in ended]


def believed(
    facts: Sequence[PlainFact], endings: Sequence[Ending], place_scores: Mapping[str, float]
) -> tuple[list[PlainFact], list[Ending]]:
    """The facts without homes that are no places, and the endings.

    A move to an unknown name ("I moved to Zapp") sets no home, but puts the former one in doubt: it is an ending, too. Software and teams
    leave the home alone.

    Args:
        facts: Facts of a window.
        endings: Endings of a window.
        place_scores: The scores of the homes that need evidence, by name.
    """
    found: list[PlainFact] = []
    ended = list(endings)
    for fact in facts:
        if fact.place_evidence is None or place_scores.get(fact.value, -1.0) >= fact.place_evidence:
            found.append(fact)
        elif fact.value[0].isupper() and may_be_place(fact.place_evidence):
            ended.append(Ending("", fact.message, whatever=Field.HOME))
    return found, ended


def edited_entities(window: Window, schema: MemorySchema) -> list[EntityName]:
    """The entities that :func:`patches_of` edits.

    Args:
        window: It says whose profile it is.
        schema: Its entity types with fields that patches set.
    """
    keys = [(each.name, _key_of(each, window)) for each in schema.entity_types if each.patched_properties()]
    return [EntityName(name, key) for name, key in keys if key is not None]


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
    """Patches for the facts and the ends of facts, as :func:`extraction.offline.facts.profile_lines.edits_of` edits the fields.

    Args:
        facts: What the user states, from :func:`believed`.
        endings: Statements that may end facts, from :func:`believed`.
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


def _with_right_names(texts: Sequence[str]) -> list[str]:
    return [
        with_right_name(text, after_name=names_writer(before), after_introduction=introduces_writer(before))
        for before, text in zip(("", *texts), texts, strict=False)
    ]


def _as_statement(turns: Sequence[Turn], index: int) -> str:
    """A turn's text. A noun phrase that answers the only question before it is completed to a statement, and so is "Me too!"."""
    turn, question = turns[index], question_to(turns, index)
    own = with_plain_structure(with_form_as_statements(_greeted(turns, index)))
    own = with_mentions_stated(with_implied_facts(in_usual_order(own)))
    text = with_tastes_in_place(with_statements_in_place(own), question)
    if turn.own_text != turn.text:
        return plainly_worded(text)
    if not question:
        return plainly_worded(_with_agreement(turns, index, text))
    question = whole_question(question)
    return affirmed(question, text) or completed(question, plainly_worded(text))


def _with_agreement(turns: Sequence[Turn], index: int, text: str) -> str:
    """A turn's text with the statement that it agrees to. Something that belongs to the other person is no statement of this one."""
    agreed = agreed_statement(turns, index)
    if not agreed:
        return text
    stated = statement_of(agreed)
    holds = turns[index - 1].message.role == "user" and _OWN_CLAUSE.match(stated) is not None and len(clauses_of(stated)) == 1
    return as_statement(text, stated) if holds else text


def _greeted(turns: Sequence[Turn], index: int) -> str:
    """A turn's text, with a greeting before an introduction without one.

    "I'm Ann" is an introduction if the speaker is called so, or if somebody else introduced themselves or asked for names right before.
    """
    turn = turns[index]
    own = with_introductions(
        with_names_capitalised(without_openers(without_unrelated_cues(with_keywords_spelled(in_standard_english(turn.own_text)))))
    )
    lower = _LOWER_INTRODUCTION.match(own)
    if lower is not None and lower["name"].casefold() in turn.speaker.casefold().split():
        own = f"{own[: lower.start('name')]}{lower['name'].capitalize()}{own[lower.end('name') :]}"
    said = _OWN_NAME.match(own)
    if said is not None and said["name"].casefold() in turn.speaker.casefold().split() and (said["it"] or said["after"]):
        return f"My name is {said['name'].capitalize()}{said['more'] or ''}. {own[said.end() :].lstrip(' ,.')}"
    found = _INTRODUCTION.match(own)
    if found is None:
        return own
    earlier = turns[max(0, index - _ROUND) : index]
    is_round = any(each.speaker != turn.speaker and _ROUND_OF_NAMES.search(each.text) for each in earlier)
    is_own_name = found["name"].casefold() in turn.speaker.casefold().split()
    is_new = _NEW_HERE.match(own, found.end()) is not None
    return f"Hi, {own}" if is_round or is_own_name or is_new else own


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
