"""Kafka client of everything except the Faust apps: topics, producing, offsets."""

from aiokafka import TopicPartition

from runtime.kafka.client import UngroupedConsumer, client_options
from runtime.kafka.groups import ConsumerGroups
from runtime.kafka.offsets import Backlog, KafkaOffsets, OffsetAndTimestamp, read_backlogs
from runtime.kafka.producer import OutgoingRecord, Producer
from runtime.kafka.reader import TopicReader, read_topic
from runtime.kafka.topics import check_topic_configs, check_topics, create_topic, create_topics

__all__ = [
    "Backlog",
    "ConsumerGroups",
    "KafkaOffsets",
    "OffsetAndTimestamp",
    "OutgoingRecord",
    "Producer",
    "TopicPartition",
    "TopicReader",
    "UngroupedConsumer",
    "check_topic_configs",
    "check_topics",
    "client_options",
    "create_topic",
    "create_topics",
    "read_backlogs",
    "read_topic",
]
