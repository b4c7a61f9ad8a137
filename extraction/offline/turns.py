"""A window's messages as the offline extractor reads them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from extraction.bounds import LONGEST_CONTENT, LONGEST_SPEAKER
from extraction.drafts import DropCounter
from extraction.echo_filter import is_echo, without_echoes, without_echoes_in_result
from extraction.offline.factuality.frames import Said, own_texts
from extraction.offline.factuality.moods import is_plain, stated_plainly, states_all
from extraction.offline.factuality.takebacks import without_taken_back
from extraction.offline.grammar.content_words import are_fillers, content_words, is_filler
from extraction.offline.grammar.sentences import pieces_of, sentences_of
from extraction.offline.reactions import Substance, affirms_or_denies, is_about_writer, says_the_same, stems_of, substance_of
from extraction.offline.rewriting.spoken_style import in_standard_english
from memory.dates.mentions import DateMention, resolve_dates
from memory.messages.binary_data import message_without_binary, without_placeholders
from memory.messages.blocks import blocks_of, prose_of
from memory.records import Message
from memory.texts.language import is_english
from memory.texts.prefiltered_patterns import compiled
from memory.texts.text import estimate_tokens, shortened

_SHORT_ANSWER: Final = 4
PASSAGE_TOKENS: Final = 120
"""A longer message of a person becomes several events."""
LONGEST_SHORTENED: Final = 600
"""Characters of the content of a long answer, list, document or pasted block."""
_LONGEST_REACTION: Final = 400
"""Characters of a turn that may only react."""
_MOST_REPEATED: Final = 1000
"""Characters of a turn whose words a reaction may repeat."""
_DOCUMENT_TOKENS: Final = 300
_LEAST_PERSONAL: Final = 0.15
"""Share of sentences in the first person below which a long text is a document."""
_SECOND_PERSON: Final = compiled(r"\b(?:you|your|yours|you['’]\w+)\b", re.IGNORECASE)
"""An assistant's statement about the user is a repetition, and may be stale."""
_FIRST_PERSON: Final = compiled(r"\b(?:I|I['’]\w+|[Mm]y|[Mm]ine|[Mm]e|[Ww]e|[Oo]ur)\b|(?<!\S)i(?:['’]?m|['’]ve)?\s")

