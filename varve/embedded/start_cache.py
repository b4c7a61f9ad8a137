"""The JVM's cache of Kafka's classes, parsed and linked: with it, a broker starts with a third of the CPU time.

The JVM itself checks that the cache fits it, its options and the jars, and starts without the cache otherwise.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from varve.embedded import jars
from varve.embedded.kafka import EmbeddedKafka
from varve.supervisor.process import ManagedProcess

WRITE_DEADLINE_S: Final = 300.0
"""For the end of the recorded run, in which the JVM writes the cache."""


async def make_start_cache(cache: Path) -> Path:
    """Starts and stops a broker once, and records its classes in the folder of the jars. Does nothing if the cache exists.

    Args:
        cache: The cache folder, with the jars.

    Returns:
        The file of the cache.

    Raises:
        VarveError: If the broker cannot be started, or its JVM wrote no cache.
    """
    path = jars.start_cache_path(cache)
    if path.is_file():
        return path
    with tempfile.TemporaryDirectory(dir=cache, prefix="start-") as scratch:
        folder, draft = Path(scratch), Path(scratch) / path.name
        recorded = EmbeddedKafka(data=folder / "kafka", cache=cache).prepare()
        java, *options = recorded.command
        process = ManagedProcess(
            replace(recorded, command=(java, f"-XX:AOTCacheOutput={draft}", *options), stop_deadline_s=WRITE_DEADLINE_S)
        )
        await process.start()
        await process.stop()
        if not draft.is_file():
            raise process.failure("Kafka's Java runtime wrote no start cache")
        draft.replace(path)
    return path
