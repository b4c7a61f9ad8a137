"""``python -m tests.chaos.open_transaction NAME TOPIC FILE``: writes messages in a transaction, reports it, and waits to be killed."""

import asyncio
import sys
from pathlib import Path

from memory.records import Message
from runtime.settings import Settings
from tests.chaos.producers import new_transactional, send_all


async def _write(name: str, topic: str, messages: list[Message]) -> None:
    kafka = Settings().kafka
    async with new_transactional(kafka, name) as producer:
        await producer.begin_transaction()
        await send_all(producer, topic, messages, partitions=kafka.partitions)
        print("written", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    name, topic, file = sys.argv[1:]
    asyncio.run(_write(name, topic, [Message.from_json(line) for line in Path(file).read_bytes().splitlines()]))
