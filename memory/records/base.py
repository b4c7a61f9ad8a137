"""Base classes of records on the wire: a schema version, tolerance for newer minor versions, and JSON by orjson."""

import re
from typing import Any, ClassVar, Final, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.errors import MalformedRecordError, UnsupportedVersionError
from memory.name_hints import meant_name, with_meant_name
from memory.validation_problems import MAX_PROBLEMS, problems_of

__all__ = ["Record", "Value", "path_of_unwritable"]

_VERSION: Final = re.compile(r"([0-9]{1,9})\.[0-9]{1,9}")


class Value(BaseModel):
    """A part of a record. Unknown fields of a newer minor version are kept and written out again."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="null")


class Record(Value):
    """A record with its own schema version, ``major.minor``."""

    MAJOR: ClassVar[int] = 1

    schema_version: str = Field(default="1.0", pattern=rf"^{_VERSION.pattern}$")

    @classmethod
    def from_json(cls, raw: bytes) -> Self:
        """Reads the record from its bytes on the wire.

        Raises:
            UnsupportedVersionError: If its major version is newer than this code's.
            MalformedRecordError: If the bytes are not UTF-8 JSON of this record; says which field and why.
        """
        try:
            fields = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise MalformedRecordError(f"{cls.__name__}: not JSON in UTF-8: {error}") from error
        return cls.from_fields(fields)

    @classmethod
    def from_fields(cls, fields: Any) -> Self:
        """The same from parsed JSON."""
        if isinstance(fields, dict):
            cls._refuse_newer_major(fields.get("schema_version"))
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise MalformedRecordError(f"{cls.__name__}: {problems_of(error)}{cls._misnamed(error, fields)}") from error

    def to_json(self) -> bytes:
        """The bytes on the wire. Equal records give equal bytes.

        Raises:
            MalformedRecordError: If JSON cannot carry the value of a field: an integer beyond 64 bits, or text that is not valid Unicode;
                names the field.
        """
        fields = self.model_dump(mode="json", exclude_none=True)
        try:
            return orjson.dumps(fields)
        except TypeError as error:
            raise MalformedRecordError(
                f"{type(self).__name__}: {path_of_unwritable(fields)}: {error}; JSON carries integers of 64 bits and valid Unicode, "
                "write a larger number as text"
            ) from error

    @classmethod
    def _misnamed(cls, error: ValidationError, fields: Any) -> str:
        """Unknown names that probably stand for missing fields: a record keeps unknown fields, so nothing else points at them."""
        missing = [str(each["loc"][0]) for each in error.errors(include_url=False) if each["type"] == "missing" and len(each["loc"]) == 1]
        unknown = [str(each) for each in fields if each not in cls.model_fields][:MAX_PROBLEMS] if isinstance(fields, dict) else []
        return "".join(f"; {with_meant_name(each, missing)}: unknown name" for each in unknown if meant_name(each, missing) is not None)

    @classmethod
    def _refuse_newer_major(cls, version: object) -> None:
        written = _VERSION.fullmatch(version) if isinstance(version, str) else None
        if written is not None and int(written[1]) > cls.MAJOR:
            raise UnsupportedVersionError(
                f"{cls.__name__}: schema version {version} is newer than the {cls.MAJOR}.x that this Varve reads; "
                "update Varve, then redrive the dead letter"
            )


def path_of_unwritable(value: Any, path: tuple[str, ...] = ()) -> str:
    """The path of the first value that orjson cannot write: ``metadata.order.number``.

    Args:
        value: Plain values.
        path: The path of ``value``.
    """
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        try:
            orjson.dumps(part)
        except TypeError:
            return path_of_unwritable(part, (*path, str(name)))
    return ".".join(path)
