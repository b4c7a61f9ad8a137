"""The Kafka client of everything but the Faust apps: topics, producing, offsets."""

from runtime.kafka.client import client_options
from runtime.kafka.offsets import KafkaOffsets, TopicPartition
from runtime.kafka.producer import OutgoingRecord, Position, Producer
from runtime.kafka.topics import check_topics, create_topics

__all__ = [
    "KafkaOffsets",
    "OutgoingRecord",
    "Position",
    "Producer",
    "TopicPartition",
    "check_topics",
    "client_options",
    "create_topics",
]
