"""The root of Varve's exception tree, and the errors of the ground floor.

Every package has one ``errors.py`` whose base class derives from :class:`VarveError`, so ``except VarveError`` at an edge catches
all that Varve raises on purpose, and nothing else.
"""


class VarveError(Exception):
    """Base of every error that Varve raises on purpose."""


class RecordError(VarveError):
    """A record cannot be read or built as asked. ``reason`` is a stable word for counters and dead letters."""

    reason = "bad_record"


class MalformedRecordError(RecordError):
    """The bytes are not the JSON of the record that the topic carries."""

    reason = "malformed"


class UnsupportedVersionError(RecordError):
    """The record has a major schema version newer than this code knows."""

    reason = "unsupported_version"


class RecordTooLargeError(RecordError):
    """The record is larger than the limit that keeps Kafka from refusing what is made of it."""

    reason = "too_large"


class KeyFormatError(RecordError):
    """The bytes of a key are not what :mod:`memory.keys` builds."""

    reason = "bad_key"


class PositionFormatError(RecordError):
    """The text is not a position in a log, ``topic/partition/offset``."""

    reason = "bad_position"


class SchemaError(VarveError):
    """A memory schema is wrong; ``path`` says where, in the terms of the file (``EventTypes[0].Properties[2]``)."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem
