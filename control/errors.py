"""Errors of the control log: tenants, schemas, generations."""

from memory.errors import VarveError


class ControlError(VarveError):
    """Base of this package's errors."""


class TenantsFileError(ControlError):
    """A tenants' file is invalid; names the place and the reason."""


class ChangeRefusedError(ControlError):
    """A change to the control log was rejected and nothing was written; contains the reason and the remedy."""


class ErasureUnderWayError(ChangeRefusedError):
    """An action has to wait for an unfinished erasure; names the erasure and how to finish it."""


class LegalHoldError(ChangeRefusedError):
    """A legal hold forbids an erasure; says since when, why, and how to release the hold."""


class ControlLogBehindError(ControlError):
    """The process's copy of the control log is too old: it rejects requests and defers records until it has caught up."""


class UnknownTenantError(ControlError):
    """A record's tenant is not in the control log."""

    reason = "unknown_tenant"


class UnknownReextractionError(ControlError):
    """A command names a re-extraction that is not in the control log."""


class GenerationIncompleteError(ControlError):
    """A generation lacks windows that the live one has; contains their number and the remedy."""
