"""Writes the cost of every model call to the ``usage`` topic."""

from memory.keys import encode_key
from memory.records import Usage
from runtime.kafka import Producer


class UsageTopic:
    """Produces usage records. Each call is recorded when it is made, even in a retry of its window, since each call is billed.

    Args:
        producer: Produces the records; its owner closes it.
        topic: The usage topic's name on the broker.
    """

    def __init__(self, *, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic

    async def record(self, usage: Usage) -> None:
        """Records one call's usage. Raises as :meth:`runtime.kafka.Producer.send`."""
        await self._producer.send(self._topic, key=encode_key(usage.tenant), value=usage.to_json())
