"""Parameters of operators: reading from and writing to a schema."""

from dataclasses import dataclass
from typing import Final, Protocol, get_args

from pydantic import JsonValue

from memory.schema.model import ParameterValue
from memory.schema.node import Node
from memory.schema.time_window import MAX_LENGTH, TimeUnit, TimeWindow

UNITS: Final[tuple[TimeUnit, ...]] = get_args(TimeUnit)


class Parameter(Protocol):
    """A field of an operator's expression in addition to ``Op``, ``EventType`` and ``EventPropertyName``."""

    @property
    def name(self) -> str:
        """The field's name."""
        ...

    def read(self, node: Node) -> ParameterValue:
        """Its value; the default if the field is missing.

        Args:
            node: The field.

        Raises:
            memory.errors.SchemaError: If the value is invalid.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerParameter:
    """A whole number within bounds."""

    name: str
    default: int
    least: int
    most: int

    def read(self, node: Node) -> int:
        """See :meth:`Parameter.read`."""
        return self.default if node.value is None else node.whole_number(self.least, self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceParameter:
    """One of several words."""

    name: str
    default: str
    choices: tuple[str, ...]

    def read(self, node: Node) -> str:
        """See :meth:`Parameter.read`."""
        return self.default if node.value is None else node.choice(self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagParameter:
    """True or false. Default: false."""

    name: str

    def read(self, node: Node) -> bool:
        """See :meth:`Parameter.read`."""
        return node.flag()


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanParameter:
    """A span of time: ``{"Length": 7, "Unit": "day"}``."""

    name: str
    default: TimeWindow

    def read(self, node: Node) -> TimeWindow:
        """See :meth:`Parameter.read`."""
        return self.default if node.value is None else read_window(node)


def read_window(node: Node) -> TimeWindow:
    """A span of time in whole units.

    Args:
        node: ``{"Length": 7, "Unit": "day"}``.

    Raises:
        memory.errors.SchemaError: If it is something else.
    """
    node.check_fields("Length", "Unit")
    return TimeWindow(node.at("Length").whole_number(1, MAX_LENGTH), node.at("Unit").choice(UNITS))


def written(value: ParameterValue) -> JsonValue:
    """A parameter's value in a schema's JSON form."""
    return {"Length": value.length, "Unit": value.unit} if isinstance(value, TimeWindow) else value
