"""What goes wrong in the ground that processes run on."""

from memory.errors import VarveError


class InfrastructureError(VarveError):
    """Base of this package's errors."""


class TenantsFileError(InfrastructureError):
    """The tenants' file cannot be read; says which line of it and why."""


class UnknownTenantError(InfrastructureError):
    """A record names a tenant that the tenants' file does not."""

    reason = "unknown_tenant"


class KafkaUnavailableError(InfrastructureError):
    """Kafka cannot take or give records now; it may pass by itself."""


class TopicMissingError(InfrastructureError):
    """A topic does not exist, or has another partition count than its neighbours; says which command creates it."""


class RedisUnavailableError(InfrastructureError):
    """Redis does not answer; what it holds can be done without for a while."""


class GroupInUseError(InfrastructureError):
    """A consumer group cannot be set while workers run in it."""


class DeadLetterMissingError(InfrastructureError):
    """No dead letter lies at that place, or it was purged."""
