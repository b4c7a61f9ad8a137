"""Small memories and questions to them: invented ones, and pieces of LoCoMo's conversations.

Of each invented person there are six memories: one of all that was said, and five of one to five statements. A question about a statement
that a memory lacks is one that it does not answer. ``small_memories.json`` was written for this project; the persons, topics and statements
of its part ``held_out`` are none of those in ``fit``.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import orjson

from evaluation.data_files import read_entries
from evaluation.locomo import TENANT, read_locomo
from evaluation.recall.corpus import UNANSWERABLE, questions_of
from evaluation.recall.memories import last_moment, memories_of
from evaluation.windows import windows_of
from memory.ids import event_id
from memory.records import Memory, Message
from models.embedding.port import Embedder

QuestionKind = Literal["answered", "left_out", "absent", "of_another_user"]
"""``left_out``: the memory lacks the statement that answers it. ``absent``: no message answers it (LoCoMo's category 5)."""

INVENTED: Final = Path(__file__).with_name("small_memories.json")
PIECES: Final = (2, 4, 8, 16, 32)
"""Events of a piece of a conversation."""
_SAMPLES: Final = (1, 1, 2, 3, 5)
_STRANGERS: Final = 2
_SAID_AT: Final = datetime(2024, 5, 6, 18, tzinfo=UTC)


class Writer(Protocol):
    """Stores memories."""

    async def write(self, memories: Sequence[Memory]) -> None:
        """Stores some."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedMemory:
    """One question, asked of one user's memories."""

    user: str
    question: str
    kind: QuestionKind
    evidence: frozenset[str]
    """Ids of the messages that answer it."""
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class _Person:
    """The statements of one invented person, and questions about them."""

    name: str
    speaks: bool
    """Whether the texts are the person's own words; otherwise they are statements in the third person, as a model extracts them."""
    said: Sequence[Mapping[str, Any]]
    absent: Sequence[str]

    @property
    def statements(self) -> list[int]:
        """The places of what is asked about. The other texts are an assistant's."""
        return [place for place, each in enumerate(self.said) if "questions" in each]


async def invented_memories(part: str, writer: Writer, embedder: Embedder) -> list[AskedMemory]:
    """Writes the invented memories of a part, and returns what to ask of them.

    Args:
        part: ``fit`` or ``held_out``.
        writer: Stores the memories.
        embedder: Embedder of the offline extractor.
    """
    raw = orjson.loads(await asyncio.to_thread(INVENTED.read_bytes))
    persons = [_Person(each["name"], each["form"] == "chat", each["said"], each["absent"]) for each in raw[part]]
    chance = random.Random(part)
    asked: list[AskedMemory] = []
    for number, person in enumerate(persons):
        others = [persons[(number + step) % len(persons)] for step in range(1, _STRANGERS + 1)]
        statements = person.statements
        for sample, size in enumerate((len(statements), *_SAMPLES)):
            kept = set(statements if sample == 0 else chance.sample(statements, size))
            user = f"{part}-{number}-{sample}"
            await writer.write(await _memories_of_person(person, kept, user, embedder))
            asked += _questions_about(person, kept, others, user)
    return asked


async def _memories_of_person(person: _Person, kept: set[int], user: str, embedder: Embedder) -> list[Memory]:
    # An assistant's turn stays where the reply to it stays.
    places = [place for place in range(len(person.said)) if place in kept or ("guide" in person.said[place] and place + 1 in kept)]
    texts = [(place, str(person.said[place]["text"]), _SAID_AT + timedelta(minutes=place)) for place in places]
    if not person.speaks:
        return [
            Memory(
                id=event_id(user, place),
                tenant=TENANT,
                user=user,
                kind="event",
                type="fact",
                content=text,
                event_time=moment,
                session="s1",
                window_id=f"{user}/s1",
                turn=turn,
                message_ids=[f"m{place}"],
            )
            for turn, (place, text, moment) in enumerate(texts)
        ]
    messages = [
        Message(
            tenant=TENANT,
            user=user,
            session="s1",
            id=f"m{place}",
            role="user" if place in kept else "assistant",
            speaker=person.name if place in kept else "Guide",
            text=text,
            event_time=moment,
        )
        for place, text, moment in texts
    ]
    memories = await memories_of([*windows_of([messages])], embedder)
    return [each for each in memories if each.kind == "event"]


def _questions_about(person: _Person, kept: set[int], others: Sequence[_Person], user: str) -> Iterator[AskedMemory]:
    def asked(question: str, kind: QuestionKind, *evidence: str) -> AskedMemory:
        return AskedMemory(user=user, question=question, kind=kind, evidence=frozenset(evidence), asked_at=_SAID_AT + timedelta(hours=1))

    for place in person.statements:
        for question in person.said[place]["questions"]:
            yield asked(question, "answered" if place in kept else "left_out", f"m{place}")
    for question in person.absent:
        yield asked(question, "absent")
    for other in others:
        for place in other.statements:
            # A question without a name may be answered by the memories of any person.
            if other.name in (question := other.said[place]["questions"][0]):
                yield asked(question, "of_another_user")


async def pieces_of_locomo(path: Path, writer: Writer, embedder: Embedder) -> AsyncIterator[tuple[int, AskedMemory]]:
    """Writes LoCoMo's conversations cut into pieces, each a user's memory, and gives what to ask of them, by conversation.

    Each question is asked of the piece with most of its evidence, and, where it is answerable, of a piece without any.

    Args:
        path: LoCoMo, or a part of it.
        writer: Stores the memories.
        embedder: Embedder of the offline extractor.
    """
    chance = random.Random(path.name)
    for number, (sample, conversation) in enumerate(zip(read_entries(path), read_locomo(path), strict=True)):
        windows = [each.window for each in conversation]
        events = [each for each in await memories_of(windows, embedder) if each.kind == "event"]
        now = last_moment(windows)
        for size in PIECES:
            pieces: dict[str, frozenset[str]] = {}
            for start in range(0, len(events) - size + 1, size):
                user = f"piece-{number}-{size}-{start}"
                piece = events[start : start + size]
                pieces[user] = frozenset(message for each in piece for message in each.message_ids)
                await writer.write(
                    [each.model_copy(update={"user": user, "id": event_id(user, place)}) for place, each in enumerate(piece)]
                )
            for question in questions_of(sample, path):
                evidence = frozenset(question.evidence)
                having = [user for user, messages in pieces.items() if evidence & messages]
                lacking = [user for user in pieces if user not in having]
                if not having:
                    continue
                best = max(having, key=lambda user: len(evidence & pieces[user]))
                is_answerable = question.category != UNANSWERABLE
                asks: list[tuple[str, QuestionKind]] = [(best, "answered" if is_answerable else "absent")]
                if is_answerable and lacking:
                    asks.append((chance.choice(lacking), "left_out"))
                for user, kind in asks:
                    yield number, AskedMemory(user=user, question=question.text, kind=kind, evidence=evidence, asked_at=now)
