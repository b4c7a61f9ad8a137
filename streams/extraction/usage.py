"""Writes what every model call cost into the ``usage`` topic."""

from memory.errors import VarveError
from memory.keys import encode_key
from memory.records import Usage
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.metrics import Metrics

_log = logger(__name__)


class UsageTopic:
    """A sink for usage. A call is reported when it was made, also when its window is tried again: that is what the bill says.

    Args:
        producer: Produces; not closed with the sink.
        topic: The usage topic's name on the broker.
        metrics: Where what Kafka did not take is counted.
    """

    def __init__(self, *, producer: Producer, topic: str, metrics: Metrics) -> None:
        self._producer = producer
        self._topic = topic
        self._metrics = metrics

    async def record(self, usage: Usage) -> None:
        """Keeps one call's usage; while Kafka is away it is counted and logged instead, for a window must not fail over its bill."""
        try:
            await self._producer.send(self._topic, key=encode_key(usage.tenant), value=usage.to_json())
        except VarveError as error:
            self._metrics.records.labels(usage.stage, "usage_unwritten").inc()
            _log.error("usage not written", tenant=usage.tenant, model=usage.model, tokens=usage.prompt_tokens, why=str(error))