_ASKS_HOW: Final = compiled(
    r"\bhow(?:['’]s| is| are|['’]re| was| were| do| did| have)\b.*\b(?:you|your|it|things|everything|life)\b"
    r"|\byou (?:ok|okay|alright|all right)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that may be extracted."""

    message_index: int
    """Of its message in the window."""
    message: Message
    text: str
    """Without what a recall added to it, and without binary data."""
    sentences: tuple[str, ...]
    """The sentences of the text."""
    speaker: str
    """A name, or "the user" and the like if the message names nobody."""
    listener: str | None
    """The other speaker, if the window has exactly one."""
    is_filler: bool
    """Whether nothing in it is worth remembering by itself."""
    substance: Substance
    """What it asks, and whether it states anything that the turns before it do not say."""
    own_text: str
    """The part that is in the speaker's own voice and is not taken back later: all of the text, the end of it, or nothing."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The sentences that ask something."""
        return self.substance.questions


def turns_of(messages: Sequence[Message], *, recalled: frozenset[str], tally: DropCounter, earlier: Sequence[str] = ()) -> list[Turn]:
    """The messages that may be extracted: no system prompts, no echoes of recalls, nothing empty.

    Args:
        messages: Of one window, in order.
        recalled: Content hashes of what recalls returned lately.
        tally: Counts what is left out.
        earlier: Contents of the session's latest events, in order: they may show that a play or a standing task goes on.
    """
    speakers = [speaker_of(message) for message in messages]
    others = {speaker for speaker, message in zip(speakers, messages, strict=True) if message.role in ("user", "assistant")}
    names = frozenset(word for speaker in speakers for word in speaker.lower().split())
    turns: list[Turn] = []
    for index, (each, speaker) in enumerate(zip(messages, speakers, strict=True)):
        message = message_without_binary(each)
        if message.role == "system":
            tally.drop("message", "system")
        elif is_echo(message, recalled):
            tally.drop("message", "recalled")
        else:
            text = without_placeholders(without_echoes(message.text, recalled, is_user=message.role == "user"))
            if not text and message.tool_call is None:
                tally.drop("message", "empty")
                continue
            listeners = others - {speaker}
            sentences = tuple(sentences_of(text))
            said = _said_before(turns) if len(text) <= _LONGEST_REACTION and not is_about_writer(text) else frozenset()
            turns.append(
                Turn(
                    message_index=index,
                    message=without_echoes_in_result(message, recalled),
                    text=text,
                    sentences=sentences,
                    speaker=speaker,
                    listener=next(iter(listeners)) if len(listeners) == 1 else None,
                    is_filler=message.tool_call is None and are_fillers(sentences, names),
                    substance=substance_of(sentences, said, names),
                    own_text=text,
                )
            )
    return _in_own_voice(turns, earlier)


def _said_before(turns: Sequence[Turn]) -> frozenset[str]:
    """The stems of the words that a reaction may repeat: those of the two turns before it."""
    return stems_of(each.text[:_MOST_REPEATED] for each in turns[-2:])


def _in_own_voice(turns: Sequence[Turn], earlier: Sequence[str]) -> list[Turn]:
    """The turns with the text that is in their speaker's own voice."""
    framed = own_texts([Said(each.message.role, each.speaker, each.text) for each in turns], earlier)
    own = without_taken_back(
        [each.text for each in turns],
        framed,
        [each.speaker for each in turns],
        [each.message.role == "user" for each in turns],
        [each.questions if each.message.role == "assistant" else () for each in turns],
    )
    return [each if text == each.text else replace(each, own_text=text) for each, text in zip(turns, own, strict=True)]


def speaker_of(message: Message) -> str:
    """A message's speaker, in words that fit into a sentence."""
    if message.speaker and message.speaker.strip():
        return shortened(" ".join(message.speaker.split()), LONGEST_SPEAKER)
    if message.tool_call is not None:
        return message.tool_call.name
    return f"the {message.role}"


def name_of(turn: Turn) -> str:
    """The speaker's name, or the role of a message without one."""
    return turn.speaker if turn.message.speaker else turn.message.role


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a turn that becomes one event."""

    turn_index: int
    """Of its turn among the turns."""
    text: str
    """As it was written."""
    turn_before: Turn | None
    """The turn before, if this passage may answer a question in it, or agrees with it."""
    mentions: tuple[DateMention, ...]
    """The dates in its text, resolved once since that is costly."""
    is_own_prose: bool = False
    """Whether it is English prose of the speaker's, so that rules may read it."""
    only_asks: bool = False
    """Whether it has nothing of substance besides questions."""
    is_plain: bool = False
    """Whether it plainly states something: properties may be read from it."""
    agreed: str = ""
    """The statement of the turn before that also holds for this speaker: "Me too!"; empty if the passage answers a question."""
    follows_how: bool = False
    """Whether the turn before asks how the speaker is."""
    statements: tuple[str, ...] = ()
    """The sentences that state something plainly, in standard English: an event type may be read from them."""
    longest_content: int = LONGEST_CONTENT
    """Most characters of the event's content."""

    @property
    def is_short(self) -> bool:
        """Whether it is unclear without its question."""
        return len(content_words(self.text)) <= _SHORT_ANSWER


def passages_of(turns: Sequence[Turn], index: int) -> list[Passage]:
    """The parts of a turn that become events, none if it only greets or asks what the next turn answers."""
    passages = _passages(turns, index)
    follows_how = index > 0 and any(_ASKS_HOW.search(each) for each in turns[index - 1].questions)
    return [replace(each, follows_how=True) for each in passages] if follows_how else passages


def _passages(turns: Sequence[Turn], index: int) -> list[Passage]:
    """The parts of a turn.

    A short message is one passage. Of a long one, the writer's own prose becomes passages of bounded length, since the vector of a long
    text is near to no question, and each pasted or quoted block one shortened passage. An answer of an assistant is one shortened passage.
    """
    turn, turn_before = turns[index], _question_before(turns, index)
    if turn.message.tool_call is not None:
        text = shortened(turn.text, LONGEST_CONTENT) or turn.message.tool_call.name
        return [Passage(turn_index=index, text=text, turn_before=None, mentions=())]
    if _is_answered(turns, index):
        return []
    agreed = agreed_statement(turns, index)
    if agreed:
        turn_before = turns[index - 1]
    if turn.is_filler or turn.substance.reacts:
        return [_passage(turn, index, turn.text, turn_before, agreed=agreed)] if turn_before is not None else []
    if estimate_tokens(turn.text) <= PASSAGE_TOKENS:
        return [_passage(turn, index, turn.text, turn_before, agreed=agreed)]
    if turn.message.role == "assistant":
        return [_passage(turn, index, turn.text, turn_before, is_shortened=True)]
    parts = list(_long_parts(turn.text)) or [(turn.text, True)]
    return [
        _passage(turn, index, part, None if number else turn_before, is_shortened=is_shortened)
        for number, (part, is_shortened) in enumerate(parts)
    ]


def _long_parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a long message, and whether each is to be shortened."""
    blocks = blocks_of(text)
    prose = prose_of(blocks)
    if _is_document(prose):
        yield prose, True
    else:
        yield from ((piece, False) for piece in pieces_of(prose, tokens=PASSAGE_TOKENS) if not is_filler(piece))
    for kind, block in ((block.kind, block.text) for block in blocks):
        if kind in ("quoted", "pasted") and not is_filler(block):
            yield block, True


def _is_document(prose: str) -> bool:
    """Whether a long text is a pasted article or answer, with few sentences in the first person, rather than a person's story."""
    if estimate_tokens(prose) <= _DOCUMENT_TOKENS:
        return False
    sentences = sentences_of(prose)
    return sum(_FIRST_PERSON.search(each) is not None for each in sentences) < _LEAST_PERSONAL * len(sentences)


def _passage(turn: Turn, index: int, text: str, turn_before: Turn | None, *, is_shortened: bool = False, agreed: str = "") -> Passage:
    text = shortened(text, LONGEST_CONTENT)
    mentions = tuple(resolve_dates(text, turn.message.event_time.date()))
    own = prose_of(blocks_of(text))
    may_state = (turn.own_text == turn.text or text in turn.own_text) and not (
        turn.message.role == "assistant" and _SECOND_PERSON.search(text)
    )
    standard = in_standard_english(text) if may_state else ""
    statements = tuple(stated_plainly(standard)) if may_state else ()
    return Passage(
        turn_index=index,
        text=text,
        turn_before=turn_before,
        agreed=agreed,
        mentions=mentions,
        only_asks=(turn.substance if text == turn.text else substance_of(sentences_of(text))).only_asks,
        is_own_prose=bool(own) and is_english(own),
        is_plain=may_state and (states_all(text, statements) if standard == text else is_plain(text)),
        statements=statements,
        longest_content=LONGEST_SHORTENED if is_shortened else LONGEST_CONTENT,
    )


def _is_answered(turns: Sequence[Turn], index: int) -> bool:
    """Whether a turn only asks, says nothing of its speaker, and the next one answers: the answer's search text has the question."""
    turn = turns[index]
    if index + 1 >= len(turns) or not turn.substance.only_asks or any(_FIRST_PERSON.search(each) for each in turn.questions):
        return False
    if _question_before(turns, index) is not None and affirms_or_denies(turn.text):
        return False
    return _question_before(turns, index + 1) is turn


def _question_before(turns: Sequence[Turn], index: int) -> Turn | None:
    """The turn right before, if it is another speaker's and asks something. A short answer has to be read with it."""
    before = _turn_before(turns, index)
    return before if before is not None and any(content_words(question) for question in before.questions) else None


def question_to(turns: Sequence[Turn], index: int) -> str:
    """The question that a turn may answer: the only one of an assistant or of the only other speaker, right before. Empty if there is none.

    Args:
        turns: Of a window.
        index: Of the turn.
    """
    before = turns[index - 1] if index else None
    if before is None or (before.message.role != "assistant" and turns[index].listener != before.speaker):
        return ""
    questions = before.questions if len(before.questions) == 1 else [each for each in before.questions if content_words(each)]
    return questions[0] if len(questions) == 1 else ""


def agreed_statement(turns: Sequence[Turn], index: int) -> str:
    """What the turn before last states of its speaker, if this turn says the same of its own; otherwise nothing.

    Args:
        turns: Of a window.
        index: Of the turn.
    """
    before = _turn_before(turns, index)
    if before is None or not says_the_same(turns[index].text):
        return ""
    stated = [each for each in before.sentences if each not in before.questions and is_about_writer(each) and not says_the_same(each)]
    return stated[-1] if stated else ""


def _turn_before(turns: Sequence[Turn], index: int) -> Turn | None:
    """The turn right before, if it is another speaker's and no message between them was left out."""
    if index == 0:
        return None
    before, turn = turns[index - 1], turns[index]
    return before if before.message_index == turn.message_index - 1 and before.speaker != turn.speaker else None
