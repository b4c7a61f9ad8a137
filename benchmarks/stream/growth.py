"""Users whose history grows: what they say, what is extracted of it, and what that contributes to their entities.

Half of the users talk in one session for ever, the others begin a new one every four windows. Every 20 messages are one window with ten
events, and a patch that replaces what the last one wrote; the events meet 20 knowledge points in turn, so that the number of a user's
entities stays as it is while each of them grows older.
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
from operators.routing import contributions_of

MESSAGES_A_WINDOW: Final = 20
_MESSAGES_A_SESSION: Final = 4 * MESSAGES_A_WINDOW
_EVENTS_A_WINDOW: Final = 10
_POINTS: Final = 20
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PACE: Final = timedelta(seconds=5)


Told = Callable[[int, int], Iterator[Record]]
"""The records of all users between two places of their history."""


class Growth:
    """The life of some users, told from any message of theirs to any other.

    Args:
        users: How many.
        partitions: Of each topic.
        name: What their names begin with.
    """

    def __init__(self, *, users: int, partitions: int, name: str = "user") -> None:
        self._users = [f"{name}-{number:04d}" for number in range(users)]
        self._endless = set(self._users[::2])
        self._partitions = partitions
        self._positions: Counter[int] = Counter()
        self._schema = scenario(SCHEMA)

    def told_to(self, stage: str) -> Told:
        """What a stage reads of them: a function of two places of their history."""
        return {"sessions": self.messages, "events": self.extractions, "entities": self.contributions}[stage]

    def messages(self, start: int, stop: int) -> Iterator[Record]:
        """Their messages, from each user's number ``start`` to before number ``stop``."""
        for number in range(start, stop):
            for user in self._users:
                session = self._session(user, number)
                message = message_of_size(user=user, session=session, id=f"{number:07d}", event_time=_START + number * _PACE)
                yield encode_key(TENANT, session), message

    def extractions(self, start: int, stop: int) -> Iterator[Record]:
        """What is extracted of the same messages, window by window."""
        for extraction in self._extractions(start, stop):
            yield encode_key(TENANT, extraction.user), extraction.to_json()

    def contributions(self, start: int, stop: int) -> Iterator[Record]:
        """What that contributes to entities. Positions go on from where the last call left them."""
        for extraction in self._extractions(start, stop):
            partition = partition_of(encode_key(TENANT, extraction.user), self._partitions)
            position = self._positions[partition]
            self._positions[partition] += 1
            for each in contributions_of(extraction, self._schema, source=f"extractions/{partition}", position=position):
                yield encode_key(TENANT, each.entity_type, each.entity_key), each.to_json()

    def _session(self, user: str, number: int) -> str:
        return f"{user}-0" if user in self._endless else f"{user}-{number // _MESSAGES_A_SESSION}"

    def _extractions(self, start: int, stop: int) -> Iterator[Extraction]:
        for number in range(start // MESSAGES_A_WINDOW, stop // MESSAGES_A_WINDOW):
            for user in self._users:
                yield self._extraction(user, number)

    def _extraction(self, user: str, number: int) -> Extraction:
        first = number * MESSAGES_A_WINDOW
        session = self._session(user, first)
        window = window_id(TENANT, session, number)
        ids = [f"{first + place:07d}" for place in range(MESSAGES_A_WINDOW)]
        end = _START + (first + MESSAGES_A_WINDOW) * _PACE
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
            events=[self._event(user, session, window, place, number, ids, end) for place in range(_EVENTS_A_WINDOW)],
            patches=[patch],
            window_end=end,
        )

    @staticmethod
    def _event(user: str, session: str, window: str, place: int, number: int, ids: list[str], end: datetime) -> Event:
        point = f"topic {(number * _EVENTS_A_WINDOW + place // 2) % _POINTS}"
        return Event(
            id=event_id(window, place),
            tenant=TENANT,
            user=user,
            session=session,
            window_id=window,
            type="exercise",
            content=f"The learner solved exercise {number * _EVENTS_A_WINDOW + place} on {point} after some minutes of thought.",
            properties={
                "knowledge_point": point,
                "correct": place % 3 > 0,
                "score": place % 3 / 2,
                "minutes": place + number % 7 + 0.25,
                "difficulty": place % 5 + 1,
            },
            keywords=[point, "exercise"],
            event_time=end,
            said_at=end,
            message_ids=ids[2 * place : 2 * place + 2],
            extractor="offline",
        )
