"""The baseline: a plain Faust app that reads records, counts them and commits. It decodes, stores and produces nothing.

Run as ``python -m benchmarks.stream.passthrough GROUP TOPIC``, with the settings in the environment.
"""

import asyncio
import logging
import sys
import tempfile
from typing import Any

import faust
import uvloop

from runtime.settings import Settings


async def consume(group: str, topic_name: str, settings: Settings) -> None:
    """Consumes a topic until the process is stopped."""
    logging.getLogger("faust").setLevel(logging.WARNING)
    app = faust.App(
        group,
        broker=f"kafka://{settings.kafka.bootstrap}",
        broker_session_timeout=settings.kafka.session_timeout_s,
        broker_heartbeat_interval=settings.kafka.heartbeat_s,
        broker_commit_interval=0.5,
        consumer_auto_offset_reset="earliest",
        datadir=tempfile.mkdtemp(prefix="varve-passthrough-"),
        stream_wait_empty=False,
        topic_disable_leader=True,
        topic_partitions=settings.kafka.partitions,
        web_enabled=False,
    )
    topic = app.topic(topic_name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
    consumed = 0

    @app.agent(topic)
    async def count(stream: Any) -> None:
        nonlocal consumed
        async for _ in stream:
            consumed += 1

    app.finalize()
    await app.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(consume(sys.argv[1], sys.argv[2], Settings()))
