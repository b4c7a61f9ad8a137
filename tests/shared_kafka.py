"""The Kafka broker of the tests: one for each process of pytest, or one that the processes of a run share."""

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from memory.errors import VarveError
from runtime.settings import Settings
from varve.embedded import jars
from varve.embedded.kafka import EmbeddedKafka
from varve.supervisor.process import ManagedProcess

SESSION_S: Final = 120
"""Longer than the machine ever stops. Nothing kills the broker of the tests."""
SHARED_HEAP_MB: Final = 1024
"""For the topics of a whole run, which stay until its end."""


def broker_for_tests(folder: Path, *, heap_mb: int = 384) -> EmbeddedKafka:
    """A broker whose data are in a folder, not started yet. Fetches Kafka's jars if they are missing."""
    cache = Settings().cache_path
    jars.fetch(cache)
    return EmbeddedKafka(data=folder, cache=cache, heap_mb=heap_mb, short_lived=True, session_s=SESSION_S)


class SharedKafka:
    """One broker for all processes of a run: five took 1.5 times its CPU.

    Attributes:
        bootstrap: Its address, before it is started; None if this machine cannot run it. Then each test that needs a broker says why.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="varve-kafka-")
        self._process: ManagedProcess | None = None
        self.bootstrap: str | None = None
        try:
            broker = broker_for_tests(Path(self._folder.name), heap_mb=SHARED_HEAP_MB)
            self._process = ManagedProcess(broker.prepare())
            self.bootstrap = broker.bootstrap
        except VarveError:
            pass

    def start(self) -> None:
        """Starts the broker and waits until it is ready."""
        if self._process is not None:
            asyncio.run(self._process.start())

    def stop(self) -> None:
        """Stops the broker and removes its data."""
        if self._process is not None:
            asyncio.run(self._process.stop())
        self._folder.cleanup()
