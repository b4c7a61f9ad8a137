"""Errors of the control log: tenants, schemas, generations."""

from memory.errors import VarveError


class ControlError(VarveError):
    """Base of this package's errors."""


class TenantsFileError(ControlError):
    """A tenants' file is invalid; names the place and the reason."""


class ChangeRefusedError(ControlError):
    """A change to the control log was rejected and nothing was written; contains the reason and the remedy."""


class ChangedMeanwhileError(ChangeRefusedError):
    """A change was made for an earlier revision of a document; names both revisions."""


class ErasureUnderWayError(ChangeRefusedError):
    """An action has to wait for an unfinished erasure; names the erasure and how to finish it."""


class LegalHoldError(ChangeRefusedError):
    """A legal hold forbids an erasure; says since when, why, and how to release the hold."""


class ControlLogBehindError(ControlError):
    """The process's copy of the control log is too old: it rejects requests and defers records until it has caught up."""


class UnreadableTenantError(ControlLogBehindError):
    """A tenant's document was written by a newer version of Varve, or is damaged. Other tenants' documents are current.

    Args:
        message: The tenant, and what to do.
        for_s: For how many seconds this process has been unable to read it.
    """

    def __init__(self, message: str, *, for_s: float) -> None:
        super().__init__(message)
        self.for_s = for_s


class UnknownTenantError(ControlError):
    """A record's tenant is not in the control log."""

    reason = "unknown_tenant"


class UnknownReextractionError(ControlError):
    """A command names a re-extraction that is not in the control log."""


class GenerationIncompleteError(ControlError):
    """A generation lacks windows that the live one has; contains their number and the remedy."""
