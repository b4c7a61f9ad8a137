"""Errors of growth."""

from streams.errors import StreamError


class GrowthRefusedError(StreamError):
    """The topics cannot grow now; the message has the reason and the remedy."""


class GrowthFaultyError(StreamError):
    """The copied records or rows differ from the present ones. Nothing was switched; run the command again."""
