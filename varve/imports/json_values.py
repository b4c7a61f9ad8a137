"""Values of a JSON text, one at a time. Texts of strangers crash neither the parser nor the memory of the process."""

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import IO, Any, Final, TypeVar

import ijson

_T = TypeVar("_T")

Opened = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens the text at its beginning."""

LARGEST_ITEM: Final = 64 << 20
"""Bytes of one value. A small archive can hold one that no memory holds."""
_DEEPEST: Final = 200
_STEPS: Final = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_MOST_DIGITS: Final = 4000
"""Digits in a row. CPython converts a few more (``sys.int_info``); ijson does not notice its refusal, and the process crashes."""
_MANY_DIGITS: Final = re.compile(rb"(?<![0-9])[0-9]{%d}" % _MOST_DIGITS)


class JsonValueError(Exception):
    """The next value cannot be read; says why, in one line."""


class _ManyDigitsError(Exception):
    """A text has many digits in a row, in a number or in a string."""


class _BoundedReader:
    """Reads a text, and stops before a value that takes too much memory, or that may be a number which crashes the parser.

    Args:
        stream: The text.
        is_exact: Whether the parser makes exact numbers, as long as they are.
    """

    def __init__(self, stream: IO[bytes], *, is_exact: bool) -> None:
        self.is_exact = is_exact
        self._stream = stream
        self._left: float = LARGEST_ITEM
        self._tail = b""

    def read(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            JsonValueError: If too many have been read since the last value.
            _ManyDigitsError: If they have too many digits in a row for exact numbers.
        """
        block = self._stream.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise JsonValueError(f"larger than {LARGEST_ITEM} bytes; is the file an export?")
        if self.is_exact:
            if _MANY_DIGITS.search(self._tail + block):
                raise _ManyDigitsError
            self._tail = block[-_MOST_DIGITS:]
        return block

    def item_ended(self) -> None:
        """Begins the next value."""
        self._left = LARGEST_ITEM

    def read_on(self) -> None:
        """Lifts the limit: no value is built."""
        self._left = math.inf


def values_of(opened: Opened, arrays: Collection[str]) -> Iterator[Any]:
    """The values of a text, in order.

    Args:
        opened: Opens the text.
        arrays: Fields of a JSON object that is a page of a list: the items of the first such array are the values.

    Raises:
        JsonValueError: If a value cannot be read.
    """

    def parse(is_exact: bool) -> Iterator[Any]:
        with opened() as stream:
            prefix = _prefix_of(_BoundedReader(stream, is_exact=is_exact), arrays)
        with opened() as stream:
            bounded = _BoundedReader(stream, is_exact=is_exact)
            for value in ijson.items(ijson.parse(_events(bounded, multiple_values=not prefix)), prefix):
                bounded.item_ended()
                yield _plain(value)

    return _parsed(parse)


def is_page(opened: Opened, arrays: Collection[str]) -> bool:
    """Whether a text is a JSON object with one of some arrays.

    Raises:
        JsonValueError: If it cannot be read.
    """

    def parse(is_exact: bool) -> Iterator[bool]:
        with opened() as stream:
            yield "." in _prefix_of(_BoundedReader(stream, is_exact=is_exact), arrays)

    return next(_parsed(parse))


def fields_of(opened: Opened, names: Collection[str]) -> Mapping[str, Any]:
    """Some fields of the JSON object that a text has.

    Raises:
        JsonValueError: If it cannot be read.
    """

    def parse(is_exact: bool) -> Iterator[Mapping[str, Any]]:
        with opened() as stream:
            bounded = _BoundedReader(stream, is_exact=is_exact)
            bounded.read_on()
            yield {name: value for name, _, value in ijson.parse(_events(bounded, multiple_values=False)) if name in names}

    return next(_parsed(parse))


def _parsed(parse: Callable[[bool], Iterator[_T]]) -> Iterator[_T]:
    """The results of a parser; of a text with many digits in a row without exact numbers, so that a number as long is refused."""
    read = 0
    for is_exact in (True, False):
        try:
            for result in islice(parse(is_exact), read, None):
                read += 1
                yield result
        except _ManyDigitsError:
            continue
        except InvalidOperation as error:
            raise JsonValueError("a number is too large or too small") from error
        except ijson.JSONError as error:
            raise JsonValueError(_reason(error)) from error
        except RecursionError as error:
            raise JsonValueError("nested too deeply") from error
        return


def _reason(error: ijson.JSONError) -> str:
    """Why a text is no JSON, in one line. The parser quotes what it cannot decode as bytes."""
    said = str(error)
    if "overflow" in said:
        return "a number is too large"
    if "invalid bytes in UTF8" in said:
        return "not in UTF-8: convert the file, for example with `iconv -f WINDOWS-1252 -t UTF-8`"
    return f"not JSON: {said.splitlines()[0] if said else 'incomplete'}"


def _plain(value: Any) -> Any:
    """The value with floats for decimals. A number that no float can represent stays a text."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _events(stream: _BoundedReader, *, multiple_values: bool) -> Iterator[tuple[str, Any]]:
    """The events of a JSON text. Deep nesting is refused here: ijson's prefixes take memory by the square of the depth."""
    depth = 0
    for event, value in ijson.basic_parse(stream, multiple_values=multiple_values, use_float=not stream.is_exact):
        depth += _STEPS.get(event, 0)
        if depth > _DEEPEST:
            raise RecursionError
        yield event, value


def _prefix_of(stream: _BoundedReader, arrays: Collection[str]) -> str:
    """The place of the values, as ijson writes it: in an array, in an array of the first object, or one after the other (empty)."""
    for prefix, event, _ in ijson.parse(_events(stream, multiple_values=True)):
        if not prefix and event == "start_array":
            return "item"
        if event == "start_array" and prefix in arrays:
            return f"{prefix}.item"
        if not prefix and event != "start_map" and event != "map_key":
            break
    return ""
