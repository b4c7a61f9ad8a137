"""Sends the messages of an import in batches, and records its progress in a file: an interrupted import continues where it stopped."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
from varve_client import AsyncVarveClient, MessagesRefusedError, SentMessage

BATCH: Final = 200
CHANGED: Final = "its id has other content in the service, which stays: edit it with `varve messages edit`"
"""Why a message is not stored that the service has under its id with another text or speaker."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The number of messages of one import that the service has processed, in a file.

    Args:
        path: The file.
    """

    path: Path

    @classmethod
    def of(cls, folder: Path, *parts: str | None) -> "ImportProgress":
        """The progress of one import.

        Args:
            folder: The folder of all imports.
            parts: The parts that identify an import: the content of the file, its format, the names, and the service.
        """
        return cls(folder / f"{hashlib.sha256(orjson.dumps(parts)).hexdigest()}.json")

    def read(self) -> int:
        """The number of processed messages; 0 if the file is missing or damaged."""
        try:
            found = orjson.loads(self.path.read_bytes())["messages"]
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        return found if isinstance(found, int) else 0

    def write(self, messages: int) -> None:
        """Replaces the number."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_bytes(orjson.dumps({"messages": messages}))
        new.replace(self.path)


@dataclass(slots=True)
class ImportOutcome:
    """The result of sending."""

    sent: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """Refused messages by reason."""
    first_refused: str | None = None
    """The id of the first refused message."""

    def add(self, sent: Sequence[SentMessage]) -> None:
        """Counts messages that the service accepted, and did not store if they are :data:`CHANGED`."""
        for each in sent:
            if each.changed:
                self.refuse(each.id, CHANGED)
            else:
                self.sent += 1

    def refuse(self, message_id: str, reason: str) -> None:
        """Counts a message that is not stored."""
        self.refused[reason] += 1
        self.first_refused = self.first_refused or message_id


async def send_messages(
    messages: Iterator[dict[str, Any]],
    service: AsyncVarveClient,
    progress: ImportProgress,
    *,
    done: int,
    on_batch: Callable[[int], None] = lambda count: None,
) -> ImportOutcome:
    """Sends messages. A message that the service refuses is counted, and the others are sent.

    Args:
        messages: All messages of the import, in order.
        service: The service.
        progress: Notes how far the import is.
        done: Number of messages that an earlier run has sent; they are skipped.
        on_batch: Called with the number of messages of each batch.

    Raises:
        VarveClientError: If the service cannot be reached, or refuses a whole request. The progress is noted.
    """
    outcome = ImportOutcome()
    waiting = islice(messages, done, None)
    while batch := list(islice(waiting, BATCH)):
        try:
            outcome.add(await service.send(batch))
        except MessagesRefusedError as error:
            for refusal in error.refused:
                problem = refusal.get("problem", {})
                outcome.refuse(batch[refusal["index"]]["id"], str(problem.get("detail") or problem.get("title") or refusal.get("status")))
            outcome.add(error.sent)
        done += len(batch)
        progress.write(done)
        on_batch(len(batch))
    return outcome
