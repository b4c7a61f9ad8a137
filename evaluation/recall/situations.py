"""``python -m evaluation situations``: whether the right memory is first where facts change, are corrected, repeated or denied.

The data are invented situations (``situations.json``): messages of some days, and for each question the turns whose memory must rank first.
Each situation is asked twice: as a user's whole memory, and among other statements of the user. The offline extractor makes the memories.
Turns without a speaker are notes in the third person, as a model writes them, and are stored as they are.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evaluation.data_files import read_json
from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.memories import SCHEMA, memories_of
from evaluation.recall.small_memories import INVENTED
from evaluation.windows import windows_of
from memory.ids import event_id
from memory.records import Memory, Message
from memory.schema import scenario
from memory.texts.terms import terms_of
from memory.validation_problems import problems_of
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.query.first_person import names_in
from retrieval.redundancy.statement_forms import asked_attributes, attributes_of
from retrieval.relevance.thresholds import LEAST_CONFIDENCE
from retrieval.request import RecallRequest, RecallResponse
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.port import MemoryFilter, MemoryStore, TenantScope

SITUATIONS: Final = Path(__file__).with_name("situations.json")
_ENTITY_TYPES: Final = tuple(each.name for each in scenario(SCHEMA).entity_types)
_LIMIT: Final = 10
_ASSISTANTS: Final = frozenset({"Guide", "Iris", "assistant"})


class Turn(BaseModel):
    """One message, or a note."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    day: str
    by: str
    """The speaker. Empty: the text is a note in the third person."""
    text: str


class AskedQuestion(BaseModel):
    """A question, and the turns whose memory must be first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    right: tuple[int, ...] = Field(min_length=1)


class Situation(BaseModel):
    """The messages of one user, in order, and the questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    turns: tuple[Turn, ...] = Field(min_length=2)
    questions: tuple[AskedQuestion, ...] = Field(min_length=1)


_SITUATIONS: Final = TypeAdapter(list[Situation])


@dataclass(frozen=True, slots=True)
class Result:
    """How one question was answered."""

    kind: str
    question: str
    distractors: int
    is_right: bool
    first: str
    confidence: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("--distractors", type=int, default=200, help="other statements of the user in the second run; default: %(default)s")
    parser.add_argument("--kind", help="only situations of this kind")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Asks every question without and with other statements.

    Returns:
        The share of questions whose right memory is first, by kind and number of other statements; the share of right first results with a
        low confidence; and the questions with another first memory.
    """
    situations = [each for each in read_situations(arguments.data) if arguments.kind in (None, each.kind)]
    results = asyncio.run(_results(situations, arguments.distractors))
    return report(results)


def read_situations(path: Path) -> list[Situation]:
    """The situations of a file.

    Raises:
        DataSetError: If the file cannot be read or has another form. The text names the field.
    """
    try:
        return _SITUATIONS.validate_python(read_json(path))
    except ValidationError as error:
        raise DataSetError(f"{path} is not in the form of {SITUATIONS.name}: {problems_of(error)}") from error


def report(results: Sequence[Result]) -> dict[str, Any]:
    """See :func:`run`."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        size = f"{result.distractors} other statements"
        groups[f"all, {size}"].append(result)
        groups[f"{result.kind}, {size}"].append(result)
    right = [each for each in results if each.is_right]
    denied = [each for each in right if each.confidence is not None and each.confidence < LEAST_CONFIDENCE]
    return {
        "questions": len(results),
        "right_first": {name: round(sum(each.is_right for each in group) / len(group), 4) for name, group in sorted(groups.items())},
        "denied_of_right_first": round(len(denied) / len(right), 4) if right else None,
        "denied": [f"{each.question} ({each.distractors}): {each.confidence:.2f}" for each in denied],
        "wrong": [f"{each.kind} ({each.distractors}): {each.question} -> {each.first}" for each in results if not each.is_right],
    }


async def _results(situations: Sequence[Situation], distractors: int) -> list[Result]:
    settings = Settings()
    results = []
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        others = await other_statements(embedder)
        for number, situation in enumerate(situations):
            for further in dict.fromkeys((0, distractors)):
                user = f"situation-{number}-{further}"
                memories = [*await situation_memories(situation, user, embedder), *unrelated(situation, others, user)[:further]]
                await writer.write(memories)
                asked = [(each, await _recalled(each.text, situation, user, store, embedder, settings)) for each in situation.questions]
                by_id = {each.id: each for each in memories}
                results += [_result(situation.kind, question, further, response, by_id) for question, response in asked]
    return results


