"""The queries of a rehearsal: the last recorded recalls of a tenant, or a file."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from control import read_control
from memory.errors import KeyFormatError, RecordError
from memory.headers import ERASURE, FEEDBACK, KIND
from memory.keys import decode_key
from memory.records import RecallRecord
from memory.topics import RECALLS
from runtime.kafka import read_topic
from runtime.settings import Settings
from streams.errors import StreamError


class RehearsalError(StreamError):
    """A rehearsal has no usable queries or generations; the message has the reason and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query to replay."""

    id: str
    """The recall's id, or the number of the file's line."""
    query: str
    user: str | None = None
    """The user of the recall. None: the whole tenant."""


async def recorded_questions(settings: Settings, tenant: str, *, last: int) -> list[Question]:
    """The queries of a tenant's last recorded recalls, oldest first, without erased users.

    A recall's query is recorded only for the share of recalls that ``VARVE_RECALL__TRAINING_SHARE`` sets.

    Args:
        settings: The settings.
        tenant: The tenant.
        last: Most queries.

    Raises:
        RehearsalError: If no recall with a query is recorded.
        KafkaUnavailableError: If no broker responds.
    """
    known = await read_control(settings)
    found: deque[tuple[int, Question]] = deque()
    without_query = 0
    async for record in read_topic(settings.topic(RECALLS.name), settings.kafka):
        if (KIND, FEEDBACK) in record.headers or (KIND, ERASURE) in record.headers:
            continue
        try:
            owner, *user = decode_key(record.key or b"")
            is_erased = bool(user) and known.is_erased(owner, user[0], RECALLS.name, record.partition, record.offset)
            if owner != tenant or is_erased:
                continue
            recall = RecallRecord.from_json(record.value or b"")
        except (RecordError, KeyFormatError):
            continue
        if recall.ranking is None:
            without_query += 1
            continue
        found.append((record.timestamp, Question(id=recall.id, query=recall.ranking.query, user=recall.user)))
    if not found:
        raise RehearsalError(
            f"no recall of tenant {tenant} is recorded with its query ({without_query} without): set VARVE_RECALL__TRAINING_SHARE for the "
            "query service and repeat the rehearsal later, or give a file of queries (--queries)"
        )
    # Of several partitions: ordered by time.
    return [each for _, each in sorted(found, key=lambda each: each[0])][-last:]


def questions_in(lines: Iterable[bytes]) -> list[Question]:
    """The queries of a file of JSON lines: ``{"query": "Where does Ada live?", "user": "ada"}``; the user is optional.

    Args:
        lines: The lines of the file. Blank ones are skipped.

    Raises:
        RehearsalError: If a line is no such object, or there is none.
    """
    found = [_question(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise RehearsalError('the file of queries is empty: write one JSON object in a line, such as {"query": "...", "user": "..."}')
    return found


def _question(number: int, line: bytes) -> Question:
    try:
        fields: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise RehearsalError(f"line {number} of the queries is not JSON: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("query"), str) or not fields["query"].strip():
        raise RehearsalError(f"line {number} of the queries: it needs a member 'query' with a text that is not blank")
    user = fields.get("user")
    if user is not None and (not isinstance(user, str) or not user):
        raise RehearsalError(f"line {number} of the queries: 'user' must be a text that is not empty, or left out")
    if unknown := sorted(fields.keys() - {"query", "user"}):
        raise RehearsalError(f"line {number} of the queries: unknown member {unknown[0]!r}; known ones are 'query' and 'user'")
    return Question(id=f"line {number}", query=fields["query"], user=user)
