"""Outcomes of deliveries are written in order, through an outage of Kafka."""

from collections.abc import Sequence

from api.webhooks.outcomes import OutcomeWriter
from api.webhooks.topic import delivery_record, end_record
from memory.positions import LogPosition
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from tests.api.webhooks.deliveries import delivery
from tests.streams.harness import until


class ProducerAfterAnOutage(Producer):
    """Its first call fails."""

    def __init__(self) -> None:
        super().__init__(kafka=Settings().kafka)
        self.calls = 0
        self.written: list[OutgoingRecord] = []

    async def send_in_batches(self, records: Sequence[OutgoingRecord]) -> list[LogPosition]:
        self.calls += 1
        if self.calls == 1:
            raise KafkaUnavailableError("no broker answers")
        self.written += records
        return []


async def test_outcomes_keep_their_order_through_an_outage() -> None:
    producer = ProducerAfterAnOutage()
    outcomes = OutcomeWriter(producer, "t")
    failed, dead = delivery(attempts=1), delivery(state="dead")
    outcomes.keep([failed])
    await until(lambda: producer.calls == 1)
    outcomes.keep([dead])
    outcomes.end([dead])
    await until(lambda: len(producer.written) == 3)
    assert producer.written == [delivery_record("t", failed), delivery_record("t", dead), end_record("t", dead)]
    await outcomes.drop()


async def test_dropped_outcomes_are_not_written_later() -> None:
    producer = ProducerAfterAnOutage()
    outcomes = OutcomeWriter(producer, "t")
    dropped, later = delivery(1), delivery(2)
    outcomes.keep([dropped])
    await until(lambda: producer.calls == 1)
    await outcomes.drop()
    outcomes.keep([later])
    await until(lambda: bool(producer.written))
    assert producer.written == [delivery_record("t", later)]
    await outcomes.drop()
