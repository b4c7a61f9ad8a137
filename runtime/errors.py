"""Errors of the infrastructure: Kafka, Redis, the control log, the dead letters, packages that are not installed."""

from memory.errors import VarveError


class InfrastructureError(VarveError):
    """Base of this package's errors: some infrastructure is unavailable or misconfigured."""


class ExtraMissingError(InfrastructureError):
    """The packages of an extra are not installed; the message is that of :func:`missing_extra`.

    Args:
        wanted_by: The setting or command that needs the extra.
        extra: The extra's name.
    """

    def __init__(self, wanted_by: str, extra: str) -> None:
        super().__init__(missing_extra(wanted_by, extra))


class KafkaUnavailableError(InfrastructureError):
    """Kafka is unavailable; usually temporary."""


class ClockError(InfrastructureError):
    """This machine's clock differs so much from the broker's that the stages refuse what it has sent; says by how much."""


class ProducerFencedError(InfrastructureError):
    """Another producer uses the transactional id now: this one must not write any more."""


class TopicMissingError(InfrastructureError):
    """A topic does not exist, or its partition count differs from related topics; names the command that creates it."""


class TopicConfigError(InfrastructureError):
    """A topic's retention is shorter than the stages require; names the configuration and the command that repairs it."""


class RedisUnavailableError(InfrastructureError):
    """Redis is unavailable or rejects a command; Varve can run without its data for a while."""


class RedisFullError(RedisUnavailableError):
    """Redis has reached ``maxmemory`` and refuses writes; it still answers reads and PING."""


class GroupInUseError(InfrastructureError):
    """A consumer group's offsets cannot be changed while workers run in it."""


class DeadLetterMissingError(InfrastructureError):
    """There is no dead letter at the position, or it was purged."""


def missing_extra(wanted_by: str, extra: str) -> str:
    """The message of an error: a setting or command needs an extra, and the command that installs it."""
    return f"{wanted_by} needs the extra `{extra}`: pip install 'varve-server[{extra}]', or `make setup` in a clone"
