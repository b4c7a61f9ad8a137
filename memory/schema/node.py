"""A node of a schema file's JSON: reads values, and reports errors with path, found value and expected values."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final, Self, TypeVar
from unicodedata import category

from memory.errors import SchemaError
from memory.texts.text import quoted

_MAX_NAME: Final = 256

Word = TypeVar("Word", bound=str)


class Node:
    """One JSON value and the path that leads to it.

    Args:
        value: The parsed value.
        path: ``EventTypes[0].Properties[2]``; empty for the root.
    """

    __slots__ = ("path", "value")

    def __init__(self, value: object, path: str = "") -> None:
        self.value = value
        self.path = path

    def fault(self, problem: str) -> SchemaError:
        """An error at this node."""
        return SchemaError(self.path, problem)

    def has(self, name: str) -> bool:
        """Whether this is an object in which the field exists and is not null."""
        return isinstance(self.value, dict) and self.value.get(name) is not None

    def at(self, name: str) -> Self:
        """The node of a field; its value is None if the field is missing."""
        value = self.value.get(name) if isinstance(self.value, dict) else None
        return type(self)(value, f"{self.path}.{name}" if self.path else name)

    def items(self) -> Iterator[Self]:
        """The nodes of a list's items.

        Raises:
            SchemaError: If this is not a list.
        """
        if not isinstance(self.value, list):
            raise self.fault("missing; a list is required" if self.value is None else f"expected a list, found {quoted(self.value)}")
        for index, value in enumerate(self.value):
            yield type(self)(value, f"{self.path}[{index}]")

    def check_fields(self, *known: str) -> None:
        """Rejects everything except an object with only known fields.

        Raises:
            SchemaError: Names the unknown field and the most similar known one.
        """
        if not isinstance(self.value, dict):
            raise self.fault(f"expected an object with {', '.join(known)}, found {quoted(self.value)}")
        for name in self.value:
            if name not in known:
                raise self.at(str(name)).fault(f"unknown field; {suggestion(str(name), known)}")

    def version(self) -> str:
        """A version: a name, or a whole number, which is its text.

        Raises:
            SchemaError: If it is something else.
        """
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        if not isinstance(self.value, str):
            raise self.fault(f'expected text such as "1.2", found {quoted(self.value)}')
        return self.name()

    def name(self) -> str:
        """A name: one line of text of 1 to 256 characters, without white space around it.

        Raises:
            SchemaError: If it is missing or something else.
        """
        if self.value is None:
            raise self.fault("missing; a name (text) is required")
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.fault(f"expected a name (text), found {quoted(self.value)}")
        if len(self.value) > _MAX_NAME:
            raise self.fault(f"a name has at most {_MAX_NAME} characters, this one has {len(self.value)}")
        name = self.value.strip()
        if any(category(each) == "Cc" for each in name):
            raise self.fault(f"a name has no line breaks, tabs or other control characters, found {quoted(name)}")
        return name

    def text(self) -> str:
        """Any text; empty if the field is missing.

        Raises:
            SchemaError: If it is something else.
        """
        if self.value is None:
            return ""
        if not isinstance(self.value, str):
            raise self.fault(f"expected text, found {quoted(self.value)}")
        return self.value

    def flag(self) -> bool:
        """True or false; false if the field is missing.

        Raises:
            SchemaError: If it is something else.
        """
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.fault(f"expected true or false, found {quoted(self.value)}")
        return self.value

    def whole_number(self, least: int, most: int) -> int:
        """A whole number between inclusive limits.

        Raises:
            SchemaError: If it is missing or something else.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not least <= self.value <= most:
            raise self.fault(f"expected a whole number from {least} to {most}, found {quoted(self.value)}")
        return self.value

    def choice(self, options: Sequence[Word]) -> Word:
        """One of several words.

        Raises:
            SchemaError: If it is missing or something else.
        """
        if not isinstance(self.value, str) or self.value not in options:
            found = "missing" if self.value is None else f"found {quoted(self.value)}"
            raise self.fault(f"{found}; {suggestion(str(self.value), options)}")
        return options[options.index(self.value)]


def suggestion(wrong: str, options: Sequence[str]) -> str:
    """A hint for an error message: the most similar option, and all options."""
    near = get_close_matches(wrong, options, n=1) or [each for each in options if each.lower() == wrong.lower()]
    known = f"expected one of: {', '.join(options)}" if options else "there is none"
    return f"did you mean {near[0]!r}? ({known})" if near else known
