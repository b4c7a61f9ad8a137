"""Users whose history grows: their messages, the extractions of these, and the contributions of those to entities.

Half of the users have one endless session, the others begin a new one every four windows. Every 20 messages are one window with ten events
and a patch that replaces the last one's text. The events go through 20 knowledge points in turn, so that a user's entities grow older, not
more.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.stream.load import SCHEMA, TENANT, Record, message_of_size
from memory.ids import event_id, patch_id, window_id
from memory.keys import encode_key, entity_key, partition_of
from memory.records import EntityPatch, Event, Extraction
from memory.schema import scenario
from operators.entities.routing import contributions_of

MESSAGES_PER_WINDOW: Final = 20
_MESSAGES_PER_SESSION: Final = 4 * MESSAGES_PER_WINDOW
_EVENTS_PER_WINDOW: Final = 10
_POINTS: Final = 20
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MESSAGE_INTERVAL: Final = timedelta(seconds=5)


RecordRange = Callable[[int, int], Iterator[Record]]
"""The records of all users from message number ``start`` to before number ``stop`` of each."""


class GrowingUsers:
    """Makes the records of users, for any range of their history."""

    def __init__(self, *, users: int, partitions: int, name: str = "user") -> None:
        self._users = [f"{name}-{number:04d}" for number in range(users)]
        self._endless = set(self._users[::2])
        self._partitions = partitions
        self._positions: Counter[int] = Counter()
        self._schema = scenario(SCHEMA)

    def input_of(self, stage: str) -> RecordRange:
        """A stage's input."""
        return {"sessions": self.messages, "events": self.extractions, "entities": self.contributions}[stage]

    def messages(self, start: int, stop: int) -> Iterator[Record]:
        """Their messages."""
        for number in range(start, stop):
            for user in self._users:
                session = self._session(user, number)
                message = message_of_size(user=user, session=session, id=f"{number:07d}", event_time=_START + number * _MESSAGE_INTERVAL)
                yield encode_key(TENANT, session), message

    def extractions(self, start: int, stop: int) -> Iterator[Record]:
        """The extractions of the same messages, window by window."""
        for extraction in self._extractions(start, stop):
            yield encode_key(TENANT, extraction.user), extraction.to_json()

    def contributions(self, start: int, stop: int) -> Iterator[Record]:
        """The contributions of these extractions. Their positions continue those of the last call."""
        for extraction in self._extractions(start, stop):
            partition = partition_of(encode_key(TENANT, extraction.user), self._partitions)
            position = self._positions[partition]
            self._positions[partition] += 1
            for contribution in contributions_of(extraction, self._schema, source=f"extractions/{partition}", position=position):
                yield encode_key(TENANT, contribution.entity_type, contribution.entity_key), contribution.to_json()

    def _session(self, user: str, number: int) -> str:
        return f"{user}-0" if user in self._endless else f"{user}-{number // _MESSAGES_PER_SESSION}"

    def _extractions(self, start: int, stop: int) -> Iterator[Extraction]:
        for number in range(start // MESSAGES_PER_WINDOW, stop // MESSAGES_PER_WINDOW):
            for user in self._users:
                yield self._extraction(user, number)

    def _extraction(self, user: str, number: int) -> Extraction:
        first = number * MESSAGES_PER_WINDOW
        session = self._session(user, first)
        window = window_id(TENANT, session, number)
        ids = [f"{first + index:07d}" for index in range(MESSAGES_PER_WINDOW)]
        end = _START + (first + MESSAGES_PER_WINDOW) * _MESSAGE_INTERVAL
        patch = EntityPatch(
            id=patch_id(window, 0),
            entity_type="learner_profile",
            entity_key=entity_key(user),
            field="goals",
            search=f"lesson {number - 1}" if number else "",
            replace=f"lesson {number}",
            event_time=end,
            message_ids=ids[-1:],
        )
        return Extraction(
            window_id=window,
            tenant=TENANT,
            user=user,
            session=session,
            sequence=number,
            extractor="offline",
            schema_name=SCHEMA,
            message_ids=ids,
            events=[self._event(user, session, window, index, number, ids, end) for index in range(_EVENTS_PER_WINDOW)],
            patches=[patch],
            window_end=end,
        )

    @staticmethod
    def _event(user: str, session: str, window: str, index: int, number: int, ids: list[str], end: datetime) -> Event:
        point = f"topic {(number * _EVENTS_PER_WINDOW + index // 2) % _POINTS}"
        return Event(
            id=event_id(window, index),
            tenant=TENANT,
            user=user,
            session=session,
            window_id=window,
            type="exercise",
            content=f"The learner solved exercise {number * _EVENTS_PER_WINDOW + index} on {point} after some minutes of thought.",
            properties={
                "knowledge_point": point,
                "correct": index % 3 > 0,
                "score": index % 3 / 2,
                "minutes": index + number % 7 + 0.25,
                "difficulty": index % 5 + 1,
            },
            keywords=[point, "exercise"],
            event_time=end,
            said_at=end,
            message_ids=ids[2 * index : 2 * index + 2],
            extractor="offline",
        )
