"""Errors of webhooks."""

from memory.errors import VarveError


class TargetRefusedError(VarveError, OSError):
    """A webhook's URL or one of its addresses is not allowed. An ``OSError``, so that HTTP clients treat it as a failure to connect."""


class SecretMissingError(VarveError):
    """The installation has no master secret, from which signing secrets are derived."""
