"""What goes wrong in the infrastructure that processes run on: Kafka, Redis, the control log, the dead letters."""

from memory.errors import VarveError


class InfrastructureError(VarveError):
    """Base of this package's errors: catch it where any of the infrastructure may be away or wrongly set up."""


class TenantsFileError(InfrastructureError):
    """A file of tenants cannot be taken; says where it is wrong and why."""


class ChangeRefusedError(InfrastructureError):
    """A change to the control log is refused, and nothing was written; says why, and what to do."""


class ErasureUnderWayError(ChangeRefusedError):
    """What was asked for has to wait until an erasure has its receipt; says which, and how to finish it."""


class ControlLogBehindError(InfrastructureError):
    """This process does not know what the control log says now: it admits nobody, and lets records wait, until it has caught up."""


class UnknownTenantError(InfrastructureError):
    """A record names a tenant that the control log does not."""

    reason = "unknown_tenant"


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


class GenerationIncompleteError(InfrastructureError):
    """A generation lacks windows that the live one has; says how many, and what makes them."""


class DeadLetterMissingError(InfrastructureError):
    """No dead letter lies at that position, or it was purged."""
