"""Base classes of records on the wire: a schema version, tolerance for newer minor versions, and JSON by orjson."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.errors import MalformedRecordError, UnsupportedVersionError
from memory.name_hints import meant_name, meant_value, with_meant_name

__all__ = ["Record", "Value", "path_of_unwritable", "plain_problem", "problems_of"]

_MAX_PROBLEMS: Final = 20
"""Limit of the problems that one message lists."""
_PLAIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("list_type", "tuple_type"), 'Input should be a list, such as ["one", "two"]'),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing", "datetime_object_invalid"),
        "it is not a time: write ISO 8601 with a UTC offset, such as 2024-05-06T18:00:00Z",
    ),
    "dict_type": "Input should be an object: names with values",
    "extra_forbidden": "unknown name: correct its spelling, or leave it out",
    "model_type": "Input should be an object: names with values",
    "timezone_aware": "it has no UTC offset, so its moment is unknown: append Z if it is UTC, or an offset such as +02:00; "
    "a day needs a time, too: 2024-05-06T00:00:00Z",
}
"""Sentences for types of pydantic's problems whose own sentence does not say what to do."""
_PREFIX: Final = "Value error, "
"""Text that pydantic writes before the sentence of a validator."""
_QUOTED: Final = re.compile(r"'([^']*)'")
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
        unknown = [str(each) for each in fields if each not in cls.model_fields][:_MAX_PROBLEMS] if isinstance(fields, dict) else []
        return "".join(f"; {with_meant_name(each, missing)}: unknown name" for each in unknown if meant_name(each, missing) is not None)

    @classmethod
    def _refuse_newer_major(cls, version: object) -> None:
        written = _VERSION.fullmatch(version) if isinstance(version, str) else None
        if written is not None and int(written[1]) > cls.MAJOR:
            raise UnsupportedVersionError(
                f"{cls.__name__}: schema version {version} is newer than the {cls.MAJOR}.x that this Varve reads; "
                "update Varve, then redrive the dead letter"
            )


def problems_of(error: ValidationError) -> str:
    """A validation error as one line: ``messages.0.role: Input should be ...; text: Field required``. Lists the first problems."""
    problems = error.errors(include_url=False)
    lines = [f"{'.'.join(map(str, problem['loc'])) or 'record'}: {plain_problem(problem)}" for problem in problems[:_MAX_PROBLEMS]]
    return "; ".join((*lines, f"and {len(problems) - len(lines)} more problems") if len(problems) > len(lines) else lines)


def plain_problem(problem: Mapping[str, Any]) -> str:
    """The problem of a value and the remedy, without its path and without pydantic's own terms.

    Args:
        problem: One of the errors of a ``ValidationError``.
    """
    plain = _PLAIN.get(problem["type"]) or str(problem["msg"]).removeprefix(_PREFIX)
    given = problem.get("input")
    if problem["type"] == "literal_error" and isinstance(given, str):
        # The value itself is not repeated: it may be personal data, and errors are logged.
        meant = meant_value(given, _QUOTED.findall(str(problem["ctx"]["expected"])))
        return plain if meant is None else f"{plain}; did you mean {meant!r}?"
    return plain


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
