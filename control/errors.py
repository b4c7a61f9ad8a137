"""Errors of the control log: tenants, schemas, generations."""

from memory.errors import VarveError


class ControlError(VarveError):
    """Base of this package's errors."""


class TenantsFileError(ControlError):
    """A file of tenants cannot be taken; says where it is wrong and why."""


class ChangeRefusedError(ControlError):
    """A change to the control log is refused, and nothing was written; says why, and what to do."""


class ErasureUnderWayError(ChangeRefusedError):
    """What was asked for has to wait until an erasure has its receipt; says which, and how to finish it."""


class ControlLogBehindError(ControlError):
    """This process does not know what the control log says now: it admits nobody, and lets records wait, until it has caught up."""


class UnknownTenantError(ControlError):
    """A record names a tenant that the control log does not."""

    reason = "unknown_tenant"


class GenerationIncompleteError(ControlError):
    """A generation lacks windows that the live one has; says how many, and what makes them."""
