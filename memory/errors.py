"""The root of Varve's exception tree, and the errors of this package.

The errors of a package are in its ``errors.py``; their base class derives from :class:`VarveError`. So ``except VarveError`` at an edge
catches all errors that Varve raises on purpose, and nothing else.
"""


class VarveError(Exception):
    """Base of every error that Varve raises on purpose."""

    exit_code = 1
    """Exit code of a process that the error ends."""


class RecordError(VarveError):
    """A record cannot be read or built. ``reason`` is a stable word for counters and dead letters."""

    reason = "bad_record"


class MalformedRecordError(RecordError):
    """The bytes are not valid JSON of the topic's record."""

    reason = "malformed"


class UnsupportedVersionError(RecordError):
    """The record has a newer major schema version than this code supports."""

    reason = "unsupported_version"


class RecordTooLargeError(RecordError):
    """The record exceeds the limit that keeps derived records small enough for Kafka."""

    reason = "too_large"


class KeyFormatError(RecordError):
    """The bytes are not a key of :mod:`memory.keys`."""

    reason = "bad_key"


class PositionFormatError(RecordError):
    """The text is not a position in a log, ``topic/partition/offset``."""

    reason = "bad_position"


class SchemaError(VarveError):
    """A memory schema is invalid; ``path`` is the place in the file (``EventTypes[0].Properties[2]``)."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem
