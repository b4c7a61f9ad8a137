"""Sends the messages of an import in batches, and records its progress in a file: an interrupted import continues where it stopped."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
from varve_client import AsyncVarveClient, MessagesRefusedError

BATCH: Final = 200


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
            outcome.sent += len(await service.send(batch))
        except MessagesRefusedError as error:
            outcome.sent += len(batch) - len(error.refused)
            for refusal in error.refused:
                problem = refusal.get("problem", {})
                outcome.refused[str(problem.get("detail") or problem.get("title") or refusal.get("status"))] += 1
            outcome.first_refused = outcome.first_refused or batch[error.refused[0]["index"]]["id"]
        done += len(batch)
        progress.write(done)
        on_batch(len(batch))
    return outcome
