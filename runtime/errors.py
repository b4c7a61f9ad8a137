"""What goes wrong in the infrastructure that processes run on: Kafka, Redis, the control log, the dead letters."""

from memory.errors import VarveError


class InfrastructureError(VarveError):
    """Base of this package's errors: catch it where any of the infrastructure may be away or wrongly set up."""


class KafkaUnavailableError(InfrastructureError):
    """Kafka cannot take or give records now; it may pass by itself."""


class ProducerFencedError(InfrastructureError):
    """Another producer has taken over the transactional id: whoever held it must not write any more."""


class TopicMissingError(InfrastructureError):
    """A topic does not exist, or has another partition count than its neighbours; says which command creates it."""


class TopicConfigError(InfrastructureError):
    """A topic keeps less than the flow rests on; says what it keeps, and which command mends it."""


class RedisUnavailableError(InfrastructureError):
    """Redis does not answer, or refuses a command; what it holds can be done without for a while."""


class GroupInUseError(InfrastructureError):
    """A consumer group cannot be set while workers run in it."""


class DeadLetterMissingError(InfrastructureError):
    """No dead letter lies at that position, or it was purged."""