async def _recalled(
    question: str, situation: Situation, user: str, store: MemoryStore, embedder: Embedder, settings: Settings
) -> RecallResponse:
    clock = ManualClock(moment(situation.turns[-1].day, len(situation.turns)) + timedelta(days=1))
    pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
    asked = MemoryFilter(scope=TenantScope(TENANT, user))
    return await pipeline.recall(RecallRequest(filter=asked, query=question, entity_types=_ENTITY_TYPES, limit=_LIMIT, trace=True))


def _result(kind: str, question: AskedQuestion, distractors: int, response: RecallResponse, memories: Mapping[str, Memory]) -> Result:
    best = first_memory(response)
    first = None if best is None else memories[best]
    return Result(
        kind=kind,
        question=question.text,
        distractors=distractors,
        is_right=first is not None and turn_of(first) in question.right,
        first="nothing" if first is None else first.content,
        confidence=response.confidence,
    )


def first_memory(response: RecallResponse) -> str | None:
    """The id of the best memory. A returned entity may contain it word by word: then it is the first result without being a hit.

    Args:
        response: Response of a recall with ``trace``.
    """
    best = next((memory_id for memory_id, outcome in response.outcomes.items() if outcome.rank == 1), None)
    if best is not None and response.outcomes[best].outcome == "repeated":
        return best
    return response.hits[0].memory.id if response.hits else None


def turn_of(memory: Memory) -> int | None:
    """The turn of a memory. None: another statement."""
    name = memory.message_ids[0] if memory.message_ids else ""
    return int(name[1:]) if name.startswith("m") and name[1:].isdigit() else None


def moment(day: str, place: int) -> datetime:
    """The time of a turn: in the evening of its day."""
    return datetime.combine(datetime.fromisoformat(day).date(), time(18, tzinfo=UTC)) + timedelta(minutes=place)


async def situation_memories(situation: Situation, user: str, embedder: Embedder) -> list[Memory]:
    """The memories of a situation: events and entities of the offline extractor, or its notes.

    Args:
        situation: The situation. The message of turn N is ``mN``.
        user: The user.
        embedder: Embedder of the extractor.
    """
    if not situation.turns[0].by:
        return list(_notes(situation, user))
    sessions: dict[str, list[Message]] = defaultdict(list)
    for place, turn in enumerate(situation.turns):
        sessions[turn.day].append(
            Message(
                tenant=TENANT,
                user=user,
                session=turn.day,
                id=f"m{place}",
                role="assistant" if turn.by in _ASSISTANTS else "user",
                speaker=None if turn.by == "assistant" else turn.by,
                text=turn.text,
                event_time=moment(turn.day, place),
            )
        )
    return await memories_of([*windows_of(sessions.values())], embedder)


def _notes(situation: Situation, user: str) -> Iterator[Memory]:
    for place, turn in enumerate(situation.turns):
        yield Memory(
            id=event_id(user, place),
            tenant=TENANT,
            user=user,
            kind="event",
            type="fact",
            content=turn.text,
            event_time=moment(turn.day, place),
            session=turn.day,
            window_id=f"{user}/{turn.day}",
            turn=0,
            message_ids=[f"m{place}"],
        )


async def other_statements(embedder: Embedder) -> list[Memory]:
    """Events of statements about other matters: those of the invented small memories.

    Args:
        embedder: Embedder of the extractor.
    """
    raw = orjson.loads(await asyncio.to_thread(INVENTED.read_bytes))
    texts = [said["text"] for part in ("fit", "held_out") for person in raw[part] for said in person["said"] if "questions" in said]
    messages = [
        Message(
            tenant=TENANT,
            user="other",
            session="others",
            id=f"other-{place}",
            role="user",
            speaker="Ann",
            text=text,
            event_time=moment("2024-03-15", place),
        )
        for place, text in enumerate(texts)
    ]
    memories = await memories_of([*windows_of([messages])], embedder)
    return [each for each in memories if each.kind == "event"]


def unrelated(situation: Situation, others: Sequence[Memory], user: str) -> list[Memory]:
    """The other statements that share no word, attribute or name with the situation's questions and names, as those of its user.

    Args:
        situation: The situation.
        others: From :func:`other_statements`.
        user: The user.
    """
    names = {word for turn in situation.turns for word in names_in(turn.text)}
    asked = {term for text in (*(question.text for question in situation.questions), *names) for term in terms_of(text)}
    attributes = {each for question in situation.questions for each in asked_attributes(question.text)}
    name = situation.turns[0].by
    found = []
    for place, each in enumerate(others):
        if asked.isdisjoint(terms_of(each.content)) and attributes.isdisjoint(attributes_of(each.content)):
            # The name occurs in the text that is searched.
            text = None if each.search_text is None else each.search_text.replace("Ann ", f"{name} ").replace("Ann:", f"{name}:")
            found.append(
                each.model_copy(
                    update={"user": user, "id": event_id(f"{user}/others", place), "speaker": name or None, "search_text": text}
                )
            )
    return found
