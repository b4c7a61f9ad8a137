"""Facts that users plainly state about themselves, as patches of the profile fields that take them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from extraction.bounds import LONGEST_PATCH
from extraction.drafts import DropCounter, PatchDraft
from extraction.offline.answers import completed
from extraction.offline.endings import Ending, endings_of, with_antecedents
from extraction.offline.fact_grammar import Field
from extraction.offline.moods import plain_sentences
from extraction.offline.name_corrections import names_writer, with_right_name
from extraction.offline.place_context import may_be_place
from extraction.offline.plain_facts import PlainFact, facts_of
from extraction.offline.plain_wording import plainly_worded
from extraction.offline.profile_lines import edits_of
from extraction.offline.short_answers import affirmed, whole_question
from extraction.offline.turns import Turn
from memory.errors import KeyFormatError
from memory.keys import entity_key
from memory.records import Memory, Window
from memory.schema import EntityType, MemorySchema


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
    return facts, [replace(each, message=stating[each.message]) for each in ended]


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
    return [with_right_name(text, after_name=index > 0 and names_writer(texts[index - 1])) for index, text in enumerate(texts)]


def _as_statement(turns: Sequence[Turn], index: int) -> str:
    """A turn's text. A noun phrase that answers the assistant's only question is completed to a statement."""
    text = turns[index].own_text
    if text != turns[index].text or index == 0 or turns[index - 1].message.role != "assistant" or len(turns[index - 1].questions) != 1:
        return plainly_worded(text)
    question = whole_question(turns[index - 1].questions[0])
    return affirmed(question, text) or completed(question, plainly_worded(text))


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
