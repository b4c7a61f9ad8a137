"""Kafka client of everything except the Faust apps: topics, producing, offsets."""

from runtime.kafka.assigned_consumer import UngroupedConsumer
from runtime.kafka.backlog import Backlog, read_backlogs
from runtime.kafka.client import client_options
from runtime.kafka.groups import ConsumerGroups
from runtime.kafka.offsets import KafkaOffsets, OffsetAndTimestamp, TopicPartition
from runtime.kafka.producer import Producer
from runtime.kafka.reader import read_topic
from runtime.kafka.records import OutgoingRecord
from runtime.kafka.topic_config import check_topic_configs
from runtime.kafka.topics import check_topics, create_topic, create_topics

__all__ = [
    "Backlog",
    "ConsumerGroups",
    "KafkaOffsets",
    "OffsetAndTimestamp",
    "OutgoingRecord",
    "Producer",
    "TopicPartition",
    "UngroupedConsumer",
    "check_topic_configs",
    "check_topics",
    "client_options",
    "create_topic",
    "create_topics",
    "read_backlogs",
    "read_topic",
]
