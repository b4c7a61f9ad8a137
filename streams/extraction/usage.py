"""Writes what every model call cost into the ``usage`` topic."""

from memory.keys import encode_key
from memory.records import Usage
from runtime.kafka import Producer


class UsageTopic:
    """A sink for usage. A call is reported when it was made, also when its window is tried again: that is what the bill says.

    Args:
        producer: Produces; not closed with the sink.
        topic: The usage topic's name on the broker.
    """

    def __init__(self, *, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic

    async def record(self, usage: Usage) -> None:
        """Keeps one call's usage; raises as :meth:`runtime.kafka.Producer.send`."""
        await self._producer.send(self._topic, key=encode_key(usage.tenant), value=usage.to_json())
